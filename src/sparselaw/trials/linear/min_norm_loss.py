"""The minimum-norm readout by one QR factorisation, where no singular value is near the rank tolerance.

Under-parameterised (k <= r): Y^T = Q R, theta = R^-1 Q^T t. A QR costs a tenth of an SVD. It does not show
the singular values, but 1/|R^-1|_F bounds the smallest from below and |R|_F the largest from above: if their
ratio is above rtol nothing would be cut. If not, the SVD decides.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from sparselaw.arrays import FloatArray
from sparselaw.solvers import Solution, Solver
from sparselaw.trials.linear.filter import averaged_loss, noise_part, prepare, quadratic_rows, weighted
from sparselaw.trials.linear.problem import LinearProblem


def min_norm_loss(solver: Solver, rtol: float, problem: LinearProblem) -> tuple[float, Solution | None]:
    """Mean over teacher and noise; the solution is None where the QR sufficed."""
    embedding, factor = problem.embedding, problem.factor
    rows = factor.T @ embedding.T  # Y^T (r, k)
    if rows.shape[1] > rows.shape[0]:
        return averaged_loss(solver, prepare(problem))
    factored, scale = lapack.dgeqrf(rows, lwork=64 * rows.shape[1])[:2]
    triangle = np.triu(factored[: rows.shape[1]])
    inverse, info = lapack.dtrtri(triangle)
    if info != 0 or not _well_conditioned(triangle, inverse, rtol):
        return averaged_loss(solver, prepare(problem))
    left = blas.dtrmm(1.0, inverse, embedding.T, side=1)
    span = lapack.dorgqr(factored, scale, lwork=64 * rows.shape[1], overwrite_a=1)[0]
    right = np.asarray(factor @ span)  # not F (F^T left), which would square the condition number
    readout = blas.dtrmm(1.0, inverse, right, side=1, trans_a=1)
    norm = float(quadratic_rows(readout.T, problem.teacher_covariance).sum())
    loss = (
        problem.floor
        + _error(problem, left, right)
        + problem.unseen * (1.0 + norm / problem.width)
        + noise_part(problem, left, float(np.sum(inverse**2)))
    )
    return loss, None


def _error(problem: LinearProblem, left: FloatArray, right: FloatArray) -> float:
    """tr(Sigma error error^T) for error = I - left right^T, averaged over teachers.

    The square of a row is (1 - left_j.right_j)^2 and so on, which cancels where the readout gets a coordinate
    nearly right. Row by row that is avoided, at K^2 k; among many coordinates most are not got right by far:
    those beyond twice the rank go by |row|^2 = 1 - 2 left_j.right_j + left_j (right^T right) left_j^T.
    """
    head = 2 * left.shape[1]
    if head >= left.shape[0] or problem.covariance.ndim > 1 or problem.teacher_covariance is not None:
        head = left.shape[0]
    error = -(left[:head] @ right.T)
    error[np.diag_indices(head)] += 1.0
    if head == left.shape[0]:
        return weighted(problem.covariance, error, problem.teacher_covariance)
    far = left[head:]
    squares = 1.0 - 2.0 * np.einsum("ij,ij->i", far, right[head:]) + quadratic_rows(far, right.T @ right)
    return weighted(problem.covariance[:head], error, None) + float(problem.covariance[head:] @ squares)


def _well_conditioned(triangle: FloatArray, inverse: FloatArray, rtol: float) -> bool:
    product = float(np.linalg.norm(triangle) * np.linalg.norm(inverse))
    return np.isfinite(product) and product * rtol < 1.0
