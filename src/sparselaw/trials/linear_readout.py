"""Population loss of a linear readout in the eigenbasis, for every solver.

With the SVD Y = U F = V S R^T, E = U^T V and B = F R, a filter h of the eigenvalues S^2/D gives
theta = V g R^T t with g = h S / D, hence U^T theta = E g B^T a + E g R^T eta. Then the averages over the
teacher a and the noise eta are traces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
import scipy.linalg
from scipy import sparse

from sparselaw.arrays import FloatArray
from sparselaw.data.sparse_samples import SparseData, draw_sparse, sign_matrix
from sparselaw.inputs import ActivationInputs
from sparselaw.solvers import Solution, Solver
from sparselaw.solvers.equations import NormalEquations
from sparselaw.solvers.mixed_rows import MixedRows, Rows
from sparselaw.trials.linear_problem import LinearProblem, OneTeacher
from sparselaw.trials.task import Task, random_stream

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Eigenbasis:
    """A linear problem prepared for any number of filters and teachers."""

    problem: LinearProblem
    singular: FloatArray  # (m,) the positive singular values of Y, descending
    basis: FloatArray  # V (k, m)
    left: FloatArray  # E (n, m)
    right: FloatArray  # B (n, m)

    @property
    def eigenvalues(self) -> FloatArray:
        return self.singular**2 / self.problem.samples


def prepare(problem: LinearProblem) -> Eigenbasis:
    features = problem.embedding @ problem.factor
    basis, singular, rows = scipy.linalg.svd(features, full_matrices=False, check_finite=False)
    kept = singular > EPSILON * max(features.shape) * singular[0]
    basis = basis[:, kept]
    return Eigenbasis(
        problem=problem,
        singular=singular[kept],
        basis=basis,
        left=problem.embedding.T @ basis,
        right=problem.factor @ rows[kept].T,
    )


def averaged_loss(solver: Solver, eigenbasis: Eigenbasis) -> tuple[float, Solution]:
    """Mean over teacher and noise for a solver that is a linear filter.

    The solver is given the root mean square of each projection, so that its figures (gradient, status) mean
    what they say; the filter is what it does to them.
    """
    problem, singular = eigenbasis.problem, eigenbasis.singular
    power = quadratic_rows(eigenbasis.right.T, problem.teacher_covariance) + problem.noise
    projections = singular * np.sqrt(power) / problem.samples
    equations = NormalEquations(
        eigenvalues=eigenbasis.eigenvalues, projections=projections[:, None], samples=problem.samples
    )
    solution = solver.solve(equations)
    if solution.status == "diverged" or not np.isfinite(solution.coefficients).all():
        return float("inf"), solution
    moving = projections > 0.0
    gain = np.zeros_like(singular)
    gain[moving] = solution.coefficients[moving, 0] / np.sqrt(power[moving])
    return loss_of_gain(problem, eigenbasis.left, eigenbasis.right, gain), solution


def loss_of_gain(problem: LinearProblem, left: FloatArray, right: FloatArray, gain: FloatArray) -> float:
    """The average population loss of theta = V gain R^T t."""
    scaled = right * gain
    error = -(left @ scaled.T)
    error[np.diag_indices(error.shape[0])] += 1.0
    norm = float(quadratic_rows(scaled.T, problem.teacher_covariance).sum())
    return (
        problem.floor
        + weighted(problem.covariance, error, problem.teacher_covariance)
        + problem.unseen * (1.0 + norm / problem.width)
        + noise_part(problem, left * gain, float(gain @ gain))
    )


def noise_part(problem: LinearProblem, response: FloatArray, norm: float) -> float:
    """q (tr(Sigma response response^T) + unseen |S|^2 / N): what label noise adds to the loss."""
    if problem.noise == 0.0:
        return 0.0
    variance = weighted(problem.covariance, response, None)
    return problem.noise * (variance + problem.unseen * norm / problem.width)


def weighted(covariance: FloatArray, matrix: FloatArray, inner: FloatArray | None) -> float:
    """tr(Sigma matrix inner matrix^T), Sigma diagonal or full."""
    if covariance.ndim == 1:
        return float(covariance @ quadratic_rows(matrix, inner))
    product = matrix if inner is None else matrix @ inner
    return float(np.sum((covariance @ product) * matrix))


def quadratic_rows(rows: FloatArray, inner: FloatArray | None) -> FloatArray:
    """row inner row^T for every row."""
    total: FloatArray = np.einsum("ij,ij->i", rows if inner is None else rows @ inner, rows)
    return total


# One teacher, one label noise, one readout: for solvers whose answer cannot be averaged over teachers.


@dataclass(frozen=True, slots=True, kw_only=True)
class Readout:
    theta: FloatArray  # (k,) in the rows of the embedding; not finite where the descent diverged
    solution: Solution

    @property
    def diverged(self) -> bool:
        return self.solution.status == "diverged" or not bool(np.isfinite(self.theta).all())


def train(task: Task, drawn: OneTeacher) -> Readout:
    """The readout of one draw by the solver of ``task``."""
    noise = random_stream(task, "noise")
    if task.solver.by_samples:
        return train_on_samples(task.solver, drawn, noise, random_stream(task, "order"))
    return train_on_equations(task.solver, drawn.problem, drawn.teacher, noise)


def train_on_equations(
    solver: Solver, problem: LinearProblem, teacher: FloatArray, noise: np.random.Generator
) -> Readout:
    """The readout for teacher a (n,) by any solver that works on the normal equations."""
    eigenbasis = prepare(problem)
    label_noise = np.sqrt(problem.noise) * noise.standard_normal(eigenbasis.singular.size)
    target = eigenbasis.right.T @ teacher + label_noise
    equations = NormalEquations(
        eigenvalues=eigenbasis.eigenvalues,
        projections=(eigenbasis.singular * target / problem.samples)[:, None],
        samples=problem.samples,
    )
    solution = solver.solve(equations)
    return Readout(theta=eigenbasis.basis @ solution.coefficients[:, 0], solution=solution)


def train_on_samples(
    solver: Solver, drawn: OneTeacher, noise: np.random.Generator, order: np.random.Generator
) -> Readout:
    """The readout by a solver that takes one sample after the other.

    Each sample has its own label noise, so that with noise the targets are given sample by sample.
    """
    assert drawn.samples is not None
    problem, counts = drawn.problem, drawn.counts
    rows: Rows
    if solver.takes_mixed and isinstance(drawn.samples, sparse.csr_array):
        rows = MixedRows(samples=drawn.samples, mixing=problem.embedding)
    else:
        rows = np.asarray(drawn.samples @ problem.embedding.T)
    targets = np.asarray(drawn.samples @ drawn.teacher)
    if problem.noise > 0.0:
        if counts is not None:
            targets = np.repeat(targets, counts)
        targets = targets + np.sqrt(problem.noise) * noise.standard_normal(targets.size)
    solution = solver.solve_samples(rows, targets[:, None], order, counts)
    return Readout(theta=solution.coefficients[:, 0], solution=solution)


def loss_of_readout(problem: LinearProblem, teacher: FloatArray, readout: Readout) -> float:
    """The population loss, averaged over what the data never show."""
    if readout.diverged:
        return float("inf")
    theta = readout.theta
    with np.errstate(over="ignore", invalid="ignore"):  # noise whose squares no number holds
        error = teacher - problem.embedding.T @ theta
        seen = weighted(problem.covariance, error[:, None], None)
        return problem.floor + problem.unseen * (1.0 + float(theta @ theta) / problem.width) + seen


# The paper's own estimator: the mean squared error on one fresh test set, with one teacher.
#
# It has the law of the naive recipe, but costs as little as the rest. Sparse: test samples are drawn by their
# nonzeros; for a coordinate that training never showed, w_j - u_j . theta is one Gaussian of variance 1 +
# |theta|^2/N. Dense: the error of a test sample is Gaussian of variance loss(theta), so that the test mean is
# loss(theta) times a chi-square over its freedom.


def activations_test_loss(task: Task, drawn: OneTeacher, train: SparseData, readout: Readout) -> float:
    if readout.diverged:
        return float("inf")
    inputs, theta = cast(ActivationInputs, task.inputs), readout.theta
    rng = random_stream(task, "test")
    test = draw_sparse(inputs, task.n_test, rng)
    _, in_train, in_test = np.intersect1d(train.active, test.active, return_indices=True)
    with np.errstate(over="ignore", invalid="ignore"):  # noise whose squares no number holds
        deviation = np.sqrt(1.0 + float(theta @ theta) / task.N)
        error = deviation * rng.standard_normal(test.active.size)  # of the coordinates never seen in training
        error[in_test] = (drawn.teacher - drawn.problem.embedding.T @ theta)[in_train]
        errors = sign_matrix(test).T @ (inputs.amplitudes(test.active) * error)
        loss = float(np.mean(errors**2))
    return loss if math.isfinite(loss) else math.inf


def gaussian_test_loss(task: Task, population_loss: float) -> float:
    return population_loss * float(random_stream(task, "test").chisquare(task.n_test)) / task.n_test
