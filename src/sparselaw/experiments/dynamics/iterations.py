"""How many iterations a descent needs: to a gradient norm, and to a population loss."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import brentq

from sparselaw.arrays import FloatArray, log_slope
from sparselaw.errors import InputError
from sparselaw.experiments.dynamics.descents import Training, population_loss, prepare_training
from sparselaw.inputs import Inputs, SparseInputs
from sparselaw.interval import Interval, student_interval
from sparselaw.predicting import predict
from sparselaw.solvers import GradientDescent, Nesterov
from sparselaw.solvers.nesterov import CONVERGED, advance, nesterov_step
from sparselaw.theory.descent import condition_exponents
from sparselaw.theory.surface import asymptotic_seen
from sparselaw.trials.task import Task

GRADIENT = 1e-9  # relative to the first, as in the paper's experiments
WITHIN = 0.01  # of the final population loss
SPACING = 1.02  # between the checkpoints at which the loss of an accelerated run is looked at
LONGEST = 10**15  # steps of a closed form
SETTLED = 50.0  # times the condition number: by then every error has shrunk by exp(-50)
MOST_ITERATIONS = 20_000_000  # of an accelerated run


@dataclass(frozen=True, slots=True)
class Iterations:
    """Iterations of one run; None where it was cut short."""

    to_gradient: int | None
    to_loss: int | None
    condition_number: float


def plain_to_gradient(training: Training, tolerance: float) -> int | None:
    """Steps of full-batch descent at 1/lambda_max; its closed form allows any tolerance."""

    def reached(steps: int) -> bool:
        return (GradientDescent(steps=steps).solve(training.equations).gradient or 0.0) < tolerance

    return _first(reached)


def plain_iterations(training: Training, tolerance: float = GRADIENT) -> Iterations:
    """Full-batch descent at step 1/lambda_max, located by bisection of its closed form."""
    final = _final_loss(training)

    def settled(t: int) -> bool:
        solution = GradientDescent(steps=t).solve(training.equations)
        return abs(float(population_loss(training, solution.coefficients)[0]) / final - 1.0) <= WITHIN

    # The loss may pass through the band and leave it again: look for the last time it is outside.
    grid = _checkpoints(int(min(LONGEST, SETTLED * training.condition_number)) + 1, ratio=1.1)
    last = max((t for t in grid if not settled(t)), default=0)
    after = next((t for t in grid if t > last), None)
    to_loss = None if after is None else _first(settled, low=last, high=after)
    return Iterations(plain_to_gradient(training, tolerance), to_loss, training.condition_number)


def predicted_iterations(inputs: Inputs, N: int, D: int) -> float:
    """Steps of full-batch descent until the loss in closed form is within 1 % of its end."""

    def above(log_steps: float) -> float:
        steps = round(np.exp(log_steps))
        return float(predict(inputs, N=N, D=D, solver=GradientDescent(steps=steps)).loss) / final - 1.0

    final = predict(inputs, N=N, D=D, solver=GradientDescent(steps=LONGEST)).loss
    root = brentq(lambda log_steps: above(log_steps) - WITHIN, 0.0, np.log(LONGEST), xtol=1e-3)
    return float(np.exp(root))


def accelerated_iterations(
    training: Training, tolerance: float = GRADIENT, most: int = MOST_ITERATIONS
) -> Iterations:
    """Nesterov's method with restart at the paper's step; the loss to within the spacing of checkpoints."""
    eigenvalues, b = training.equations.eigenvalues, training.equations.projections[:, 0].copy()
    step = nesterov_step(Nesterov(), training.equations)
    theta, ahead, momentum = np.zeros_like(b), np.zeros_like(b), 1.0
    final, done = _final_loss(training), 0
    to_gradient: int | None = None
    inside_since: int | None = None
    for t in _checkpoints(most, SPACING):
        outcome, ran, _, _, momentum = advance(
            eigenvalues, b, step, tolerance if to_gradient is None else 0.0, t - done, theta, ahead, momentum
        )
        done += ran
        loss = float(population_loss(training, theta[:, None])[0])
        if abs(loss / final - 1.0) > WITHIN:
            inside_since = None
        elif inside_since is None:
            inside_since = done
        if outcome == CONVERGED and to_gradient is None:
            to_gradient = done
        if to_gradient is not None and inside_since is not None:
            return Iterations(to_gradient, inside_since, training.condition_number)
    return Iterations(to_gradient, None, training.condition_number)


def _final_loss(training: Training) -> float:
    return float(population_loss(training, training.optimum[:, None])[0])


def _checkpoints(last: int, ratio: float) -> list[int]:
    """1, 2, 3, ... thinning out to a ratio between neighbours, up to ``last``."""
    points = [1]
    while points[-1] < last:
        points.append(min(max(points[-1] + 1, int(points[-1] * ratio)), last))
    return points


def _first(reached: Callable[[int], bool], low: int = 0, high: int | None = None) -> int | None:
    """The first t > low with reached(t), for a condition that stays reached; None beyond LONGEST."""
    if high is None:
        high = max(low, 1)
        while not reached(high):
            low, high = high, 2 * high
            if high > LONGEST:
                return None
    return low + 1 + bisect_left(range(low + 1, high), True, key=reached)


# The paper's table of iteration counts, measured: exponents in each regime, plain and accelerated.
#
# The paper takes the smallest resolved coordinate to be K(D) ~ D^(1/(alpha1+1)), hence a condition number
# kappa ~ min(N, K(D))^a with a = alpha1 + alpha2 + 2. But the rarest coordinate seen is j_max ~ D^(1/alpha1),
# it is seen once, and it sets the smallest eigenvalue c_j / D: kappa ~ D^(1 + (alpha2+1)/alpha1) where N >
# K(D). Iterations are kappa^p, p = 1 plain and 1/2 accelerated. Coordinates beyond K hardly matter to the
# loss, so that iterations to a loss and iterations to a gradient norm need not have the same exponent.

Regime = Literal["over", "intermediate", "under"]
REGIMES: tuple[Regime, ...] = ("over", "intermediate", "under")
OVER_D = (1_600, 3_200, 6_400, 12_800, 25_600)
UNDER_D = 200_000
SMALLEST_ALPHA1 = 0.5
TINY = 1e-30  # of the first gradient: small enough for the smallest eigenvalue to decide
WIDE = 4  # N / D in the heavily over-parameterised regime, N / K(D) in the intermediate one
DEEP = 4  # K(D) / N at the largest N of the under-parameterised regime
COUNTED = (  # what ``_run`` gives: method, until when, and the power of the condition number
    ("condition number", "", 1.0),
    ("gd", f"gradient {GRADIENT:g}", 1.0),
    ("gd", f"gradient {TINY:g}", 1.0),
    ("gd", "loss", 1.0),
    ("nesterov", f"gradient {GRADIENT:g}", 0.5),
    ("nesterov", "loss", 0.5),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One exponent of the table: of iterations, or of the condition number, against D (or N)."""

    regime: Regime
    method: str  # gd, nesterov, or condition number
    until: str  # a relative gradient norm, loss (within 1 % of the final one), or empty
    variable: str  # D or N
    measured: Interval
    paper: float
    corrected: float  # equal to the paper's in the under-parameterised regime
    follows: str  # which prediction the data are compatible with, or nearer to; both; neither
    closed_form: float | None = None  # of the loss of unfinished training, at these very sizes


