"""Trials that differ in their seed alone, summarised: mean, standard error and median beside the theory.

Networks and trained features are compared with the unseen variance of the same data (``ratios``).
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray, log_slope
from sparselaw.errors import InputError
from sparselaw.features import FEATURES
from sparselaw.inputs import inputs_of
from sparselaw.interval import Interval, student_interval
from sparselaw.predicting import predict
from sparselaw.records import finite, html_table, to_dict
from sparselaw.solvers.base import solver_of
from sparselaw.sweeps.runs_table import MEASURED, Row, is_missing, row_of
from sparselaw.sweeps.store.base import one_line
from sparselaw.theory.surface import Point
from sparselaw.trials.task import Record, Task

if TYPE_CHECKING:
    import pandas as pd

MOST_WITH_THEORY = 1000  # each costs some milliseconds
MANY_CELLS = f"more than {MOST_WITH_THEORY} cells: ask sparselaw predict for those of interest"
TOO_LARGE = "larger than a number can hold"
NOT_ASKED = "not asked for"
NO_THEORY = "no closed form for these features and this solver"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The trials of one task over its seeds. A figure that is missing or infinite is None, with a reason."""

    N: int
    D: int
    mean: float | None
    stderr: float | None
    median: float | None
    seeds: int
    theory: float | None
    method: str = "plain"  # or "control": how the mean was taken
    mean_reason: str = ""
    stderr_reason: str = ""
    median_reason: str = ""
    theory_reason: str = ""
    caution: str = ""  # where the theory is not to be trusted
    note: str = ""  # what the trials themselves say

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        names = ("N", "D", "mean", "stderr", "method", "median", "seeds", "theory")
        reasons = {name: getattr(self, f"{name}_reason") for name in ("mean", "stderr", "median", "theory")}
        texts = {"caution": self.caution, "note": self.note}
        return to_dict(self, *names, **reasons) | {name: text for name, text in texts.items() if text}


def cells_of(results: Iterable[tuple[Task, Record]], *, theory: bool = True) -> list[Cell]:
    """One cell for each task without its seed, in the order in which they first occur."""
    groups: dict[str, list[Row]] = {}
    for task, record in results:
        identity = task.identity()
        key = one_line({name: value for name, value in identity.items() if name != "seed"})
        groups.setdefault(key, []).append(row_of(identity, record))
    return _cells(groups, "" if theory else NOT_ASKED)


