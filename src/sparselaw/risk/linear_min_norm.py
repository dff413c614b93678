"""The minimum-norm readout by one QR factorisation, where no singular value is near the rank tolerance.

Under-parameterised (k <= r): Y^T = Q R, theta = R^-1 Q^T t. A QR costs a tenth of an SVD. It does not show
the singular values, but 1/|R^-1|_F bounds the smallest from below and |R|_F the largest from above: if their
ratio is above rtol nothing would be cut. If not, the SVD decides.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from sparselaw.data.arrays import FloatArray
from sparselaw.features.linear import LinearProblem
from sparselaw.risk.linear_filter import averaged_loss, noise_part, prepare, quadratic_rows, weighted
from sparselaw.solvers import MinNorm, Solution


def min_norm_loss(settings: MinNorm, problem: LinearProblem) -> tuple[float, Solution | None]:
    """Mean over teacher and noise; the solution is None where the QR sufficed.

    Q itself is never formed: Y^T = Q R gives Q = F^T left with left = U^T R^-1.
    """
    embedding = problem.embedding
    rows = _times(problem, embedding.T, transpose=True)  # Y^T (r, k)
    if rows.shape[1] > rows.shape[0]:
        return averaged_loss(settings, prepare(problem))
    triangle = np.triu(lapack.dgeqrf(rows, lwork=64 * rows.shape[1])[0][: rows.shape[1]])
    inverse, info = lapack.dtrtri(triangle)
    if info != 0 or not _well_conditioned(triangle, inverse, settings.rtol):
        return averaged_loss(settings, prepare(problem))
    left = blas.dtrmm(1.0, inverse, embedding.T, side=1)
    right = _times(problem, _times(problem, left, transpose=True), transpose=False)
    readout = blas.dtrmm(1.0, inverse, right, side=1, trans_a=1)
    error = -(left @ right.T)
    error[np.diag_indices(error.shape[0])] += 1.0
    norm = float(quadratic_rows(readout.T, problem.teacher_covariance).sum())
    loss = (
        problem.floor
        + weighted(problem.covariance, error, problem.teacher_covariance)
        + problem.unseen * (1.0 + norm / problem.width)
        + noise_part(problem, left, float(np.sum(inverse**2)))
    )
    return loss, None


def _times(problem: LinearProblem, matrix: FloatArray, transpose: bool) -> FloatArray:
    """F matrix or F^T matrix; a triangular F costs half."""
    if problem.triangular:
        product: FloatArray = blas.dtrmm(1.0, problem.factor, matrix, lower=1, trans_a=int(transpose))
        return product
    return (problem.factor.T if transpose else problem.factor) @ matrix


def _well_conditioned(triangle: FloatArray, inverse: FloatArray, rtol: float) -> bool:
    product = float(np.linalg.norm(triangle) * np.linalg.norm(inverse))
    return np.isfinite(product) and product * rtol < 1.0
