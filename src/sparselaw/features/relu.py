"""ReLU features phi = relu(u x): of sparse patterns, and their second moments under Gaussian inputs."""

from __future__ import annotations

import numba
import numpy as np

from sparselaw.arrays import FloatArray, IntArray


def preactivations(
    indptr: IntArray, column: IntArray, value: FloatArray, embedding: FloatArray
) -> FloatArray:
    """u x for P sparse samples (P, N): row p sums value * embedding[column] over its few nonzeros.

    ``embedding`` holds the drawn columns of u as rows (K, N), so that a sample reads whole rows.
    """
    rows = np.empty((len(indptr) - 1, embedding.shape[1]))
    _sum_columns(indptr, column, value, embedding, rows)
    return rows


@numba.njit(cache=True)
def _sum_columns(indptr, column, value, embedding, rows):  # type: ignore[no-untyped-def]
    for p in range(rows.shape[0]):
        row = rows[p]
        row[:] = 0.0
        for k in range(indptr[p], indptr[p + 1]):
            source = embedding[column[k]]
            scale = value[k]
            for i in range(row.size):
                row[i] += scale * source[i]


def gaussian_moments(covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """E[relu(a_i) relu(b_j)] for jointly Gaussian a_i, b_j of standard deviations left_i, right_j.

    With cos f = covariance / (left right) it is left right (sin f + (pi - f) cos f) / (2 pi), the arc-cosine
    kernel of degree one. A deviation of zero gives zero.
    """
    moments = np.empty_like(covariance)
    _arc_cosine(covariance, left, right, moments)
    return moments


@numba.njit(cache=True, error_model="numpy")
def _arc_cosine(covariance, left, right, moments):  # type: ignore[no-untyped-def]
    for i in range(covariance.shape[0]):
        for j in range(covariance.shape[1]):
            size = left[i] * right[j]
            cosine = 0.0
            if size > 0.0:
                cosine = min(1.0, max(-1.0, covariance[i, j] / size))
            sine = np.sqrt((1.0 - cosine) * (1.0 + cosine))
            angle = np.arccos(cosine)
            moments[i, j] = size * (sine + (np.pi - angle) * cosine) / (2.0 * np.pi)
