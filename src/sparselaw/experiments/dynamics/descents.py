"""One training problem in its eigenbasis: what every descent of this room runs on.

Linear features, one teacher. The descent lives on r coefficients, theta = V c, with the Hessian diagonal. The
population loss is a quadratic in them,
  floor + unseen (1 + |c|^2 / N) + (a - E c)^T Sigma (a - E c),   E = U^T V,
averaged over what the data never show; the training loss is the mean square error over the D samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import njit
from sparselaw.errors import InputError
from sparselaw.solvers import SGD, GradientDescent, Nesterov
from sparselaw.solvers.base import NormalEquations
from sparselaw.solvers.gradient_descent import largest_stable_step
from sparselaw.solvers.nesterov import GREW, advance, nesterov_step
from sparselaw.solvers.sgd import default_step, one_pass
from sparselaw.trials.linear_problem import LinearProblem, draw_one_teacher
from sparselaw.trials.linear_readout import prepare
from sparselaw.trials.task import Task, random_stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The normal equations of one teacher, the samples behind them and the population loss they lead to."""

    equations: NormalEquations  # one target
    problem: LinearProblem
    left: FloatArray  # E (n, r)
    teacher: FloatArray  # a (n,)
    samples: FloatArray | sparse.csr_array  # (P, n) distinct samples in the n coordinates of the problem
    targets: FloatArray  # (D,) in the order of np.repeat(samples, counts)
    counts: IntArray  # (P,)

    @property
    def condition_number(self) -> float:
        return float(self.equations.eigenvalues[0] / self.equations.eigenvalues[-1])

    @property
    def optimum(self) -> FloatArray:
        """The minimum-norm solution, where every stable descent ends."""
        return self.equations.projections[:, 0] / self.equations.eigenvalues

    def rows(self) -> FloatArray:
        """The features of the distinct samples in the eigenbasis (P, r)."""
        return np.asarray(self.samples @ self.left)


def prepare_training(task: Task) -> Training:
    """Draw data, embedding and teacher of ``task`` (linear features); the solver it names is not used."""
    if not task.feature_map.has_surface:
        raise InputError("features", task.features, "dynamics are those of linear features", "choose linear")
    task.inputs.check_drawable()
    drawn = draw_one_teacher(task, samples=True)
    assert drawn.samples is not None
    problem, samples = drawn.problem, drawn.samples
    counts = np.ones(task.D, dtype=np.int64) if drawn.counts is None else drawn.counts
    eigenbasis = prepare(problem)
    clean = np.repeat(np.asarray(samples @ drawn.teacher), counts)
    targets = clean + np.sqrt(problem.noise) * random_stream(task, "noise").standard_normal(task.D)
    sums = np.add.reduceat(targets, np.concatenate([[0], np.cumsum(counts)[:-1]]))
    projections = eigenbasis.left.T @ (samples.T @ sums) / task.D
    return Training(
        equations=NormalEquations(
            eigenvalues=eigenbasis.eigenvalues, projections=projections[:, None], samples=task.D
        ),
        problem=problem,
        left=eigenbasis.left,
        teacher=drawn.teacher,
        samples=samples,
        targets=targets,
        counts=counts,
    )


def population_loss(training: Training, coefficients: FloatArray) -> FloatArray:
    """The population loss of each column of coefficients (r, T); inf where a descent has overflowed."""
    problem = training.problem
    with np.errstate(over="ignore", invalid="ignore"):
        error = training.teacher[:, None] - training.left @ coefficients
        if problem.covariance.ndim == 1:
            seen = problem.covariance @ error**2
        else:
            seen = np.einsum("it,it->t", error, problem.covariance @ error)
        norms = np.einsum("it,it->t", coefficients, coefficients)
        loss: FloatArray = problem.floor + problem.unseen * (1.0 + norms / problem.width) + seen
    loss[~np.isfinite(loss)] = np.inf
    return loss


# Losses along a descent, at the steps asked for.


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