def cost_table(
    inputs: SparseInputs,
    seeds: int = 40,
    regimes: Sequence[Regime] = REGIMES,
    map_: Callable[..., Iterable[list[float]]] = map,
) -> list[Row]:
    """All rows of the regimes asked for. ``map_`` may be an executor's, to measure on several processes."""
    if inputs.alpha1 < SMALLEST_ALPHA1:
        condition = f"K(D) is not well below D in reach of a measurement for alpha1 < {SMALLEST_ALPHA1}"
        raise InputError("alpha1", inputs.alpha1, condition, f"choose alpha1 >= {SMALLEST_ALPHA1}")
    table = []
    for regime in regimes:
        grid = sizes(inputs, regime)
        tasks = [Task(inputs=inputs, N=N, D=D, seed=seed) for seed in range(seeds) for N, D in grid]
        values = np.reshape(list(map_(_run, tasks)), (seeds, len(grid), len(COUNTED)))
        variable = "N" if regime == "under" else "D"
        axis = [N if regime == "under" else D for N, D in grid]
        for k, (method, until, power) in enumerate(COUNTED):
            measured = exponent(axis, values[:, :, k])
            paper, corrected = (power * prediction for prediction in predictions(inputs, regime))
            which, closed = follows(measured, paper, corrected), None
            if (method, until) == ("gd", "loss"):
                steps = [predicted_iterations(inputs, N, D) for N, D in grid]
                closed = float(log_slope(axis, steps)[0])
            table.append(Row(regime, method, until, variable, measured, paper, corrected, which, closed))
    return table


def _run(task: Task) -> list[float]:
    """One number for each of COUNTED; nan where a run was cut short."""
    training = prepare_training(task)
    plain, fast = plain_iterations(training), accelerated_iterations(training)
    counts = [plain.to_gradient, plain_to_gradient(training, TINY), plain.to_loss]
    counts += [fast.to_gradient, fast.to_loss]
    return [plain.condition_number, *(math.nan if count is None else float(count) for count in counts)]


def sizes(inputs: SparseInputs, regime: Regime) -> list[tuple[int, int]]:
    """The (N, D) of a regime: N = 4 D; N = 4 K(D), or half way to D if that is less; N below K(D) / 4."""
    if regime == "over":
        return [(WIDE * D, D) for D in OVER_D]
    if regime == "intermediate":
        seen = [asymptotic_seen(inputs, D) for D in OVER_D]
        return [(round(min(WIDE * K, math.sqrt(K * D))), D) for K, D in zip(seen, OVER_D, strict=True)]
    widths = np.geomspace(4.0, max(asymptotic_seen(inputs, UNDER_D) / DEEP, 8.0), 5)
    return [(round(N), UNDER_D) for N in widths]


def predictions(inputs: SparseInputs, regime: Regime) -> tuple[float, float]:
    """The exponent of the condition number: the paper's, and the corrected one."""
    a = inputs.power_law().spectrum
    return (a, a) if regime == "under" else condition_exponents(inputs)


def follows(measured: Interval, paper: float, corrected: float) -> str:
    """Which prediction lies in the interval; if none does, the one that is much nearer, else neither."""
    inside = [measured.contains(paper), measured.contains(corrected)]
    if any(inside):
        return "both" if all(inside) else "paper" if inside[0] else "corrected"
    far = abs(measured.best - paper), abs(measured.best - corrected)
    if min(far) > max(far) / 3.0:
        return "neither"
    return "nearer the paper" if far[0] < far[1] else "nearer the corrected"


def exponent(sizes: Sequence[float], values: FloatArray) -> Interval:
    """The slope of log value against log size; ``values`` is (seeds, sizes).

    Each seed gives a slope of its own by least squares. They are independent and alike, so their mean has a
    Student interval, whatever the shape of the curve: it is the exponent over this range of sizes.
    """
    slopes = [float(slope) for slope in log_slope(sizes, values)[0]]
    return student_interval(slopes) if len(slopes) > 1 else Interval(-math.inf, slopes[0], math.inf)
