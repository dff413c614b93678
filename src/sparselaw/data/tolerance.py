"""What a solver's rank tolerance cuts off: directions in which the data vary, but too little.

They lie near the coordinates of the short rows of X_A. Let S be the rows shorter than the limit times a
margin. The vectors x with x_S = I and x_B = W, B the other rows, come closer to the space of the smallest
eigenvalues of G with every inverse iteration, x -> G^-1 x (G^-1 x)_S^-1, and those at the limit gain the
margin squared. Among them a small eigenvalue problem decides. If nearly all rows are far below the limit, the
space of the others is found first, by x -> G x (G x)_H^-1 with H the rows that are not, and the rest is cut
without more ado. No step mixes lengths: amplitudes of 1e-90 are as good as any.

Where rows of X_A are dependent, ``turned`` has coordinates of the column space of G, as many as the rank.
With x_J = T x_I on the column space and I + T^T T = U U^T, the vectors x with x_I = U^-T z have the length of
z: z are coordinates in an orthonormal basis. In them the data are U^T X_I, whose rows are independent, and
lengths stay of the order they were, since no dependent row is longer than those it is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cholesky, eigh, qr, solve_triangular

from sparselaw.arrays import FloatArray
from sparselaw.data.factor import Dependence, Factor, left_out, without_small
from sparselaw.data.scaled_gram import ScaledGram, solve, upper_factor

MARGIN = 30.0
NEARLY_DEPENDENT = 0.1  # distance of a unit row from the span of others, below which the margin must be wider
SWEEPS = 4
CUT_FIRST = 1.0 / 3.0  # share of rows far below the limit, above which it pays to cut them first

Map = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinates:
    """Coordinates z in an orthonormal basis of (a part of) the column space of G, with G = F F^T in them."""

    length: FloatArray  # (n,) of the rows of F
    half: Map  # z -> F^T z
    whole: Map  # z -> G z
    inverse: Map  # z -> G^-1 z
    vectors: Map  # z -> x (K, .)


def doubtful_rows(factor: Factor, rtol: float) -> int:
    """How many rows are short enough to make a singular value at or below ``rtol`` times the largest.

    Rows of length one are well apart (their distances from each other's spans are the pivots), so that a
    singular value far below all row lengths does not occur; a factor of thirty is taken as the margin.
    """
    return int(np.count_nonzero(factor.length <= MARGIN * rtol * np.linalg.norm(factor.length)))


def outside_kept(factor: Factor, variances: FloatArray, rtol: float) -> tuple[int, float]:
    """The rank that a solver with this tolerance sees, and tr(Sigma (I - P)), P projecting on what it keeps.

    I - P is what no data show, and what the tolerance cuts of the rest.
    """
    if not factor.triangular and factor.dependence is None:
        return _by_svd(factor, variances, rtol)
    outside, limit = left_out(factor, variances), rtol * largest_singular_value(factor)
    triangle, length = factor.values, factor.length
    if factor.dependence is not None:  # the others make no singular value smaller
        triangle, length = factor.dependence.triangle, length[factor.dependence.independent]
    margin = MARGIN * max(1.0, NEARLY_DEPENDENT / float((triangle.diagonal() / length).min()))
    if not (length <= margin * limit).any():
        return factor.rank, outside
    coordinates = _coordinates(factor)
    if coordinates is None:
        return _by_svd(factor, variances, rtol)
    far_below = coordinates.length * margin < limit
    if np.count_nonzero(far_below) > CUT_FIRST * far_below.size:
        coordinates, across = _without(coordinates, far_below, variances)
        outside += across
    cut = cut_directions(coordinates, limit, margin)
    x = coordinates.vectors(cut)
    outside += float(variances @ np.einsum("ij,ij->i", x, x))
    return cut.shape[0] - cut.shape[1], outside


def _by_svd(factor: Factor, variances: FloatArray, rtol: float) -> tuple[int, float]:
    kept = without_small(factor, rtol)
    return kept.rank, left_out(kept, variances)


def _coordinates(factor: Factor) -> Coordinates | None:
    """Coordinates of the column space; the data's own where no rows are dependent. None without a factor."""
    if factor.dependence is None:
        return _triangular(factor, lambda z: z)
    gram, vectors = turned(factor.dependence)
    values = upper_factor(gram.correlation, gram.length, 0.0)
    if values is None:
        return None
    return _triangular(Factor(values=values, length=gram.length, triangular=True), vectors)


def _triangular(factor: Factor, vectors: Map) -> Coordinates:
    return Coordinates(
        length=factor.length,
        half=lambda z: np.asarray(factor.values.T @ z),
        whole=lambda z: np.asarray(factor.values @ (factor.values.T @ z)),
        inverse=lambda z: solve(factor.values, solve(factor.values, z), transposed=True),
        vectors=vectors,
    )


def cut_directions(coordinates: Coordinates, limit: float, margin: float) -> FloatArray:
    """The left singular vectors (n, c) of F with singular values at or below ``limit``."""
    short = coordinates.length <= margin * limit
    if not short.any():
        return np.empty((short.size, 0))
    W = _small_space(coordinates, short)
    space = np.empty((short.size, W.shape[1]))
    space[short], space[~short] = np.eye(W.shape[1]), W
    image = coordinates.whole(space) / limit
    moments = (image[short] + W.T @ image[~short]) / limit
    squares, rotation = eigh(0.5 * (moments + moments.T), np.eye(W.shape[1]) + W.T @ W, check_finite=False)
    rotation = rotation[:, squares <= 1.0]
    cut = np.empty((short.size, rotation.shape[1]))
    cut[short], cut[~short] = rotation, W @ rotation
    return cut


def _small_space(coordinates: Coordinates, short: NDArray[np.bool_]) -> FloatArray:
    """W (|B|, |S|) such that the vectors x with x_B = W x_S hold the smallest eigenvalues of G.

    Inverse iteration of the coordinates in S, or iteration of those in B, whichever are fewer: the one leads
    to the orthogonal complement of the other.
    """
    if 2 * np.count_nonzero(short) <= short.size:
        return _iterated(coordinates.inverse, short, coordinates.length[short])
    return -_iterated(coordinates.whole, ~short, 1.0 / coordinates.length[~short]).T


def _iterated(step: Map, chosen: NDArray[np.bool_], scale: FloatArray) -> FloatArray:
    """The space of step(...(step(E))), E the chosen unit vectors: its other coordinates where these are I.

    ``scale`` times the chosen part of step(x scale) is of order one, whatever the lengths.
    """
    x = np.zeros((chosen.size, scale.size))
    x[chosen] = np.eye(scale.size)
    for _ in range(SWEEPS):
        image = step(x * scale)
        middle = scale[:, None] * image[chosen]
        x[~chosen] = np.linalg.solve(middle.T, image[~chosen].T).T * scale
    return x[~chosen]


def _without(
    coordinates: Coordinates, far_below: NDArray[np.bool_], variances: FloatArray
) -> tuple[Coordinates, float]:
    """Coordinates of the space of the longer rows, and tr(Sigma (I - P)) for P projecting on it from before.

    The space across has the vectors v with v_H = W v_V, hence this one those with y_V = -W^T y_H. With
    I + W W^T = R^T R those with y_H = R^-1 z have the length of z, and the projection on the space across is
    that of its vectors v with I - W^T R^-1 R^-T W in the middle.
    """
    W = _small_space(coordinates, far_below)
    root = cholesky(np.eye(W.shape[0]) + W @ W.T, check_finite=False)
    across = np.empty((far_below.size, W.shape[1]))
    across[far_below], across[~far_below] = np.eye(W.shape[1]), W
    x = coordinates.vectors(across)
    inner = solve_triangular(root, W @ x.T, trans=1, check_finite=False)
    lost = np.einsum("ij,ij->i", x, x) - np.einsum("ij,ij->j", inner, inner)
    basis = np.empty((far_below.size, W.shape[0]))
    basis[~far_below] = solve_triangular(root, np.eye(W.shape[0]), check_finite=False)
    basis[far_below] = -W.T @ basis[~far_below]
    triangle = qr(coordinates.half(basis), mode="r", check_finite=False)[0][: W.shape[0]]
    reduced = Coordinates(
        length=np.linalg.norm(triangle, axis=0),
        half=lambda z: np.asarray(triangle @ z),
        whole=lambda z: np.asarray(triangle.T @ (triangle @ z)),
        inverse=lambda z: solve_triangular(triangle, solve_triangular(triangle, z, trans=1)),
        vectors=lambda z: coordinates.vectors(basis @ z),
    )
    return reduced, float(variances @ lost)


def largest_singular_value(factor: Factor) -> float:
    """The largest singular value of X_A, by power iteration from the row lengths."""
    vector, last, value = factor.length, 0.0, 1.0
    for _ in range(1000):
        if abs(value - last) <= 1e-14 * value:
            break
        vector = factor.values @ (factor.values.T @ (vector / np.linalg.norm(vector)))
        last, value = value, float(np.linalg.norm(vector))
    return float(np.sqrt(value))


def turned(dependence: Dependence) -> tuple[ScaledGram, Map]:
    """G in coordinates z of the column space, of U^T X_I that is, and the map from z (r, m) to x (K, m)."""
    gram, T, kept = dependence.gram, dependence.mixture, dependence.independent
    unit = sparse.eye_array(kept.size)
    root = upper_factor(_lower(unit + T.T @ T), np.ones(kept.size), 0.0)
    assert root is not None  # its pivots are at least one
    length, lower = gram.length[kept], gram.correlation[kept][:, kept]
    full = lower + lower.T - unit
    if isinstance(root, np.ndarray):
        dense = root.T * (length / length[:, None])
        product = sparse.csr_array(dense @ (full @ dense.T))
    else:
        turn = sparse.diags_array(1.0 / length) @ root.T @ sparse.diags_array(length)
        product = sparse.csr_array(turn @ full @ turn.T)
    norm = np.sqrt(product.diagonal())
    correlation = _lower(sparse.diags_array(1.0 / norm) @ product @ sparse.diags_array(1.0 / norm))
    correlation.setdiag(1.0)

    def vectors(z: FloatArray) -> FloatArray:
        values = solve(root, z, transposed=True)
        x = np.empty((kept.size + dependence.dependent.size, values.shape[1]))
        x[kept], x[dependence.dependent] = values, T @ values
        return x

    return ScaledGram(length=length * norm, correlation=correlation), vectors


def _lower(matrix: sparse.sparray) -> sparse.csr_array:
    """The lower triangle, as the elimination wants it: the diagonal ends the rows."""
    triangle = sparse.csr_array(sparse.tril(matrix))
    triangle.sort_indices()
    return triangle