def _curve(
    method: str,
    step: float,
    steps: Sequence[int],
    training: Training,
    kept: Sequence[FloatArray],
    status: str,
) -> Curve:
    """``kept`` has the coefficients after each of the steps."""
    equations, optimum = training.equations, training.optimum
    coefficients = np.column_stack(kept)
    least = float(training.targets @ training.targets) / equations.samples
    least = max(least - float(equations.eigenvalues @ optimum**2), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        error = equations.eigenvalues @ (coefficients - optimum[:, None]) ** 2 + least
        gradients = equations.eigenvalues[:, None] * coefficients - equations.projections
        gradient = np.linalg.norm(gradients, axis=0) / np.linalg.norm(equations.projections)
    return Curve(
        method=method,
        step=step,
        steps=tuple(steps),
        population_loss=population_loss(training, coefficients),
        training_loss=np.where(np.isfinite(error), error, np.inf),
        gradient=np.where(np.isfinite(gradient), gradient, np.inf),
        status=status,
    )


def gradient_descent_curve(training: Training, steps: Sequence[int], step: float | None = None) -> Curve:
    """Full-batch descent in closed form: no step count costs more than another."""
    solutions = [GradientDescent(steps=t, step=step).solve(training.equations) for t in steps]
    eta = 1.0 / float(training.equations.eigenvalues[0]) if step is None else step
    status = "diverged" if eta > largest_stable_step(training.equations) else "ok"
    return _curve("gd", eta, steps, training, [s.coefficients[:, 0] for s in solutions], status)


def nesterov_curve(training: Training, steps: Sequence[int], step: float | None = None) -> Curve:
    """Nesterov's method with restart, run once through the ascending ``steps``."""
    eta = nesterov_step(Nesterov(), training.equations) if step is None else step
    eigenvalues, b = training.equations.eigenvalues, training.equations.projections[:, 0].copy()
    theta, ahead, momentum = np.zeros_like(b), np.zeros_like(b), 1.0
    kept, status = [], "ok"
    for more in np.diff(steps, prepend=0).tolist():
        if status == "ok":
            outcome, *_, momentum = advance(eigenvalues, b, eta, 0.0, more, theta, ahead, momentum)
            status = "diverged" if outcome == GREW else "ok"
        kept.append(theta.copy() if status == "ok" else np.full_like(theta, np.inf))
    return _curve("nesterov", eta, steps, training, kept, status)


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
    kept = []
    for more in np.diff(passes, prepend=0).tolist():
        for _ in range(more):
            order = rng.permutation(len(row_of_sample))
            one_pass(theta, theta, rows, targets, row_of_sample[order], order, eta, settings.batch, 0.0, clip)
        kept.append(theta[0].copy())
    status = "ok" if np.isfinite(kept).all() else "diverged"
    return _curve("sgd", eta, passes, training, kept, status)


def clipped_curve(training: Training, steps: Sequence[int], step: float, clip: float) -> Curve:
    """Full-batch descent whose gradient is shortened to length ``clip`` wherever it is longer."""
    eigenvalues, b = training.equations.eigenvalues, training.equations.projections[:, 0].copy()
    theta = np.zeros_like(b)
    kept = []
    for more in np.diff(steps, prepend=0).tolist():
        clipped_descent(eigenvalues, b, step, clip, more, theta)
        kept.append(theta.copy())
    return _curve("clipped gd", step, steps, training, kept, "ok")


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


def compare_small_steps(
    training: Training, passes: Sequence[int], rng: np.random.Generator, step: float, batch: int = 1
) -> FloatArray:
    """The population loss by SGD over that by full-batch descent, after each number of ``passes``.

    Both start from zero; a batch gradient has the mean of the full one, so updates are matched one to one.
    """
    updates = -(-training.equations.samples // batch)
    sgd = sgd_curve(training, passes, rng, step, batch)
    full = gradient_descent_curve(training, [count * updates for count in passes], step)
    return sgd.population_loss / full.population_loss
