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


@dataclass(frozen=True, slots=True)
class _Points:
    x: FloatArray
    loss: FloatArray
    seeds: FloatArray | None


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
    parts = [points] if shared else [{name: p} for name, p in points.items()]
    exponents: dict[str, Interval] = {}
    intercepts: dict[str, float] = {}
    seeded = all(p.seeds is not None for p in points.values())
    for part in parts:
        alpha, logs, found = _shared_slope(part)
        found = _seed_interval(part, alpha) if seeded else found
        exponents |= dict.fromkeys(part, found)
        intercepts |= dict(zip(part, np.exp(logs).tolist(), strict=True))
    return PowerFit(
        exponents=exponents,
        A=intercepts,
        points=sum(p.x.size for p in points.values()),
        method=f"Student's t on {'seeds' if seeded else 'residuals'}",
    )


def _points(name: str, sweep: Sweep, last: int | None) -> _Points:
    x = np.asarray(sweep.x, dtype=np.float64)
    seeds = None if sweep.seeds is None else np.asarray(sweep.seeds, dtype=np.float64)
    loss = np.asarray(sweep.loss, dtype=np.float64) if seeds is None else seeds.mean(axis=1)
    if loss.shape != x.shape:
        raise InputError("sweeps", name, "sizes and losses differ in number", "give one loss for every size")
    if seeds is not None and seeds.shape[1] < 2:
        raise InputError("sweeps", name, "one seed has no standard deviation", "give losses without seeds")
    order = np.argsort(x, kind="stable")[-(last or x.size) :]
    if not all(np.all(np.isfinite(v) & (v > 0.0)) for v in (x[order], loss[order])):
        raise InputError(
            "sweeps", name, "holds a value that is not positive and finite", "leave that point out"
        )
    if np.unique(x[order]).size < 2:
        raise InputError("sweeps", name, "has fewer than two sizes", "give at least two")
    return _Points(x[order], loss[order], None if seeds is None else seeds[order])


def _shared_slope(part: Mapping[str, _Points]) -> tuple[float, FloatArray, Interval]:
    """alpha, log A of every sweep, and Student's interval from the residuals.

    Intercepts are eliminated: alpha is the slope through points centred on their sweep's mean. Two points
    have no residual: the ends are nan then, not a guess.
    """
    logs = [(np.log(p.x), np.log(p.loss)) for p in part.values()]
    x = np.concatenate([lx - lx.mean() for lx, _ in logs])
    y = np.concatenate([ly - ly.mean() for _, ly in logs])
    alpha = -float(x @ y) / float(x @ x)
    degrees, misfit = x.size - len(logs) - 1, float(np.sum((y + alpha * x) ** 2))
    half = float("nan")
    if degrees > 0:
        half = student_factor(degrees + 1) * float(np.sqrt(misfit / degrees / (x @ x)))
    intercepts = np.array([ly.mean() + alpha * lx.mean() for lx, ly in logs])
    return alpha, intercepts, Interval(alpha - half, alpha, alpha + half)


def _seed_interval(part: Mapping[str, _Points], alpha: float) -> Interval:
    """Student's interval from the scatter of the seeds at every point.

    alpha is linear in the logs of the means, each with the variance s^2 / (n mean^2) and n - 1 degrees of
    freedom; Welch and Satterthwaite's rule gives those of the sum. It holds for few seeds, where a bootstrap
    is far too narrow (three seeds: 71 % of 95).
    """
    variances: list[FloatArray] = []
    degrees: list[FloatArray] = []
    moment = 0.0
    for p in part.values():
        assert p.seeds is not None
        n = p.seeds.shape[1]
        lever = np.log(p.x) - np.log(p.x).mean()  # alpha = -sum lever log loss / sum lever log x
        variances.append(lever**2 * p.seeds.var(axis=1, ddof=1) / (n * p.loss**2))
        degrees.append(np.full(p.x.size, n - 1.0))
        moment += float(lever @ np.log(p.x))
    v = np.concatenate(variances)
    if not v.any():
        return Interval(alpha, alpha, alpha)
    freedom = float(v.sum() ** 2 / (v**2 / np.concatenate(degrees)).sum())
    half = student_factor(freedom + 1.0) * float(np.sqrt(v.sum())) / moment
    return Interval(alpha - half, alpha, alpha + half)
