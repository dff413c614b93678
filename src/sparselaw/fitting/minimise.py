"""What is minimised, and the one minimiser: many fits side by side, by array operations.

With eta(theta) the logarithm of a law, z = (y - eta) / s its residuals, J the gradient and V the Hessian of
eta, the objective is f = sum_i w_i rho(z_i). rho is Huber's function: one family, told apart by delta, where
the square turns into an absolute value. So

    grad f = -sum_i w_i rho'(z_i) J_i / s_i,
    hess f =  sum_i w_i (rho''(z_i) J_i J_i^T / s_i^2 - rho'(z_i) V_i / s_i).

The minimiser is Newton's method with Levenberg's damping inside a box. A small delta leaves few rows with
curvature, so delta comes down in stages, each starting where the last one ended. Every fit has its own
weights, delta and damping, and one array operation serves them all. None waits for another: in each round
every fit tries one step, and goes on from it or damps the next one more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError, check_finite

if TYPE_CHECKING:
    from sparselaw.fitting.design import Design

ObjectiveName = Literal["huber", "l1", "least-squares", "envelope"]
OBJECTIVES: tuple[ObjectiveName, ...] = ("huber", "l1", "least-squares", "envelope")
DEFAULT_DELTA = 1e-3
L1_DELTA = 1e-8  # small against any residual: the value is the sum of absolute residuals to p * 1e-8


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """``delta`` goes to the minimiser; ``unit`` turns its value into the usual one.

    Huber's is the sum of z^2/2 for |z| <= delta and delta (|z| - delta/2) beyond; least absolute deviation
    is the sum of |z|, least squares the sum of z^2/2.
    """

    name: ObjectiveName
    delta: float
    unit: float


def parse_objective(name: str, delta: float | None = None) -> Objective:
    """
    >>> parse_objective("huber").delta
    0.001
    """
    if name in ("huber", "envelope"):
        width = check_finite("delta", DEFAULT_DELTA if delta is None else delta)
        if width <= 0.0:
            raise InputError("delta", delta, "must be positive", "choose delta > 0, such as 1e-3")
        return Objective(name="huber" if name == "huber" else "envelope", delta=width, unit=width)
    if delta is not None:
        raise InputError("delta", delta, f"has no meaning for {name}", "leave it out or choose huber")
    if name == "l1":
        return Objective(name="l1", delta=L1_DELTA, unit=1.0)
    if name == "least-squares":
        return Objective(name="least-squares", delta=math.inf, unit=1.0)
    raise InputError("objective", name, "is not one of the objectives", f"choose {' or '.join(OBJECTIVES)}")


class Rho(NamedTuple):
    """f of every fit, and row by row w rho' and w rho''."""

    value: FloatArray  # (fits,)
    first: FloatArray  # (fits, rows)
    second: FloatArray


def rho(z: FloatArray, weights: FloatArray, delta: FloatArray) -> Rho:
    """Huber's function over delta of ``z`` (fits, rows), one delta a fit.

    rho(z) = z^2 / (2 delta) for |z| <= delta, else |z| - delta / 2; z^2 / 2 for an infinite delta. With c = z
    cut off at delta on both sides and u = 1 / delta (1 for an infinite one), rho = u c (z - c / 2),
    rho' = u c, and rho'' = u where nothing was cut off. Rows without weight count for nothing, whatever z is.
    """
    z = np.where(weights != 0.0, z, 0.0)
    width = delta[:, None]
    unit = np.where(np.isinf(width), 1.0, 1.0 / width)
    cut = np.clip(z, -width, width)
    first = weights * cut * unit
    value = np.sum(first * (z - 0.5 * cut), axis=1)
    return Rho(value, first, np.where(cut == z, weights * unit, 0.0))


