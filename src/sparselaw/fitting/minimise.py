"""What is minimised, and the one minimiser: many fits side by side, by array operations.

With eta(theta) the logarithm of a law, z = (y - eta) / s its residuals, J the gradient and V the Hessian of
eta, the objective is f = sum_i w_i rho(z_i). rho is Huber's function: one family, told apart by delta, where
the square turns into an absolute value. So

    grad f = -sum_i w_i rho'(z_i) J_i / s_i,
    hess f =  sum_i w_i (rho''(z_i) J_i J_i^T / s_i^2 - rho'(z_i) V_i / s_i).

The envelope is a law for the best runs. Sweeps over learning rates hold bad runs, and only the lower edge of
the losses is what a well-tuned run reaches: a run above the law has weight 0.1 in Huber's function and one
below 0.9, so that with a small delta the law runs at the lowest tenth of the runs (quantile regression).

The minimiser is Newton's method with Levenberg's damping inside a box. A small delta leaves few rows with
curvature, so delta comes down in stages, each starting where the last one ended. Every fit has its own
weights, delta and damping, and one array operation serves them all. None waits for another: in each round
every fit tries one step, and goes on from it or damps the next one more.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError, check_choice, check_positive

if TYPE_CHECKING:
    from sparselaw.fitting.design import Design

OBJECTIVES = ("huber", "l1", "least-squares", "envelope")
DEFAULT_DELTA = 1e-3
BELOW = 0.1  # the part of the runs that lies below an envelope
L1_DELTA = 1e-8  # small against any residual: the value is the sum of absolute residuals to p * 1e-8


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """``delta`` and ``tilt`` go to the minimiser; ``unit`` turns its value into the usual one.

    Huber's is the sum of z^2/2 for |z| <= delta and delta (|z| - delta/2) beyond; least absolute deviation
    is the sum of |z|, least squares the sum of z^2/2.
    """

    name: str
    delta: float
    unit: float
    tilt: float = 0.0  # rows above the law have the weight 1 - tilt, those below 1 + tilt


def parse_objective(name: str, delta: float | None = None) -> Objective:
    """
    >>> parse_objective("huber").delta
    0.001
    """
    if check_choice("objective", name, OBJECTIVES) in ("huber", "envelope"):
        width = check_positive("delta", DEFAULT_DELTA if delta is None else delta)
        if name == "envelope":
            return Objective(name=name, delta=width, unit=0.5 * width, tilt=1.0 - 2.0 * BELOW)
        return Objective(name=name, delta=width, unit=width)
    if delta is not None:
        raise InputError("delta", delta, f"has no meaning for {name}", "leave it out or choose huber")
    return Objective(name=name, delta=L1_DELTA if name == "l1" else math.inf, unit=1.0)


def rho(
    z: FloatArray, weights: FloatArray, delta: FloatArray, tilt: float = 0.0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Huber's function over delta of ``z`` (fits, rows), one delta a fit: f of every fit, w rho' and w rho''.

    rho(z) = z^2 / (2 delta) for |z| <= delta, else |z| - delta / 2; z^2 / 2 for an infinite delta. With c = z
    cut off at delta on both sides and u = 1 / delta (1 for an infinite one), rho = u c (z - c / 2),
    rho' = u c, and rho'' = u where nothing was cut off. Rows without weight count for nothing, whatever z is.
    """
    z = np.where(weights != 0.0, z, 0.0)
    if tilt:
        weights = weights * (1.0 - tilt * np.sign(z))
    width = delta[:, None]
    unit = np.where(np.isinf(width), 1.0, 1.0 / width)
    cut = np.clip(z, -width, width)
    first = weights * cut * unit
    return np.sum(first * (z - 0.5 * cut), axis=1), first, np.where(cut == z, weights * unit, 0.0)


def likelihood_ratio(narrow: float, wide: float, rows: int, objective: Objective) -> float:
    """-2 log of the ratio for a law within a wider one, from the values of the objective."""
    if narrow <= wide or narrow == 0.0:
        return 0.0
    factor = 1.0 if math.isinf(objective.delta) else 2.0
    return factor * rows * math.log(narrow / max(wide, 1e-300))


def misfit(z: FloatArray, weights: FloatArray, delta: float, tilt: float = 0.0) -> FloatArray:
    """sum_i w_i rho(z_i) of every row of ``z`` (fits, rows)."""
    return rho(z, weights, np.full(len(z), delta), tilt)[0]


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


class Ends(NamedTuple):
    """Where searches ended, one row or entry for each.

    ``value`` is in the minimiser's own unit; ``norm`` is that of the gradient.
    """

    theta: FloatArray
    value: Any
    norm: Any
    converged: Any

    def of(self, i: int) -> Ends:
        """One of them."""
        return Ends(*(part[i] for part in self))


