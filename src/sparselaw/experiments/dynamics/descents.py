"""One training problem in its eigenbasis: what every descent of this room runs on.

Linear features, one teacher. The descent lives on r coefficients, theta = V c, with the Hessian diagonal. The
population loss is a quadratic in them,
  floor + unseen (1 + |c|^2 / N) + (a - E c)^T Sigma (a - E c),   E = U^T V,
averaged over what the data never show; the training loss is the mean square error over the D samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import njit
from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse
from sparselaw.errors import InputError
from sparselaw.inputs import ActivationInputs
from sparselaw.solvers import SGD, GradientDescent, Nesterov
from sparselaw.solvers.base import NormalEquations
from sparselaw.solvers.gradient_descent import largest_stable_step
from sparselaw.solvers.nesterov import GREW, advance, nesterov_step
from sparselaw.solvers.sgd import MixedRows, default_step, one_pass
from sparselaw.trials.linear_problem import LinearProblem, draw_embedding, draw_one_teacher
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


# SGD with a given number of passes: how the loss falls with D, and how the exponent depends on the passes.
#
# A coordinate seen n_j times has been moved through a curvature n_j c_j / D for passes * D steps of size eta,
# so it is learned once eta * passes * n_j c_j > 1. With a fixed number of passes the coordinates learned are
# those with passes * D s_j > 1, j < (passes D)^(1/a), a = alpha1 + alpha2 + 2, and the loss falls as
#   D^-(a-1)/a,   slower than the D^-(a-1)/(alpha1+1) of training to the end whenever alpha2 > -1.
# The passes needed to learn every coordinate seen grow as D^((alpha2+1)/(alpha1+1)): at a fixed number of
# passes a D-sweep crosses over from the steeper law to the shallower one.


# SGD for several teachers at once, on the same samples in the same order: means with little scatter.
#
# A run is linear in its targets, and its loss a quadratic form of the teacher. With signs as the teacher's
# components the diagonal of that form, its mean, comes out exactly; a few teachers take the rest down. N may
# be infinite: then the features are the coordinates themselves.

TEACHERS = 8


def sgd_loss(
    inputs: ActivationInputs,
    N: float,
    D: int,
    solver: SGD,
    noise: float = 0.0,
    seed: int = 0,
    teachers: int = TEACHERS,
    steps: Sequence[float] | None = None,
) -> float:
    """The population loss of one run, averaged over teachers and over what the data never show.

    ``steps`` has the step of each pass, in place of the solver's one.
    """
    rng = np.random.Generator(np.random.PCG64([seed, D, 17]))
    data = draw_sparse(inputs, D, rng)
    n = data.active.size
    patterns = distinct_patterns(inputs, data)
    mixing = np.empty((0, n)) if math.isinf(N) else draw_embedding(int(N), n, rng)
    rows = MixedRows(samples=patterns.matrix(n), mixing=mixing)
    inner = np.ascontiguousarray(mixing.T @ mixing) if mixing.size else np.empty((0, 0))
    hot = rows.hot(patterns.counts)[0] if mixing.size else n
    teacher = rng.choice(np.array([-1.0, 1.0]), size=(n, teachers))
    step = 1.0 / float(np.sum(inputs.variances(data.active))) if solver.step is None else solver.step
    error, moved = teacher.copy(), np.zeros((n, teachers))
    labels = math.sqrt(noise) * rng.standard_normal((D if noise > 0.0 else 1, teachers))
    samples = rows.samples
    for size in steps if steps is not None else [step] * solver.passes:
        order = rng.permutation(D)
        _pass(
            error, moved, teacher, inner, samples.indptr, samples.indices, samples.data,
            patterns.inverse[order], labels, order if noise > 0.0 else np.zeros(D, dtype=np.int64),
            size, solver.batch, hot,
        )  # fmt: skip
    unseen = inputs.unseen_variance(data.active)
    norm = 0.0
    if mixing.size:
        error = teacher - inner @ moved
        norm = float(np.mean(np.sum(moved * (inner @ moved), axis=0)))
    seen = float(np.mean(inputs.variances(data.active) @ error**2))
    return seen + unseen * (1.0 + (norm / N if mixing.size else 0.0))


@njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def _pass(error, moved, teacher, inner, starts, columns, values, rows, labels, label, step, batch, hot):  # type: ignore[no-untyped-def]
    """One pass; ``error`` (n, T) is teacher - W moved, kept for the first ``hot`` coordinates."""
    n, teachers = error.shape
    residuals = np.empty((min(batch, max(rows.size, 1)), teachers))
    for begin in range(0, rows.size, batch):
        size = min(batch, rows.size - begin)
        for k in range(size):
            row = rows[begin + k]
            for t in range(teachers):
                residuals[k, t] = labels[label[begin + k], t]
            for i in range(starts[row], starts[row + 1]):
                j = columns[i]
                if j >= hot:
                    error[j] = teacher[j]
                    for c in range(n):
                        w = inner[j, c]
                        for t in range(teachers):
                            error[j, t] -= w * moved[c, t]
                for t in range(teachers):
                    residuals[k, t] += values[i] * error[j, t]
        for k in range(size):
            row = rows[begin + k]
            for i in range(starts[row], starts[row + 1]):
                j = columns[i]
                change = step / size * values[i]
                if inner.size == 0:
                    for t in range(teachers):
                        error[j, t] -= change * residuals[k, t]
                else:
                    for t in range(teachers):
                        moved[j, t] += change * residuals[k, t]
                    for h in range(hot):
                        w = change * inner[j, h]
                        for t in range(teachers):
                            error[h, t] -= w * residuals[k, t]