def summarise(runs: pd.DataFrame) -> list[Cell]:
    """The cells of a table of runs, from ``simulate`` or read back from a file.

    Trials of one cell agree in every column but the seed and what was measured.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    settings = [name for name in runs if name != "seed" and name not in MEASURED]
    for row in runs.to_dict("records"):
        key = tuple(None if is_missing(row[name]) else row[name] for name in settings)
        groups.setdefault(key, []).append({str(name): value for name, value in row.items()})
    return _cells(groups)


def _cells(groups: Mapping[Any, Sequence[Row]], without: str = "") -> list[Cell]:
    """The summaries; ``without`` is the reason to leave out the theory, if there is one."""
    without = without or ("" if len(groups) <= MOST_WITH_THEORY else MANY_CELLS)
    return [_cell(rows, without) for rows in groups.values()]


def _cell(rows: Sequence[Row], without: str) -> Cell:
    loss, first = _column(rows, "loss"), rows[0]
    with np.errstate(over="ignore"):  # between two that are nearly the largest number
        median = math.nan if np.isnan(loss).any() else float(np.median(loss))
    if np.isfinite(loss).all():
        found = mean_loss(loss, _column(rows, "control"), _column(rows, "control_mean"))
        mean, stderr, method, reason = found.mean, found.stderr, found.method, TOO_LARGE
        note = "; ".join(sorted({str(row["reason"]) for row in rows if not is_missing(row.get("reason"))}))
    else:
        mean, stderr, method, note = math.inf, math.inf, "plain", ""
        spoilt = Counter(
            f"with a loss {TOO_LARGE}" if row["status"] == "ok" else row["status"]
            for row, value in zip(rows, loss, strict=True)
            if not math.isfinite(value)
        )
        counts = (f"{count} of {len(rows)} trials {status}" for status, count in spoilt.most_common())
        reason = ", ".join(counts)
    return Cell(
        N=int(first["N"]),
        D=int(first["D"]),
        seeds=loss.size,
        mean=finite(mean),
        mean_reason="" if math.isfinite(mean) else reason,
        stderr=None if loss.size == 1 else finite(stderr),
        stderr_reason="one seed" if loss.size == 1 else reason,
        median=finite(median),
        median_reason="" if math.isfinite(median) else reason,
        method=method,
        note=note,
        **({"theory": None, "theory_reason": without} if without else _theory(first)),
    )


def _column(rows: Sequence[Row], name: str) -> FloatArray:
    values = (row.get(name) for row in rows)
    return np.array([math.nan if value is None else value for value in values], dtype=float)


# It may take a tenth of a second and is often asked for again.
_predict_once = functools.lru_cache(maxsize=MOST_WITH_THEORY)(predict)


def _theory(first: Row) -> dict[str, Any]:
    """The closed-form loss of a cell with its caution, or why there is none."""
    ridge, features = first.get("ridge"), FEATURES.get(first["features"])  # None: of another program
    if features is None:
        return {"theory": None, "theory_reason": NO_THEORY}
    own = None
    try:
        inputs = inputs_of(first["inputs"], first)
    except InputError as error:  # a table that this process never had
        return {"theory": None, "theory_reason": error.condition}
    if not is_missing(first.get("outputs")):
        sizes = (int(first["N"]), int(first["D"]), int(first["outputs"]))
        own = features.own_loss(inputs, *sizes) if first["noise"] == 0.0 else None
    if own is not None:
        return {"theory": own}
    how: dict[str, Any] = {"ridge": ridge}
    if not features.has_surface:
        how["features"] = features
    if ridge is None or math.isnan(ridge):
        solver = solver_of(first["solver"], first)
        if solver is None or solver.descent is None:
            return {"theory": None, "theory_reason": NO_THEORY}
        how |= {"ridge": 0.0, "solver": solver}
    how |= {"N": int(first["N"]), "D": int(first["D"]), "noise": first["noise"]}
    try:
        point: Point = _predict_once(inputs, **how)
    except InputError:  # of linear features none is left without an answer here
        return {"theory": None, "theory_reason": NO_THEORY}
    if not math.isfinite(point.loss):
        return {"theory": None, "theory_reason": point.loss_reason or "infinite", "caution": point.caution}
    return {"theory": point.loss, "caution": point.caution}


# The mean loss of one cell over its seeds, with a control variate where there is one.
#
# The unseen variance of the data has a known mean, sum_j s_j (1-p_j)^D, and in over-parameterised cells
# nearly all the scatter of the loss is its scatter. There the mean is the regression estimate: the loss is
# regressed on the unseen variance over the seeds and read off at the known mean. The slope is estimated (a
# bias of the order of 1/seeds times the standard error); the standard error is the regression's own, with
# seeds - 2 degrees of freedom.

FEWEST_FOR_CONTROL = 8
LEAST_EXPLAINED = 0.5  # share of the variance that the control must explain to be worth its degree of freedom


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanLoss:
    """The mean of a cell with its standard error; ``adjusted`` are the losses it is the mean of."""

    mean: float
    stderr: float | None
    adjusted: FloatArray
    method: str  # plain or control


def mean_loss(loss: FloatArray, control: FloatArray, known: FloatArray) -> MeanLoss:
    """The mean loss of one cell; ``control`` (nan where there is none) has the known mean ``known``."""
    with np.errstate(over="ignore", invalid="ignore"):  # squares beyond 1e154: the error is then infinite
        plain = float(loss.mean())
        if math.isinf(plain):
            return MeanLoss(mean=plain, stderr=math.inf, adjusted=loss, method="plain")
        error = float(loss.std(ddof=1)) / math.sqrt(loss.size) if loss.size > 1 else None
        without = MeanLoss(mean=plain, stderr=error, adjusted=loss, method="plain")
        usable = loss.size >= FEWEST_FOR_CONTROL and np.isfinite([loss, control]).all() and error
        if not usable or math.isinf(usable) or np.ptp(known) != 0.0 or np.ptp(control) == 0.0:
            return without
        centred = control - control.mean()
        squares = float(centred @ centred)
        slope = float(centred @ loss) / squares
        left = loss - plain - slope * centred
        if float(left @ left) > (1.0 - LEAST_EXPLAINED) * float(np.sum((loss - plain) ** 2)):
            return without
        shift = float(known[0] - control.mean())
        variance = float(left @ left) / (loss.size - 2) * (1.0 / loss.size + shift**2 / squares)
        return MeanLoss(
            mean=plain + slope * shift,
            stderr=math.sqrt(variance),
            adjusted=np.asarray(loss - slope * (control - known), dtype=float),
            method="control",
        )


# Losses over the unseen variance of the same data: a ratio that hardly varies with the data drawn.
#
# No learner can know the weights of coordinates it has not seen, so that its mean loss is at least the unseen
# variance. The ratio of the two is taken trial by trial, on the same data. Its slope in D says whether the
# loss falls as fast as the data allow: 0 where it does. The slope of the loss itself also varies with the
# training sets that were drawn. Each curve (a width and a seed) has a slope of its own; they are independent,
# so that their mean has Student's interval.
#
# A cell counts only if the data limit it: one that is limited by the optimiser or by the width is left out of
# the slope, and where too few are left there is none, but a reason.


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
    cells = [_ratio_cell(N, D, records) for (N, D), records in curves.items()]
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


def _ratio_cell(N: int, D: int, records: Sequence[Record]) -> RatioCell:
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
