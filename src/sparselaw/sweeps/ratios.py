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
from sparselaw.records import html_table, to_dict
from sparselaw.trials.task import Record, Task

if TYPE_CHECKING:
    import pandas as pd

FEWEST_SIZES = 3  # for a slope
MOST_NOT_OK = 0.2  # share of the runs of a cell
ONE_SEED = "one seed"
NO_UNSEEN = "nothing is unseen"
NOT_FINITE = "some runs have no finite loss"


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
        names = ("N", "D", "mean", "unseen", "ratio", "sign_ratio", "train", "seeds", "statuses")
        return to_dict(self, *names, mean=NOT_FINITE, unseen=NO_UNSEEN, ratio=self.ratio_reason)


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
        reasons = {"ratio_slope": self.ratio_slope_reason, "width_slope": self.width_slope_reason}
        return to_dict(self, "cells", *reasons, **reasons)

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
    in_data: list[float] = []
    for N in dict.fromkeys(N for N, _ in curves):
        kept = [cell for cell in cells if cell.N == N and cell.limited_by_data and cell.ratio is not None]
        values = [[_ratio(record) for record in curves[N, cell.D]] for cell in kept]
        in_data += _slopes([cell.D for cell in kept], values)
    in_width: list[float] = []
    for D in dict.fromkeys(D for _, D in curves):
        kept = [cell for cell in cells if cell.D == D and "not-converged" not in cell.statuses]
        values = [[record.loss for record in curves[cell.N, D]] for cell in kept]
        in_width += _slopes([cell.N for cell in kept], values)
    ratio_slope, ratio_reason = _mean_slope(in_data, cells, "D")
    width_slope, width_reason = _mean_slope(in_width, cells, "N")
    return RatioStudy(
        cells=cells,
        ratio_slope=ratio_slope,
        ratio_slope_reason=ratio_reason,
        width_slope=width_slope,
        width_slope_reason=width_reason,
    )


def _slopes(sizes: Sequence[int], values: Sequence[Sequence[float]]) -> list[float]:
    """The logarithmic slope for each seed, where there are enough sizes."""
    return list(log_slope(sizes, np.array(values).T)[0]) if len(sizes) >= FEWEST_SIZES else []


def _mean_slope(slopes: list[float], cells: Sequence[RatioCell], size: str) -> tuple[Interval | None, str]:
    """The mean over curves, or why there is none."""
    if len(slopes) > 1 and np.isfinite(slopes).all():
        return student_interval([float(slope) for slope in slopes]), ""
    if slopes:
        return None, ONE_SEED if len(slopes) == 1 else NOT_FINITE
    if len({getattr(cell, size) for cell in cells}) < FEWEST_SIZES:
        return None, f"fewer than {FEWEST_SIZES} values of {size}"
    spoilt: Counter[str] = Counter()
    for cell in cells:
        spoilt.update({name: count for name, count in cell.statuses.items() if name != "ok"})
    found = ", ".join(f"{count} runs {name}" for name, count in spoilt.most_common())
    return None, f"too few cells are limited by the data ({found or 'no losses to compare'})"


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
