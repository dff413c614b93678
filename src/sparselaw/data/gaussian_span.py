"""Gaussian vectors in M dimensions, seen through the span they make; roots of Wishart matrices.

m vectors z_i ~ N(0, I_M), scaled by the standard deviations, are the columns of Y = Sigma^(1/2) Z = Q R.
They are the data (m = D) or the embedding's rows (m = N, up to 1/sqrt(N)): the two sides of one inputs,
each other's mirror. What a trial needs is R, Q^T Sigma Q and the variance that the span leaves out,
tr(Sigma (I - Q Q^T)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular

from sparselaw.arrays import FloatArray

HEAD = 2  # times m: coordinates kept apart; the others are summarised by two m x m sums
BLOCK = 1 << 22  # numbers drawn at once
CANCELS = 1e-3  # below it 1 - |Q_j|^2 has lost more than three digits of sixteen
WORST_CONDITION = 1e6  # of the tail's triangular factor, above which nothing is summarised


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Y = Q R with its population figures."""

    triangle: FloatArray  # R (m, m)
    outside: float  # tr(Sigma (I - Q Q^T))
    leading: FloatArray  # Q (n, m) of the coordinates kept apart
    variances: FloatArray  # (n,) of those
    tail: tuple[FloatArray, FloatArray] | None = None  # B and W (m, m): the others add W^T B W to Q^T Sigma Q

    @property
    def inside(self) -> FloatArray:
        """Q^T Sigma Q (m, m)."""
        inside: FloatArray = (self.leading.T * self.variances) @ self.leading
        if self.tail is None:
            return inside
        B, W = self.tail
        return inside + W.T @ (B @ W)


def draw_span(variances: FloatArray, m: int, rng: np.random.Generator) -> Span:
    """m vectors, m <= M, without keeping an m x M matrix.

    Rows of Y beyond the first 2m enter only through A = sum v z z^T and B = sum v^2 z z^T. With the Cholesky
    factor A = T^T T, the QR of the 3m rows [head; T] has the same R, and the tail's share of Q^T Sigma Q is
    W^T B W, W = T^-1 Q_t. Where the tail is short or too ill-conditioned for that, all rows are factored.
    """
    head = HEAD * m
    if variances.size < head + 2 * m:
        return span_of(variances, rng.standard_normal((variances.size, m)))
    first = rng.standard_normal((head, m))
    state = rng.bit_generator.state
    A, B = np.zeros((m, m)), np.zeros((m, m))
    for v in _blocks(variances[head:], m):
        z = rng.standard_normal((v.size, m))
        z *= np.sqrt(v)[:, None]
        A += z.T @ z
        z *= np.sqrt(v)[:, None]
        B += z.T @ z
    try:
        tail = cholesky(A, check_finite=False)
    except np.linalg.LinAlgError:
        tail = np.zeros((m, m))
    diagonal = np.abs(np.diag(tail))
    if diagonal.min() * WORST_CONDITION < diagonal.max():
        rng.bit_generator.state = state  # the same numbers again, kept this time
        rest = [rng.standard_normal((v.size, m)) for v in _blocks(variances[head:], m)]
        return span_of(variances, np.concatenate([first, *rest]))
    rows = np.concatenate([np.sqrt(variances[:head])[:, None] * first, tail])
    orthogonal, triangle = qr(rows, mode="economic", check_finite=False)
    W = solve_triangular(tail, orthogonal[head:], check_finite=False)
    beyond = float(variances[head:].sum() - np.einsum("ij,ij->", B @ W, W))
    outside = _left_out(variances[:head], orthogonal) + beyond
    return Span(
        triangle=triangle,
        outside=max(outside, 0.0),
        leading=orthogonal[:head],
        variances=variances[:head],
        tail=(B, W),
    )


def span_of(variances: FloatArray, z: FloatArray) -> Span:
    """The span of given vectors z (M, m), all rows factored."""
    orthogonal, triangle = factor_vectors(variances, z)
    head = min(HEAD * z.shape[1], variances.size)
    beyond = variances[head:] @ (1.0 - np.einsum("ij,ij->i", orthogonal[head:], orthogonal[head:]))
    return Span(
        triangle=triangle,
        outside=max(_left_out(variances[:head], orthogonal) + float(beyond), 0.0),
        leading=orthogonal,
        variances=variances,
    )


def factor_vectors(variances: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q (M, m) and R (m, m) of Sigma^(1/2) z."""
    orthogonal, triangle = qr(np.sqrt(variances)[:, None] * z, mode="economic", check_finite=False)
    return np.asarray(orthogonal, dtype=np.float64), np.asarray(triangle, dtype=np.float64)


def _left_out(head: FloatArray, orthogonal: FloatArray) -> float:
    """sum_j v_j (1 - |Q_j|^2) over the first coordinates.

    The difference cancels for the leading ones, which are known to many digits: there it is taken as
    |e_j - Q Q_j^T|^2, which is the same and does not cancel, but costs as many products as Q has entries.
    """
    rows = orthogonal[: head.size]
    missing = 1.0 - np.einsum("ij,ij->i", rows, rows)
    close = np.flatnonzero(missing < CANCELS)
    error = -(orthogonal @ rows[close].T)
    error[close, np.arange(close.size)] += 1.0
    missing[close] = np.einsum("ij,ij->j", error, error)
    return float(missing @ head)


def _blocks(variances: FloatArray, m: int) -> list[FloatArray]:
    return np.array_split(variances, max(1, -(-variances.size * m // BLOCK)))


def wishart_root(freedom: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Lower triangular L (size, size) with L L^T ~ Wishart(freedom, I), freedom >= size (Bartlett)."""
    root = np.tril(rng.standard_normal((size, size)), -1)
    root[np.diag_indices(size)] = np.sqrt(rng.chisquare(freedom - np.arange(size, dtype=np.float64)))
    return root
