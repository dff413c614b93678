"""Losses over the unseen variance of the same data: a ratio that hardly varies with the data drawn.

No learner can know the weights of coordinates it has not seen, so that its mean loss is at least the unseen
variance. The ratio of the two is taken trial by trial, on the same data. Its slope in D says whether the loss
falls as fast as the data allow: 0 where it does. The slope of the loss itself also varies with the training
sets that were drawn. Each curve (a width and a seed) has a slope of its own; they are independent, so that
their mean has Student's interval.

A cell counts only if the data limit it: one that is limited by the optimiser or by the width is left out of
the slope, and where too few are left there is none, but a reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import log_slope
from sparselaw.interval import Interval, student_interval
from sparselaw.records import html_table, put
from sparselaw.trials.task import Record, Task

if TYPE_CHECKING:
    import pandas as pd

FEWEST_SIZES = 3  # for a slope
MOST_NOT_OK = 0.2  # share of the runs of a cell
ONE_SEED = "one seed"
NO_UNSEEN = "nothing is unseen"

Curves = Mapping[tuple[int, int], Sequence[Record]]  # the records of each cell (N, D), by seed


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioCell:
    """The runs of one (N, D). Means over the seeds; ratios are geometric means."""

    N: int
    D: int
    mean: float  # of the loss
    unseen: float  # of the unseen variance
    ratio: Interval | None
    ratio_reason: str
    sign_ratio: Interval | None  # over the variance of coordinates not seen with this sign
    train: float | None  # training loss
    seeds: int
    statuses: Mapping[str, int]

    @property
    def limited_by_data(self) -> bool:
        return sum(self.statuses.values()) - self.statuses.get("ok", 0) <= MOST_NOT_OK * self.seeds

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        result: dict[str, Any] = {"N": self.N, "D": self.D}
        put(result, "mean", self.mean, "some runs have no finite loss")
        put(result, "unseen", self.unseen, NO_UNSEEN)
        put(result, "ratio", self.ratio, self.ratio_reason)
        if self.sign_ratio is not None:
            result["sign_ratio"] = self.sign_ratio.as_dict()
        if self.train is not None:
            result["train"] = self.train
        return result | {"seeds": self.seeds, "statuses": dict(self.statuses)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioStudy:
    """All cells, and the slope of loss/unseen in D; ``width_slope`` is that of the loss itself in N."""

    cells: Sequence[RatioCell]
    ratio_slope: Interval | None
    ratio_slope_reason: str
    width_slope: Interval | None
    width_slope_reason: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        result: dict[str, Any] = {"cells": [cell.as_dict() for cell in self.cells]}
        put(result, "ratio_slope", self.ratio_slope, self.ratio_slope_reason)
        put(result, "width_slope", self.width_slope, self.width_slope_reason)
        return result

    def to_frame(self) -> pd.DataFrame:
        """One row a cell."""
        import pandas as pd

        rows = []
        for cell in self.cells:
            row = {key: value for key, value in cell.as_dict().items() if not isinstance(value, dict)}
            if cell.ratio is not None:
                row |= {"ratio_low": cell.ratio.low, "ratio": cell.ratio.best, "ratio_high": cell.ratio.high}
            rows.append(row)
        return pd.DataFrame(rows)

    def table(self) -> list[list[str]]:
        """COLUMNS in words, row by row."""
        return [
            [
                str(cell.N),
                str(cell.D),
                f"{cell.mean:.4g}",
                f"{cell.unseen:.4g}",
                "-" if cell.ratio is None else str(cell.ratio),
                "-" if cell.sign_ratio is None else str(cell.sign_ratio),
                "-" if cell.train is None else f"{cell.train:.2g}",
                " ".join(f"{count} {name}" for name, count in cell.statuses.items()),
            ]
            for cell in self.cells
        ]

    def says(self) -> list[str]:
        """The slopes in words."""
        slope, width = self.ratio_slope, self.width_slope
        said = [f"slope of loss/unseen in D: {slope if slope is not None else self.ratio_slope_reason}"]
        if width is not None:
            said.append(f"slope of the loss in N: {width}")
        return said

    def _repr_html_(self) -> str:
        return html_table("Loss over unseen variance", COLUMNS, self.table(), self.says())


COLUMNS = ("N", "D", "mean", "unseen", "ratio", "sign ratio", "train", "status")


def ratios(results: Iterable[tuple[Task, Record]]) -> RatioStudy:
    """The cells of runs that differ in N, D and seed alone, and the slopes through them."""
    curves: dict[tuple[int, int], list[Record]] = {}
    for task, record in results:
        curves.setdefault((task.N, task.D), []).append(record)
    cells = [_cell(N, D, records) for (N, D), records in curves.items()]
    ratio_slope, ratio_reason = slope_in_data(cells, curves)
    width_slope, width_reason = slope_in_width(cells, curves)
    return RatioStudy(
        cells=cells,
        ratio_slope=ratio_slope,
        ratio_slope_reason=ratio_reason,
        width_slope=width_slope,
        width_slope_reason=width_reason,
    )


def slope_in_data(cells: Sequence[RatioCell], curves: Curves) -> tuple[Interval | None, str]:
    """The mean slope of log(loss/unseen) in log D over widths and seeds, or why there is none."""
    slopes: list[float] = []
    for N in dict.fromkeys(cell.N for cell in cells):
        kept = [cell for cell in cells if cell.N == N and cell.limited_by_data and cell.ratio is not None]
        if len(kept) >= FEWEST_SIZES:
            values = np.array([[_ratio(record) for record in curves[N, cell.D]] for cell in kept])
            slopes += list(log_slope([cell.D for cell in kept], values.T)[0])
    return _mean_slope(slopes, cells, "D")


def slope_in_width(cells: Sequence[RatioCell], curves: Curves) -> tuple[Interval | None, str]:
    """The mean slope of log loss in log N over data sizes and seeds, or why there is none."""
    slopes: list[float] = []
    for D in dict.fromkeys(cell.D for cell in cells):
        kept = [cell for cell in cells if cell.D == D and "not-converged" not in cell.statuses]
        if len(kept) >= FEWEST_SIZES:
            values = np.array([[record.loss for record in curves[cell.N, D]] for cell in kept])
            slopes += list(log_slope([cell.N for cell in kept], values.T)[0])
    return _mean_slope(slopes, cells, "N")


def _mean_slope(slopes: list[float], cells: Sequence[RatioCell], size: str) -> tuple[Interval | None, str]:
    if not slopes:
        return None, _why_none(cells, size)
    if len(slopes) == 1:
        return None, ONE_SEED
    if not np.isfinite(slopes).all():
        return None, "some runs have no finite loss"
    return student_interval([float(slope) for slope in slopes]), ""


def _why_none(cells: Sequence[RatioCell], size: str) -> str:
    sizes = len({getattr(cell, size) for cell in cells})
    if sizes < FEWEST_SIZES:
        return f"fewer than {FEWEST_SIZES} values of {size}"
    spoilt: Counter[str] = Counter()
    for cell in cells:
        spoilt.update({name: count for name, count in cell.statuses.items() if name != "ok"})
    found = ", ".join(f"{count} runs {name}" for name, count in spoilt.most_common())
    return f"too few cells are limited by the data ({found or 'no losses to compare'})"


def _cell(N: int, D: int, records: Sequence[Record]) -> RatioCell:
    ratio, reason = _interval([_ratio(record) for record in records])
    signs = [r.loss / r.sign_unseen for r in records if r.sign_unseen]
    trained = [record.train for record in records if record.train is not None]
    return RatioCell(
        N=N,
        D=D,
        mean=fmean(record.loss for record in records),
        unseen=fmean(record.control or 0.0 for record in records),
        ratio=ratio,
        ratio_reason=reason,
        sign_ratio=_interval(signs)[0] if len(signs) == len(records) else None,
        train=fmean(trained) if trained else None,
        seeds=len(records),
        statuses=dict(Counter(record.status for record in records)),
    )


def _ratio(record: Record) -> float:
    return record.loss / record.control if record.control else np.nan


def _interval(values: Sequence[float]) -> tuple[Interval | None, str]:
    if not np.isfinite(values).all() or min(values) <= 0.0:
        return None, NO_UNSEEN
    if len(values) < 2:
        return None, ONE_SEED
    logs = student_interval([float(value) for value in np.log(values)])
    return Interval(*(float(np.exp(end)) for end in (logs.low, logs.best, logs.high))), ""
