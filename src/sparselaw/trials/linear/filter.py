"""Population loss of a linear readout in the eigenbasis, for every solver.

With the SVD Y = U F = V S R^T, E = U^T V and B = F R, a filter h of the eigenvalues S^2/D gives
theta = V g R^T t with g = h S / D, hence U^T theta = E g B^T a + E g R^T eta. Then the averages over the
teacher a and the noise eta are traces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from sparselaw.arrays import FloatArray
from sparselaw.solvers import Solution, Solver
from sparselaw.solvers.equations import NormalEquations
from sparselaw.trials.linear.problem import LinearProblem

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
    spread = weighted(problem.covariance, response, None)
    return problem.noise * (spread + problem.unseen * norm / problem.width)


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
