"""One training problem in its eigenbasis: what every descent of this room runs on.

Linear features, one teacher. The descent lives on r coefficients, theta = V c, with the Hessian diagonal. The
population loss is a quadratic in them,
  floor + unseen (1 + |c|^2 / N) + (a - E c)^T Sigma (a - E c),   E = U^T V,
averaged over what the data never show; the training loss is the mean square error over the D samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.solvers.equations import NormalEquations
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
