"""Coordinates of the column space of G where rows of X_A are dependent: as many as the rank.

With x_J = T x_I on the column space and I + T^T T = U U^T, the vectors x with x_I = U^-T z have the length of
z: z are coordinates in an orthonormal basis. In them the data are U^T X_I, whose rows are independent, and
lengths stay of the order they were, since no dependent row is longer than those it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray
from sparselaw.data.gram import ScaledGram
from sparselaw.linalg.dependence import Dependence
from sparselaw.linalg.elimination import Triangle, solve_transposed, upper_factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    gram: ScaledGram  # of U^T X_I
    dependence: Dependence
    root: Triangle  # U

    def vectors(self, z: FloatArray) -> FloatArray:
        """The vectors (K, m) that have the coordinates z (r, m)."""
        return self.dependence.spread(solve_transposed(self.root, z))


def turned(dependence: Dependence) -> Turned:
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
    return Turned(
        gram=ScaledGram(length=length * norm, correlation=correlation), dependence=dependence, root=root
    )


def _lower(matrix: sparse.sparray) -> sparse.csr_array:
    """The lower triangle, as the elimination wants it: the diagonal ends the rows."""
    triangle = sparse.csr_array(sparse.tril(matrix))
    triangle.sort_indices()
    return triangle