def minimise(
    design: Design,
    starts: FloatArray,
    objective: Objective,
    losses: FloatArray,
    weights: FloatArray,
    *,
    staged: bool = True,
    drawn: bool = False,
) -> Ends:
    """Newton's method with Levenberg's damping inside the box, from each start.

    ``losses`` and ``weights`` have a row for each, or one row for all. Where it is ``staged``, delta falls
    from the typical residual at the start to the one asked for. ``drawn`` data need not be followed along a
    flat valley to its end: such a search ends early.
    """
    lower, upper, inverse_scale = design.lower, design.upper, design.inverse_scale
    delta, tilt = objective.delta, objective.tilt

    def data(which: Any) -> tuple[FloatArray, FloatArray]:
        return losses[which] if len(losses) > 1 else losses, weights[which] if len(weights) > 1 else weights

    def z(theta: FloatArray, y: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return np.asarray((y - design.log_losses(theta)) * inverse_scale)

    theta = np.clip(starts, lower, upper)
    count, p = theta.shape
    width = np.full(count, delta)  # each fit's delta
    if staged and delta < np.inf:
        typical = np.nanmedian(np.where(weights != 0.0, np.abs(z(theta, losses)), np.nan), axis=1)
        width = np.where(np.isfinite(typical), _stage(typical, delta), delta)
    weight = np.maximum(np.broadcast_to(weights.sum(axis=1), (count,)), 1e-300)
    f, norm, damping = np.empty(count), np.full(count, np.inf), np.empty(count)
    gradient, hessian, size = np.empty((count, p)), np.empty((count, p, p)), np.empty((count, p))
    most = MOST_DRAWN_STEPS if drawn else MOST_STEPS
    rounded = np.zeros(count, bool)
    steps, idle = np.zeros(count, np.int64), np.zeros(count, np.int64)

    def look(which: IntArray) -> None:
        """The derivatives where these fits are."""
        y, w = data(which)
        with np.errstate(invalid="ignore", over="ignore"):
            found = design.slopes(theta[which]).derivatives(y, inverse_scale, w, width[which], tilt)
        f[which], gradient[which], hessian[which] = found[:3]
        size[which] = np.maximum(found[3], 1e-12 * weight[which, None])

    def begin(which: IntArray) -> None:
        """A stage."""
        damping[which] = np.where(np.isinf(width[which]), FIRST_DAMPING, FIRST_DAMPING / width[which])
        steps[which] = idle[which] = 0
        look(which)

    going = np.arange(count)
    begin(going)
    while going.size:
        here, slope = theta[going], gradient[going]
        free = ~(((here <= lower) & (slope >= 0.0)) | ((here >= upper) & (slope <= 0.0)))
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
        trial = np.clip(here + step, lower, upper)
        step = trial - here
        predicted = -np.sum(slope * step, axis=1)
        predicted -= 0.5 * np.einsum("ta,tab,tb->t", step, hessian[going], step)
        y, w = data(going)
        with np.errstate(invalid="ignore", over="ignore"):
            found = rho(z(trial, y), w, width[going], tilt)[0]
        gain = f[going] - np.where(solved & np.isfinite(found), found, np.inf)
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


def _stage(width: FloatArray, delta: float) -> FloatArray:
    """The last stage is delta itself."""
    return np.where(width > delta * DELTA_STEP, width, delta)


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
    solved: Any = np.isfinite(matrix).all(axis=(1, 2))
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:  # some are not positive: which?
        solved &= np.linalg.eigvalsh(np.where(solved[:, None, None], matrix, 0.0))[:, 0] > 1e-14
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
    ends = small.minimise_all(starts, objective, small.log_loss[None, :], small_w[None, :])
    order = np.argsort(ends.value, kind="stable")
    best = ends.of(order[0])
    tolerance = AGREEMENT * abs(best.value) + 1e-12 * float(small_w.sum())
    basins, seen = [best.theta], best.value
    for i in order[1:]:
        if ends.value[i] - seen > tolerance:
            basins.append(ends.theta[i])
            seen = ends.value[i]
    agreeing = int(np.count_nonzero(ends.value - best.value <= tolerance))
    if small is not design:
        best = design.minimise(best.theta, objective, w, staged=False)
        best = best if best.converged else design.minimise(best.theta, objective, w)
        basins[0] = best.theta
    # The objective of the best constant, near enough, is what any law has to explain.
    flat = (design.log_loss - np.median(design.log_loss)) * design.inverse_scale
    constant = max(float(misfit(flat[None, :], w, objective.delta, objective.tilt)[0]), 1e-300)
    return Minimum(
        theta=best.theta,
        value=float(best.value) * objective.unit,
        gradient_norm=float(best.norm) * float(w.sum()) / constant,
        converged=bool(best.converged),
        starts_tried=len(starts),
        starts_agreeing=agreeing,
        basins=np.array(basins[:WARM_STARTS]),
    )


def sample(rows: int, count: int = LARGEST_POLISH_ROWS) -> IntArray:
    """The same ``count`` of the rows every time, in order."""
    return np.sort(np.random.Generator(np.random.PCG64(1)).choice(rows, count, replace=False))
