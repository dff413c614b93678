"""Minimum norm for K/2 < N < K by way of what the embedding does not see: the smaller side of the problem.

The error of the readout, I - u^T T, is the projection on G^-1 null(u) along the row space of u:

  I - u^T T = G^-1 Z (Z^T G^-1 Z)^-1 Z^T,   Z (K, K - N) any basis of null(u).

null(u) is a uniformly random subspace, so Z may be drawn as a Gaussian matrix and u need not be drawn at
all. Given null(u), u on its row space is still isotropic, with E (u^T u)^-1 = N/(K-N-1) there, so that the
norm of the readout is averaged over it: E |T|^2 / N = |I - error|_F^2 / (K-N-1), where
|I - error|_F^2 = N - (K-N) + |error|_F^2 since the error is a projection of rank K - N.

With P = F^-1 Z = H R (a QR factorisation, of which only R is needed) and Z^T Z = C C^T, the rows of the error
have the norms of the rows of F^-T P (R^T R)^-1 C: no K x K product, and nothing cancels.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from sparselaw.arrays import FloatArray
from sparselaw.linalg.elimination import Triangle, solve, solve_transposed


def applies(width: int, columns: int, noise: float) -> bool:
    """Whether this is the cheaper way: the label noise would need the rest of u."""
    return noise == 0.0 and columns < 2 * width and width <= columns - 2


def dual_loss(factor: Triangle, null: FloatArray, variances: FloatArray, unseen: float) -> float:
    """Mean over teacher, unseen columns and u u^T, given F (K, K) upper triangular and Z (K, K - N)."""
    outside = int(null.shape[1])
    squares = row_norms(factor, null)
    kept = int(null.shape[0]) - 2 * outside + float(squares.sum())
    seen = float(variances @ squares)
    return seen + unseen * (1.0 + kept / float(outside - 1))


def row_norms(factor: Triangle, null: FloatArray) -> FloatArray:
    """|error_j|^2 for every active coordinate."""
    size = null.shape[1]
    P = solve(factor, null)
    triangle = lapack.dgeqrf(P, lwork=64 * size)[0][:size]
    root, _ = lapack.dpotrf(blas.dsyrk(1.0, null, trans=1, lower=1), lower=1, clean=1)
    middle, _ = lapack.dpotrs(triangle, root)
    rows = solve_transposed(factor, P @ middle)
    squares: FloatArray = np.einsum("ij,ij->i", rows, rows)
    return squares
