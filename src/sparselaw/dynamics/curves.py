"""Losses along a descent, at the steps asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit
from sparselaw.dynamics.training import Training, population_loss, relative_gradient, training_loss
from sparselaw.solvers import SGD, GradientDescent, Nesterov
from sparselaw.solvers.gradient_descent import largest_stable_step
from sparselaw.solvers.loops import GREW, advance, one_pass
from sparselaw.solvers.nesterov import nesterov_step
from sparselaw.solvers.sgd import default_step


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Losses after ``steps`` updates (passes over the data for SGD); inf once a descent has overflowed."""

    method: str
    step: float  # eta
    steps: tuple[int, ...]
    population_loss: FloatArray
    training_loss: FloatArray
    gradient: FloatArray  # |gradient| / |first gradient| of the full batch
    status: str  # ok, or diverged


def gradient_descent_curve(training: Training, steps: Sequence[int], step: float | None = None) -> Curve:
    """Full-batch descent in closed form: no step count costs more than another."""
    solutions = [GradientDescent(steps=t, step=step).solve(training.equations) for t in steps]
    coefficients = np.column_stack([solution.coefficients[:, 0] for solution in solutions])
    eta = 1.0 / float(training.equations.eigenvalues[0]) if step is None else step
    status = "diverged" if eta > largest_stable_step(training.equations) else "ok"
    return _curve("gd", eta, steps, training, coefficients, status)


def nesterov_curve(training: Training, steps: Sequence[int], step: float | None = None) -> Curve:
    """Nesterov's method with restart, run once through the ascending ``steps``."""
    settings = Nesterov()
    eta = nesterov_step(settings, training.equations) if step is None else step
    eigenvalues, b = training.equations.eigenvalues, training.equations.projections[:, 0].copy()
    theta, ahead, momentum = np.zeros_like(b), np.zeros_like(b), 1.0
    kept, done, status = [], 0, "ok"
    for t in steps:
        if status == "ok":
            outcome, *_, momentum = advance(eigenvalues, b, eta, 0.0, t - done, theta, ahead, momentum)
            status = "diverged" if outcome == GREW else "ok"
        kept.append(theta.copy() if status == "ok" else np.full_like(theta, np.inf))
        done = t
    return _curve("nesterov", eta, steps, training, np.column_stack(kept), status)


def sgd_curve(
    training: Training,
    passes: Sequence[int],
    rng: np.random.Generator,
    step: float | None = None,
    batch: int = 1,
    clip: float = np.inf,
) -> Curve:
    """Minibatch descent, one run recorded after each of the ascending numbers of ``passes``."""
    settings = SGD(passes=max(passes), step=step, batch=batch)
    rows = training.rows()
    eta = default_step(rows, training.counts) if settings.step is None else settings.step
    row_of_sample = np.repeat(np.arange(len(rows)), training.counts)
    targets = training.targets[:, None]
    theta = np.zeros((1, rows.shape[1]))
    kept, done = [], 0
    for count in passes:
        for _ in range(count - done):
            order = rng.permutation(len(row_of_sample))
            one_pass(theta, rows, targets, row_of_sample[order], order, eta, settings.batch, clip)
        kept.append(theta[0].copy())
        done = count
    coefficients = np.column_stack(kept)
    status = "ok" if np.isfinite(coefficients).all() else "diverged"
    return _curve("sgd", eta, passes, training, coefficients, status)


def clipped_curve(training: Training, steps: Sequence[int], step: float, clip: float) -> Curve:
    """Full-batch descent whose gradient is shortened to length ``clip`` wherever it is longer."""
    eigenvalues, b = training.equations.eigenvalues, training.equations.projections[:, 0].copy()
    theta = np.zeros_like(b)
    kept, done = [], 0
    for t in steps:
        clipped_descent(eigenvalues, b, step, clip, t - done, theta)
        kept.append(theta.copy())
        done = t
    return _curve("clipped gd", step, steps, training, np.column_stack(kept), "ok")


@njit(fastmath={"reassoc", "contract"})
def clipped_descent(eigenvalues, projections, step, clip, steps, theta):  # type: ignore[no-untyped-def]
    """theta <- theta - step * g * min(1, clip / |g|), in place."""
    for _ in range(steps):
        square = 0.0
        for i in range(theta.size):
            g = eigenvalues[i] * theta[i] - projections[i]
            square += g * g
        length = np.sqrt(square)
        move = step * clip / length if length > clip else step
        for i in range(theta.size):
            theta[i] -= move * (eigenvalues[i] * theta[i] - projections[i])


def _curve(
    method: str, step: float, steps: Sequence[int], training: Training, coefficients: FloatArray, status: str
) -> Curve:
    return Curve(
        method=method,
        step=step,
        steps=tuple(steps),
        population_loss=population_loss(training, coefficients),
        training_loss=training_loss(training, coefficients),
        gradient=relative_gradient(training, coefficients),
        status=status,
    )
