"""Trials of one size summarised: mean, standard error and median over seeds.

The unseen variance of the data has a known mean, sum_j s_j (1-p_j)^D, and in over-parameterised cells
nearly all the scatter of the loss is its scatter. There the mean is the regression estimate: the loss is
regressed on the unseen variance over the seeds and read off at the known mean. The slope is estimated (a
bias of the order of 1/seeds times the standard error); the standard error is the regression's own, with
seeds - 2 degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import inputs_of
from sparselaw.theory import predict

if TYPE_CHECKING:
    import pandas as pd

SAME_CELL = [
    "N",
    "D",
    "inputs",
    "features",
    "solver",
    "alpha1",
    "alpha2",
    "alpha",
    "dimension",
    "noise",
    "ridge",
    "estimator",
]
FEWEST_FOR_CONTROL = 8
MOST_WITH_THEORY = 1000  # each costs some milliseconds
MANY_CELLS = f"more than {MOST_WITH_THEORY} cells: ask sparselaw predict for those of interest"
LEAST_EXPLAINED = 0.5  # share of the variance that the control must explain to be worth its degree of freedom


def summarise(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """One dictionary a cell: N, D, mean, stderr, median, seeds, theory, and how the mean was taken.

    A missing or infinite figure is None, with a sibling ``<name>_reason``.
    """
    keys = [key for key in SAME_CELL if key in runs]
    groups = runs.groupby(keys, sort=False, dropna=False)
    with_theory = groups.ngroups <= MOST_WITH_THEORY
    return [_cell(group, with_theory) for _, group in groups]


def _cell(runs: pd.DataFrame, with_theory: bool) -> dict[str, Any]:
    loss = runs["loss"].to_numpy(dtype=float)
    first = runs.iloc[0].to_dict()
    cell: dict[str, Any] = {"N": int(first["N"]), "D": int(first["D"])}
    finite = bool(np.isfinite(loss).all())
    if finite:
        found = estimate_mean(
            loss, runs["control"].to_numpy(dtype=float), runs["control_mean"].to_numpy(dtype=float)
        )
        cell |= {"mean": found.mean, "stderr": found.stderr, "method": found.method}
    else:
        cell |= {"mean": None, "mean_reason": _reason(runs), "stderr": None, "method": "plain"}
    if cell["stderr"] is None:
        cell["stderr_reason"] = "one seed" if loss.size == 1 else _reason(runs)
    median = float(np.median(loss)) if not np.isnan(loss).any() else math.nan
    cell["median"] = median if math.isfinite(median) else None
    if cell["median"] is None:
        cell["median_reason"] = _reason(runs)
    cell["seeds"] = int(loss.size)
    ridge = None if first["ridge"] is None or math.isnan(first["ridge"]) else float(first["ridge"])
    cell |= _theory(first, cell["N"], cell["D"], ridge) if with_theory else _none(MANY_CELLS)
    notes = sorted({str(note) for note in runs["reason"] if note}) if finite else []
    if notes:
        cell["note"] = "; ".join(notes)
    return cell


def _theory(first: dict[Any, Any], N: int, D: int, ridge: float | None) -> dict[str, Any]:
    """The closed-form loss of a cell with its caution, or why there is none.

    ``ridge`` None means a solver that is neither ridge nor minimum norm.
    """
    if first["features"] != "linear" or ridge is None:
        return _none("no closed form for these features and this solver")
    point = predict(inputs_of(first["inputs"], first), N=N, D=D, ridge=ridge, noise=first["noise"])
    found = {"theory": point.loss} if math.isfinite(point.loss) else _none("infinite")
    return found | ({"caution": point.caution} if point.caution else {})


def _none(reason: str) -> dict[str, Any]:
    return {"theory": None, "theory_reason": reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The mean of a cell with its standard error; ``adjusted`` are the losses it is the mean of."""

    mean: float
    stderr: float | None
    adjusted: FloatArray
    method: str  # plain or control


def estimate_mean(loss: FloatArray, control: FloatArray, known: FloatArray) -> Estimate:
    """The mean loss of one cell; ``control`` (nan where there is none) has the known mean ``known``."""
    plain = float(loss.mean())
    error = float(loss.std(ddof=1)) / math.sqrt(loss.size) if loss.size > 1 else None
    without = Estimate(mean=plain, stderr=error, adjusted=loss, method="plain")
    finite = np.isfinite(loss).all() and np.isfinite(control).all() and np.ptp(known) == 0.0
    if loss.size < FEWEST_FOR_CONTROL or not finite or np.ptp(control) == 0.0 or not error:
        return without
    centred = control - control.mean()
    spread = float(centred @ centred)
    slope = float(centred @ loss) / spread
    left = loss - plain - slope * centred
    if float(left @ left) > (1.0 - LEAST_EXPLAINED) * float(np.sum((loss - plain) ** 2)):
        return without
    shift = float(known[0] - control.mean())
    variance = float(left @ left) / (loss.size - 2) * (1.0 / loss.size + shift**2 / spread)
    return Estimate(
        mean=plain + slope * shift,
        stderr=math.sqrt(variance),
        adjusted=np.asarray(loss - slope * (control - known), dtype=float),
        method="control",
    )


def _reason(runs: pd.DataFrame) -> str:
    counts = runs.loc[~np.isfinite(runs["loss"].to_numpy(dtype=float)), "status"].value_counts()
    return ", ".join(f"{count} of {len(runs)} trials {status}" for status, count in counts.items())