def likelihood_ratio(narrow: float, wide: float, rows: int, objective: Objective) -> float:
    """-2 log of the ratio for a law within a wider one, from the values of the objective."""
    if narrow <= wide or narrow == 0.0:
        return 0.0
    factor = 1.0 if math.isinf(objective.delta) else 2.0
    return factor * rows * math.log(narrow / max(wide, 1e-300))


def misfit(z: FloatArray, weights: FloatArray, delta: float) -> FloatArray:
    """sum_i w_i rho(z_i) of every row of ``z`` (fits, rows)."""
    return rho(z, weights, np.full(len(z), delta)).value


TOLERANCE = 1e-9  # on the gradient divided by the sum of the weights
STAGE_TOLERANCE = 1e-6  # before delta falls again: a flat direction has a small gradient far from its end
ROUNDING = 1e-6  # a gradient this small is down to rounding when no step lowers f any more
DELTA_STEP = 6.0  # by how much delta falls from one stage to the next
MOST_STEPS, MOST_DRAWN_STEPS = 300, 60
DRAWN_GAIN = 1e-8  # of the objective
FIRST_DAMPING = 1e-3  # over delta
NO_GAIN = 1e-14  # of f
STUCK = 1e30  # a damping at which no step lowers f any more
PATIENCE = 3  # steps with too small a gain before a search gives up
AGREEMENT = 1e-6  # relative difference of objective below which two ends are the same minimum
LARGEST_POLISH_ROWS = 10_000  # above it, starts are polished on a sample and only the best on every row
WARM_STARTS = 3
Derivatives = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


class Slopes(Protocol):
    """First and second derivatives of eta at many thetas."""

    def derivatives(
        self, y: FloatArray, inverse_scale: FloatArray, weights: FloatArray, delta: FloatArray
    ) -> Derivatives:
        """f, gradient, Hessian and the sum of w J_j^2 / s^2 (a scale for each parameter) of every fit."""


