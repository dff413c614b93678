"""How many iterations a descent needs: to a gradient norm, and to a population loss."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from sparselaw.dynamics.training import Training, population_loss
from sparselaw.inputs import Inputs
from sparselaw.solvers import GradientDescent, Nesterov
from sparselaw.solvers.loops import CONVERGED, advance
from sparselaw.solvers.nesterov import nesterov_step
from sparselaw.theory import predict

GRADIENT = 1e-9  # relative to the first, as in the paper's experiments
WITHIN = 0.01  # of the final population loss
SPACING = 1.02  # between the checkpoints at which the loss of an accelerated run is looked at
LONGEST = 10**15  # steps of a closed form
SETTLED = 50.0  # times the condition number: by then every error has shrunk by exp(-50)
MOST_ITERATIONS = 20_000_000  # of an accelerated run


@dataclass(frozen=True, slots=True, kw_only=True)
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
    outside = [t for t in grid if not settled(t)]
    last = max(outside, default=0)
    later = [t for t in grid if t > last]
    to_loss = _first(settled, low=last, high=later[0]) if later else None
    return Iterations(
        to_gradient=plain_to_gradient(training, tolerance),
        to_loss=to_loss,
        condition_number=training.condition_number,
    )


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
            return Iterations(
                to_gradient=to_gradient,
                to_loss=inside_since,
                condition_number=training.condition_number,
            )
    return Iterations(to_gradient=to_gradient, to_loss=None, condition_number=training.condition_number)


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
