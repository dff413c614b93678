"""One training problem in its eigenbasis: what every descent of this room runs on.

Linear features, one teacher. The descent lives on r coefficients, theta = V c, with the Hessian diagonal. The
population loss is a quadratic in them,
  floor + unseen (1 + |c|^2 / N) + (a - E c)^T Sigma (a - E c),   E = U^T V,
averaged over what the data never show; the training loss is the mean square error over the D samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.data.dense import factor_vectors
from sparselaw.data.gram import scaled_gram
from sparselaw.data.patterns import distinct_patterns
from sparselaw.data.sparse import draw_sparse
from sparselaw.errors import InputError
from sparselaw.inputs import ActivationInputs
from sparselaw.linalg.factor import factorise
from sparselaw.solvers.equations import NormalEquations
from sparselaw.trials.linear_filter import prepare
from sparselaw.trials.linear_problem import LinearProblem, draw_embedding
from sparselaw.trials.linear_sparse import visible
from sparselaw.trials.task import Task, random_stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The normal equations of one teacher, the samples behind them and the population loss they lead to."""

    equations: NormalEquations  # one target
    problem: LinearProblem
    left: FloatArray  # E (n, r)
    teacher: FloatArray  # a (n,)
    inputs: FloatArray | sparse.csr_array  # (P, n) distinct samples in the n coordinates of the problem
    targets: FloatArray  # (D,) in the order of np.repeat(inputs, counts)
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
        return np.asarray(self.inputs @ self.left)


def prepare_training(task: Task) -> Training:
    """Draw data, embedding and teacher of ``task`` (linear features); the solver it names is not used."""
    if task.features != "linear":
        raise InputError("features", task.features, "dynamics are those of linear features", "choose linear")
    return _DRAWS[task.inputs.sampling](task)


def population_loss(training: Training, coefficients: FloatArray) -> FloatArray:
    """Of each column of coefficients (r, T); inf where a descent has overflowed."""
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


def training_loss(training: Training, coefficients: FloatArray) -> FloatArray:
    """Mean square error over the samples, of each column of coefficients (r, T)."""
    eigenvalues, optimum = training.equations.eigenvalues, training.optimum
    least = float(training.targets @ training.targets) / training.equations.samples - float(
        eigenvalues @ optimum**2
    )
    with np.errstate(over="ignore", invalid="ignore"):
        loss: FloatArray = eigenvalues @ (coefficients - optimum[:, None]) ** 2 + max(least, 0.0)
    loss[~np.isfinite(loss)] = np.inf
    return loss


def relative_gradient(training: Training, coefficients: FloatArray) -> FloatArray:
    """|H c - b| / |b| of each column."""
    equations = training.equations
    with np.errstate(over="ignore", invalid="ignore"):
        gradient = equations.eigenvalues[:, None] * coefficients - equations.projections
        size: FloatArray = np.linalg.norm(gradient, axis=0) / np.linalg.norm(equations.projections)
    size[~np.isfinite(size)] = np.inf
    return size


def _sparse(task: Task) -> Training:
    inputs = cast(ActivationInputs, task.inputs)
    data = visible(inputs, draw_sparse(inputs, task.D, random_stream(task, "data")))
    problem = LinearProblem(
        factor=factorise(scaled_gram(data, inputs.amplitudes(data.active))).values,
        embedding=draw_embedding(task.N, data.active.size, random_stream(task, "embedding")),
        covariance=inputs.variances(data.active),
        teacher_covariance=None,
        unseen=inputs.unseen_variance(data.active),
        floor=0.0,
        noise=task.noise,
        width=task.N,
        samples=task.D,
    )
    patterns = distinct_patterns(inputs, data)
    teacher = random_stream(task, "teacher").standard_normal(data.active.size)
    return _assemble(task, problem, teacher, patterns.matrix(data.active.size), patterns.counts)


def _dense(task: Task) -> Training:
    """In the span of the data for N >= D, in that of the embedding's rows for N < D."""
    dimension = task.inputs.dimension
    if np.isinf(dimension):
        raise InputError("dimension", "inf", "dense samples are drawn in full", "choose a finite dimension")
    v = task.inputs.variances(np.arange(1.0, dimension + 1.0))
    data, embedding = random_stream(task, "data"), random_stream(task, "embedding")
    w = random_stream(task, "teacher").standard_normal(v.size)
    if min(task.N, task.D) > v.size:
        samples = np.sqrt(v)[:, None] * data.standard_normal((v.size, task.D))
        return _dense_training(task, samples, draw_embedding(task.N, v.size, embedding), v, w, 0.0, 0.0)
    if task.N < task.D:
        span, triangle = factor_vectors(v, embedding.standard_normal((v.size, task.N)))
        teacher = span.T @ (np.sqrt(v) * w)
        left_out = np.sqrt(v) * w - span @ teacher
        samples = data.standard_normal((task.N, task.D))
        rows, floor = triangle.T / np.sqrt(task.N), float(left_out @ left_out)
        return _dense_training(task, samples, rows, np.ones(task.N), teacher, 0.0, floor)
    span, samples = factor_vectors(v, data.standard_normal((v.size, task.D)))
    inside = (span.T * v) @ span
    unseen = max(float(v.sum() - np.trace(inside)), 0.0)
    rows = draw_embedding(task.N, task.D, embedding)
    return _dense_training(task, samples, rows, inside, span.T @ w, unseen, 0.0)


def _dense_training(
    task: Task,
    samples: FloatArray,
    embedding: FloatArray,
    covariance: FloatArray,
    teacher: FloatArray,
    unseen: float,
    floor: float,
) -> Training:
    """What the coordinates leave out of the target acts as label noise, of variance ``floor``."""
    problem = LinearProblem(
        factor=samples,
        embedding=embedding,
        covariance=covariance,
        teacher_covariance=None,
        unseen=unseen,
        floor=floor,
        noise=floor + task.noise,
        width=task.N,
        samples=task.D,
    )
    return _assemble(task, problem, teacher, samples.T, np.ones(task.D, dtype=np.int64))


def _assemble(
    task: Task,
    problem: LinearProblem,
    teacher: FloatArray,
    inputs: FloatArray | sparse.csr_array,
    counts: IntArray,
) -> Training:
    eigenbasis = prepare(problem)
    clean = np.repeat(np.asarray(inputs @ teacher), counts)
    targets = clean + np.sqrt(problem.noise) * random_stream(task, "noise").standard_normal(task.D)
    sums = np.add.reduceat(targets, np.concatenate([[0], np.cumsum(counts)[:-1]]))
    projections = eigenbasis.left.T @ (inputs.T @ sums) / task.D
    equations = NormalEquations(
        eigenvalues=eigenbasis.eigenvalues, projections=projections[:, None], samples=task.D
    )
    return Training(
        equations=equations,
        problem=problem,
        left=eigenbasis.left,
        teacher=teacher,
        inputs=inputs,
        targets=targets,
        counts=counts,
    )


_DRAWS = {"activations": _sparse, "gaussian": _dense}
