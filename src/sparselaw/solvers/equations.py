"""Least squares prepared once: the eigenbasis of H = Phi Phi^T / D, in which every solver is a filter.

The objective is (1/2D) |Phi^T theta - y|^2 = (1/2) theta^T H theta - theta^T b + const with b = Phi y / D. In
the eigenbasis V of H it separates: eigenvalue l_i, projection (V^T b)_i. Directions with l = 0 carry no
gradient, so a descent from zero never enters them and they are left out.

Rank. ``from_rows`` factors the feature rows themselves, so singular values are resolved down to about 1e-16
of the largest and a tolerance of 1e-10 means what it says. ``from_gram`` sees only squares: it resolves
singular values down to about 1e-8 of the largest and cuts there, whatever smaller tolerance is asked for.
The difference matters only where the features are so nearly dependent that singular values between those two
levels exist and are needed.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.solvers.base import NormalEquations

Basis = FloatArray | LinearOperator

EPSILON = float(np.finfo(np.float64).eps)
CACHED_ROWS = 2000


def from_rows(
    rows: FloatArray, targets: FloatArray, counts: IntArray | None = None
) -> tuple[NormalEquations, Basis]:
    """The equations of P feature rows (P, N) with targets (P, T), row p standing for counts[p] samples.

    Rows are scaled by sqrt(count), which leaves the objective unchanged when the repeats share their target
    (or when the target is the mean over the repeats). Returns the equations and the basis V (N, r). The
    triangular factor of a QR on the thin side goes through the SVD, so the cost is N P min(N, P).
    """
    samples = rows.shape[0] if counts is None else int(counts.sum())
    root = np.ones((rows.shape[0], 1)) if counts is None else np.sqrt(counts.astype(np.float64))[:, None]
    tall = rows.shape[0] >= rows.shape[1]
    triangle = _triangle(rows, root) if tall else _triangle(rows.T, root.T).T
    left, singular, right = scipy.linalg.svd(triangle, check_finite=False)
    kept = singular > EPSILON * max(rows.shape) * singular[0]
    left, singular, right = left[:, kept], singular[kept], right[kept]
    basis: Basis
    if tall:
        basis = right.T
        projections = right @ (rows.T @ (root**2 * targets)) / samples
    else:
        basis = aslinearoperator(rows.T) @ aslinearoperator(root * left / singular)  # never formed
        projections = singular[:, None] * (left.T @ (root * targets)) / samples
    return NormalEquations(eigenvalues=singular**2 / samples, projections=projections, samples=samples), basis


def _triangle(tall: FloatArray, scale: FloatArray) -> FloatArray:
    """R of a QR factorisation of tall * scale, scale a column or a row.

    Blocks of rows are reduced first, each small enough to stay in the cache.
    """
    height, size = tall.shape
    block = max(CACHED_ROWS, 4 * size)
    if height > block:
        scales = np.broadcast_to(scale, (height, scale.shape[1]))
        starts = range(0, height, block)
        tall = np.concatenate([_triangle(tall[i : i + block], scales[i : i + block]) for i in starts])
        return _triangle(tall, np.ones((1, 1)))
    factored = lapack.dgeqrf(tall * scale, lwork=64 * size, overwrite_a=1)[0]
    return np.asarray(np.triu(factored[: min(height, size)]))


def from_gram(hessian: FloatArray, moments: FloatArray, samples: int) -> tuple[NormalEquations, FloatArray]:
    """The equations of H (N, N) and b = Phi y / D (N, T); returns them with the basis V (N, r)."""
    eigenvalues, basis = scipy.linalg.eigh(hessian, check_finite=False)
    eigenvalues, basis = eigenvalues[::-1], basis[:, ::-1]
    kept = eigenvalues > EPSILON * len(eigenvalues) * max(eigenvalues[0], 0.0)
    basis = np.ascontiguousarray(basis[:, kept])
    return NormalEquations(
        eigenvalues=eigenvalues[kept], projections=basis.T @ moments, samples=samples
    ), basis
