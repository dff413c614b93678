"""The minimum-norm readout by one QR factorisation, where no singular value is near the rank tolerance.

Under-parameterised (k <= r): Y^T = Q R, theta = R^-1 Q^T t. Otherwise Y = Q R, theta = Q R^-T t. A QR costs a
tenth of an SVD. It does not show the singular values, but 1/|R^-1|_F bounds the smallest from below and |R|_F
the largest from above: if their ratio is above rtol nothing would be cut. If not, the SVD decides.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, qr

from sparselaw.data.arrays import FloatArray
from sparselaw.features.linear import LinearProblem
from sparselaw.risk.linear_filter import quadratic_rows, averaged_loss, noise_part, prepare, weighted
from sparselaw.solvers import MinNorm, Solution


def min_norm_loss(settings: MinNorm, problem: LinearProblem) -> tuple[float, Solution | None]:
    """Mean over teacher and noise; the solution is None where the QR sufficed."""
    features = problem.embedding @ problem.factor
    wide = features.shape[0] <= features.shape[1]
    orthogonal, triangle = qr(features.T if wide else features, mode="economic", check_finite=False)
    inverse, info = lapack.dtrtri(triangle)
    if info != 0 or not _well_conditioned(triangle, inverse, settings.rtol):
        return averaged_loss(settings, prepare(problem))
    if wide:
        left, right = problem.embedding.T @ inverse, problem.factor @ orthogonal
        readout, response = right @ inverse.T, left
    else:
        left, right = problem.embedding.T @ orthogonal, problem.factor @ inverse
        readout, response = right, left @ inverse.T
    error = -(left @ right.T)
    error[np.diag_indices(error.shape[0])] += 1.0
    norm = float(quadratic_rows(readout.T, problem.teacher_covariance).sum())
    loss = (
        problem.floor
        + weighted(problem.covariance, error, problem.teacher_covariance)
        + problem.unseen * (1.0 + norm / problem.width)
        + noise_part(problem, response, float(np.sum(inverse**2)))
    )
    return loss, None


def _well_conditioned(triangle: FloatArray, inverse: FloatArray, rtol: float) -> bool:
    product = float(np.linalg.norm(triangle) * np.linalg.norm(inverse))
    return np.isfinite(product) and product * rtol < 1.0
