"""The paper's own fit: straight lines through the last points of sweeps on log-log axes.

log loss = log A_s - alpha log x by least squares, with one alpha for all sweeps (or one for each) and an
intercept for each sweep s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.interval import Interval, student_factor

Points = tuple[FloatArray, FloatArray, FloatArray | None]  # sizes, losses, and losses of every seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Losses along one size. ``seeds`` (points, seeds) holds every measurement; the loss is their mean."""

    x: npt.ArrayLike
    loss: npt.ArrayLike | None = None
    seeds: npt.ArrayLike | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerFit:
    """Exponents and A by sweep. With one shared exponent every sweep has the same entry in ``exponents``."""

    exponents: Mapping[str, Interval]
    A: Mapping[str, float]
    points: int
    method: str  # where the interval comes from

    @property
    def exponent(self) -> Interval:
        """The shared exponent (or the only one)."""
        distinct = set(self.exponents.values())
        if len(distinct) != 1:
            raise InputError(
                "exponent", len(distinct), "sweeps have exponents of their own", "ask for exponents"
            )
        return next(iter(distinct))


def fit_power(sweeps: Mapping[str, Sweep], *, last: int | None = None, shared: bool = True) -> PowerFit:
    """Fits the ``last`` points of every sweep (all of them by default).

    The interval is Student's t: on the scatter of the seeds where every sweep has them, and otherwise on the
    residuals.
    """
    if not sweeps:
        raise InputError("sweeps", "none", "there is nothing to fit", "give at least one sweep")
    if last is not None and last < 2:
        raise InputError("last", last, "must be at least 2", "choose last >= 2")
    points = {name: _points(name, sweep, last) for name, sweep in sweeps.items()}
    seeded = all(seeds is not None for _, _, seeds in points.values())
    exponents: dict[str, Interval] = {}
    intercepts: dict[str, float] = {}
    for names in [list(points)] if shared else [[name] for name in points]:
        part = [points[name] for name in names]
        # Intercepts are eliminated: alpha is the slope through points centred on their sweep's mean.
        logs = [(np.log(x), np.log(loss)) for x, loss, _ in part]
        x = np.concatenate([lx - lx.mean() for lx, _ in logs])
        y = np.concatenate([ly - ly.mean() for _, ly in logs])
        alpha = -float(x @ y) / float(x @ x)
        half = _half_of_seeds(part, x) if seeded else _half_of_residuals(x, y + alpha * x, len(part))
        exponents |= dict.fromkeys(names, Interval(alpha - half, alpha, alpha + half))
        for name, (lx, ly) in zip(names, logs, strict=True):
            intercepts[name] = float(np.exp(ly.mean() + alpha * lx.mean()))
    return PowerFit(
        exponents=exponents,
        A=intercepts,
        points=sum(x.size for x, _, _ in points.values()),
        method=f"Student's t on {'seeds' if seeded else 'residuals'}",
    )


def _points(name: str, sweep: Sweep, last: int | None) -> Points:
    x = np.asarray(sweep.x, dtype=np.float64)
    seeds = None if sweep.seeds is None else np.asarray(sweep.seeds, dtype=np.float64)
    loss = np.asarray(sweep.loss, dtype=np.float64) if seeds is None else seeds.mean(axis=1)
    if loss.shape != x.shape:
        raise InputError("sweeps", name, "sizes and losses differ in number", "give one loss for every size")
    if seeds is not None and seeds.shape[1] < 2:
        raise InputError("sweeps", name, "one seed has no standard deviation", "give losses without seeds")
    order = np.argsort(x, kind="stable")[-(last or x.size) :]
    if not all(np.all(np.isfinite(v) & (v > 0.0)) for v in (x[order], loss[order])):
        condition = "holds a value that is not positive and finite"
        raise InputError("sweeps", name, condition, "leave that point out")
    if np.unique(x[order]).size < 2:
        raise InputError("sweeps", name, "has fewer than two sizes", "give at least two")
    return x[order], loss[order], None if seeds is None else seeds[order]


def _half_of_residuals(x: FloatArray, residuals: FloatArray, sweeps: int) -> float:
    """Half of Student's interval. Two points have no residual: the ends are nan then, not a guess."""
    degrees = x.size - sweeps - 1
    if degrees <= 0:
        return float("nan")
    return student_factor(degrees + 1) * float(np.sqrt(np.sum(residuals**2) / degrees / (x @ x)))


def _half_of_seeds(part: list[Points], x: FloatArray) -> float:
    """Half of Student's interval from the scatter of the seeds at every point.

    alpha is linear in the logs of the means, each with the variance s^2 / (n mean^2) and n - 1 degrees of
    freedom; Welch and Satterthwaite's rule gives those of the sum. It holds for few seeds, where a bootstrap
    is far too narrow (three seeds: 71 % of 95).
    """
    means = np.concatenate([loss for _, loss, _ in part])
    variances = np.concatenate([seeds.var(axis=1, ddof=1) for _, _, seeds in part if seeds is not None])
    count = np.concatenate([np.full(len(seeds), seeds.shape[1]) for _, _, seeds in part if seeds is not None])
    v = x**2 * variances / (count * means**2)  # alpha = -sum x log loss / sum x^2
    if not v.any():
        return 0.0
    freedom = float(v.sum() ** 2 / (v**2 / (count - 1.0)).sum())
    return student_factor(freedom + 1.0) * float(np.sqrt(v.sum())) / float(x @ x)
