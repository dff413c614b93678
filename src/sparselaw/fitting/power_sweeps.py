"""The paper's own fit: straight lines through the last points of sweeps on log-log axes.

log loss = log A_s - alpha log x by weighted least squares, with one alpha for all sweeps (or one for each)
and an intercept for each sweep s. Weights are (loss / stderr)^2 where standard errors are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.interval import Z95, Interval, student_factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Losses along one size. ``seeds`` (points, seeds) holds every measurement; the loss is their mean."""

    x: npt.ArrayLike
    loss: npt.ArrayLike | None = None
    stderr: npt.ArrayLike | None = None
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
    relative: FloatArray | None  # standard error over loss
    seeds: FloatArray | None


def fit_power(sweeps: Mapping[str, Sweep], *, last: int | None = None, shared: bool = True) -> PowerFit:
    """Fits the ``last`` points of every sweep (all of them by default).

    The interval is Student's t: on the scatter of the seeds where every sweep has them, and otherwise on the
    residuals (with standard errors given, never narrower than they allow).
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
        alpha, logs, scatter = _shared_slope(part, [p.loss for p in part.values()])
        found = _seed_interval(part, alpha) if seeded else _student_interval(alpha, scatter)
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
    stderr = None if sweep.stderr is None else np.asarray(sweep.stderr, dtype=np.float64)
    if loss.shape != x.shape or (stderr is not None and stderr.shape != x.shape):
        raise InputError("sweeps", name, "sizes and losses differ in number", "give one loss for every size")
    if seeds is not None and seeds.shape[1] < 2:
        raise InputError("sweeps", name, "one seed has no standard deviation", "give losses without seeds")
    order = np.argsort(x, kind="stable")[-(last or x.size) :]
    values = (x[order], loss[order]) + (() if stderr is None else (stderr[order],))
    if not all(np.all(np.isfinite(v) & (v > 0.0)) for v in values):
        raise InputError(
            "sweeps", name, "holds a value that is not positive and finite", "leave that point out"
        )
    if np.unique(x[order]).size < 2:
        raise InputError("sweeps", name, "has fewer than two sizes", "give at least two")
    return _Points(
        x[order],
        loss[order],
        None if stderr is None else stderr[order] / loss[order],
        None if seeds is None else seeds[order],
    )


def _shared_slope(
    part: Mapping[str, _Points], losses: list[FloatArray]
) -> tuple[float, FloatArray, tuple[float, int, bool]]:
    """alpha, log A of every sweep, and (standard error, degrees of freedom, whether noise was given).

    Intercepts are eliminated: alpha is the slope through points centred on their sweep's weighted mean.
    """
    known = all(p.relative is not None for p in part.values())
    xx = xy = yy = 0.0
    means: list[tuple[float, float]] = []
    count = 0
    for p, loss in zip(part.values(), losses, strict=True):
        w = 1.0 / p.relative**2 if known and p.relative is not None else np.ones(p.x.size)
        lx, ly = np.log(p.x), np.log(loss)
        mx, my = float(w @ lx / w.sum()), float(w @ ly / w.sum())
        xx += float(w @ (lx - mx) ** 2)
        xy += float(w @ ((lx - mx) * (ly - my)))
        yy += float(w @ (ly - my) ** 2)
        means.append((mx, my))
        count += p.x.size
    alpha = -xy / xx
    degrees = count - len(part) - 1
    misfit = max(yy - xy * xy / xx, 0.0)
    scale = misfit / degrees if degrees > 0 else float("nan")
    if known:
        scale = max(scale, 1.0) if degrees > 0 else 1.0
    logs = np.array([my + alpha * mx for mx, my in means])
    return alpha, logs, (float(np.sqrt(scale / xx)), degrees, known)


def _student_interval(alpha: float, scatter: tuple[float, int, bool]) -> Interval:
    """Two points have no residual: without standard errors the ends are nan, not a guess."""
    error, degrees, known = scatter
    unknown = Z95 if known else float("nan")
    half = error * (student_factor(degrees + 1) if degrees > 0 else unknown)
    return Interval(alpha - half, alpha, alpha + half)


def _seed_interval(part: Mapping[str, _Points], alpha: float) -> Interval:
    """Student's interval from the scatter of the seeds at every point.

    alpha is linear in the logs of the means, each with the variance s^2 / (n mean^2) and n - 1 degrees of
    freedom; Welch and Satterthwaite's rule gives those of the sum. It holds for few seeds, where a bootstrap
    is far too narrow (three seeds: 71 % of 95).
    """
    variances: list[FloatArray] = []
    degrees: list[FloatArray] = []
    moment = 0.0
    known = all(p.relative is not None for p in part.values())
    for p in part.values():
        assert p.seeds is not None
        n = p.seeds.shape[1]
        w = 1.0 / p.relative**2 if known and p.relative is not None else np.ones(p.x.size)
        lever = w * (np.log(p.x) - w @ np.log(p.x) / w.sum())  # alpha = -sum lever log loss / sum lever log x
        variances.append(lever**2 * p.seeds.var(axis=1, ddof=1) / (n * p.loss**2))
        degrees.append(np.full(p.x.size, n - 1.0))
        moment += float(lever @ np.log(p.x))
    v = np.concatenate(variances)
    if not v.any():
        return Interval(alpha, alpha, alpha)
    freedom = float(v.sum() ** 2 / (v**2 / np.concatenate(degrees)).sum())
    half = student_factor(freedom + 1.0) * float(np.sqrt(v.sum())) / moment
    return Interval(alpha - half, alpha, alpha + half)