class Fits(NamedTuple):
    """Fits side by side; y and the weights have a row for each, or one row for all."""

    log_losses: Callable[[FloatArray], FloatArray]  # eta: (fits, p) -> (fits, rows)
    slopes: Callable[[FloatArray], Slopes]
    y: FloatArray
    inverse_scale: FloatArray
    weights: FloatArray
    lower: FloatArray
    upper: FloatArray

    def of(self, fits: IntArray) -> Fits:
        """Some of them."""
        y, w = (a[fits] if len(a) > 1 else a for a in (self.y, self.weights))
        return self._replace(y=y, weights=w)

    def z(self, theta: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return np.asarray((self.y - self.log_losses(theta)) * self.inverse_scale)

    def values(self, theta: FloatArray, delta: FloatArray) -> FloatArray:
        """f of every fit; infinite where it has no value."""
        with np.errstate(invalid="ignore", over="ignore"):
            found = rho(self.z(theta), self.weights, delta).value
        return np.where(np.isfinite(found), found, np.inf)

    def derivatives(self, theta: FloatArray, delta: FloatArray) -> Derivatives:
        with np.errstate(invalid="ignore", over="ignore"):
            return self.slopes(theta).derivatives(self.y, self.inverse_scale, self.weights, delta)


class End(NamedTuple):
    """Where a search ended. ``value`` is in the minimiser's own unit; ``norm`` that of the gradient."""

    theta: FloatArray
    value: float
    norm: float
    converged: bool


class Ends(NamedTuple):
    """The same for many searches, one row or entry for each."""

    theta: FloatArray
    value: FloatArray
    norm: FloatArray
    converged: Any

    def each(self) -> list[End]:
        values = zip(self.theta, self.value, self.norm, self.converged, strict=True)
        return [End(theta, float(value), float(norm), bool(ok)) for theta, value, norm, ok in values]


def minimise(
    starts: FloatArray, fits: Fits, delta: float, *, staged: bool = True, drawn: bool = False
) -> Ends:
    """Newton from each start, in stages: delta falls from the typical residual there to the one asked for.

    ``drawn`` data need not be followed along a flat valley to its end: such a search ends early.
    """
    theta = np.clip(starts, fits.lower, fits.upper)
    width = np.full(len(theta), delta)
    if staged and delta < np.inf:
        typical = np.nanmedian(np.where(fits.weights != 0.0, np.abs(fits.z(theta)), np.nan), axis=1)
        width = np.where(np.isfinite(typical), _stage(typical, delta), delta)
    return _newton(theta, fits, width, delta, drawn)


def _stage(width: FloatArray, delta: float) -> FloatArray:
    """The last stage is delta itself."""
    return np.where(width > delta * DELTA_STEP, width, delta)


def _newton(start: FloatArray, fits: Fits, width: FloatArray, delta: float, drawn: bool) -> Ends:
    """Newton's method with Levenberg's damping inside the box; ``width`` is each fit's first delta."""
    theta, width = start.copy(), width.copy()
    count, p = theta.shape
    weight = np.maximum(np.broadcast_to(fits.weights.sum(axis=1), (count,)), 1e-300)
    f, norm, damping = np.empty(count), np.full(count, np.inf), np.empty(count)
    gradient, hessian, size = np.empty((count, p)), np.empty((count, p, p)), np.empty((count, p))
    most = MOST_DRAWN_STEPS if drawn else MOST_STEPS
    rounded = np.zeros(count, bool)
    steps, idle = np.zeros(count, np.int64), np.zeros(count, np.int64)

    def look(which: IntArray) -> None:
        """The derivatives where these fits are."""
        f[which], gradient[which], hessian[which], found = fits.of(which).derivatives(
            theta[which], width[which]
        )
        size[which] = np.maximum(found, 1e-12 * weight[which, None])

    def begin(which: IntArray) -> None:
        """A stage."""
        damping[which] = np.where(np.isinf(width[which]), FIRST_DAMPING, FIRST_DAMPING / width[which])
        steps[which] = idle[which] = 0
        look(which)

    going = np.arange(count)
    begin(going)
    while going.size:
        here, slope = theta[going], gradient[going]
        free = ~(((here <= fits.lower) & (slope >= 0.0)) | ((here >= fits.upper) & (slope <= 0.0)))
        norm[going] = np.sqrt(np.sum(np.where(free, slope, 0.0) ** 2, axis=1)) / weight[going]
        last = width[going] <= delta
        wanted = norm[going] > np.where(last, TOLERANCE, STAGE_TOLERANCE)
        ended = ~wanted | (steps[going] >= most) | (damping[going] > STUCK) | (idle[going] >= PATIENCE)
        if ended.any():
            next_stage = going[ended & ~last]
            if next_stage.size:
                width[next_stage] = _stage(width[next_stage] / DELTA_STEP, delta)
                begin(next_stage)
            going = going[~(ended & last)]
            continue
        step, solved = damped_steps(hessian[going], slope, size[going], damping[going], free)
        trial = np.clip(here + step, fits.lower, fits.upper)
        step = trial - here
        predicted = -np.sum(slope * step, axis=1)
        predicted -= 0.5 * np.einsum("ta,tab,tb->t", step, hessian[going], step)
        found = np.where(solved, fits.of(going).values(trial, width[going]), np.inf)
        gain = f[going] - found
        better = gain > 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(predicted > 0.0, gain / predicted, 0.0)
        ease = np.where(ratio > 0.75, 0.1, np.where(ratio < 0.25, 3.0, 1.0))
        worse = np.maximum(damping[going], 1e-12) * 5.0
        # What is left to gain is below the rounding of f: nothing more can be found.
        rounded[going] = solved & ~better & (predicted <= NO_GAIN * np.abs(f[going]))
        damping[going] = np.where(better, damping[going] * ease, np.where(rounded[going], np.inf, worse))
        small = drawn & better & (gain < DRAWN_GAIN * f[going])
        idle[going] = np.where(small, idle[going] + 1, np.where(better, 0, idle[going]))
        moved = going[better]
        if moved.size:
            theta[moved] = trial[better]
            steps[moved] += 1
            look(moved)
    return Ends(theta, f, norm, (norm <= ROUNDING) | rounded)


def damped_steps(
    hessian: FloatArray, gradient: FloatArray, size: FloatArray, damping: FloatArray, free: Any
) -> tuple[FloatArray, Any]:
    """Solves (H + damping diag(size)) step = -gradient on the free parameters.

    The step of each fit, and whether its damped Hessian is positive.
    """
    places = np.arange(size.shape[1])
    matrix = np.where(free[:, :, None] & free[:, None, :], hessian, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        matrix[:, places, places] += np.where(free, damping[:, None] * size, 1.0)
        scale = 1.0 / np.sqrt(np.maximum(np.abs(matrix[:, places, places]), 1e-300))
        matrix *= scale[:, :, None] * scale[:, None, :]
    solved = _positive(matrix)
    steps = np.zeros_like(gradient)
    right = np.where(free, -gradient, 0.0) * scale
    steps[solved] = _solutions(matrix[solved], right[solved]) * scale[solved]
    return steps, solved & np.isfinite(steps).all(axis=1)


def _solutions(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Of each system; one that is singular after all has none."""
    try:
        return np.asarray(np.linalg.solve(matrix, right[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        found = np.full_like(right, np.nan)
        for i in range(len(matrix)):
            with suppress(np.linalg.LinAlgError):
                found[i] = np.linalg.solve(matrix[i], right[i])
        return found


def _positive(matrix: FloatArray) -> Any:
    """Which matrices, scaled to a diagonal of one, are positive."""
    finite: Any = np.isfinite(matrix).all(axis=(1, 2))
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        lowest = np.linalg.eigvalsh(np.where(finite[:, None, None], matrix, 0.0))[:, 0]
        return finite & (lowest > 1e-14)
    return finite


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum:
    """The best theta, its value in the objective's own unit, and how sure we are of it."""

    theta: FloatArray
    value: float
    gradient_norm: float  # of the objective over the value of a constant law: a number of order one
    converged: bool
    starts_tried: int
    starts_agreeing: int
    basins: FloatArray  # (n, p): the best few distinct ends, best first; warm starts for resampled data


def global_minimum(
    design: Design,
    objective: Objective,
    weights: FloatArray | None = None,
    starts: FloatArray | None = None,
) -> Minimum:
    """The lowest of the minima below every start that the design proposes, or below those given."""
    w = np.ones(design.rows) if weights is None else weights
    starts = design.starts(objective, w) if starts is None else starts
    small, small_w = design, w
    if design.rows > LARGEST_POLISH_ROWS:
        rows = sample(design.rows)
        small, small_w = design.take(rows), w[rows]
    ends = sorted(small.minimise_all(starts, objective, small_w), key=lambda end: end.value)
    best = ends[0]
    tolerance = AGREEMENT * abs(best.value) + 1e-12 * float(small_w.sum())
    basins, seen = [best.theta], best.value
    for end in ends[1:]:
        if end.value - seen > tolerance:
            basins.append(end.theta)
            seen = end.value
    agreeing = sum(end.value - best.value <= tolerance for end in ends)
    if small is not design:
        best = design.minimise(best.theta, objective, w, staged=False)
        best = best if best.converged else design.minimise(best.theta, objective, w)
        basins[0] = best.theta
    return Minimum(
        theta=best.theta,
        value=best.value * objective.unit,
        gradient_norm=best.norm * float(w.sum()) / design.constant_value(objective, w),
        converged=best.converged,
        starts_tried=len(starts),
        starts_agreeing=agreeing,
        basins=np.array(basins[:WARM_STARTS]),
    )


def sample(rows: int, count: int = LARGEST_POLISH_ROWS) -> IntArray:
    """The same ``count`` of the rows every time, in order."""
    return np.sort(np.random.Generator(np.random.PCG64(1)).choice(rows, count, replace=False))
