"""u x of sparse samples, from their few nonzeros."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import njit


def preactivations(
    indptr: IntArray, column: IntArray, value: FloatArray, embedding: FloatArray
) -> FloatArray:
    """u x for P sparse samples (P, N): row p sums value * embedding[column] over its few nonzeros.

    ``embedding`` holds the drawn columns of u as rows (K, N), so that a sample reads whole rows.
    """
    rows = np.empty((len(indptr) - 1, embedding.shape[1]))
    _sum_columns(indptr, column, value, embedding, rows)
    return rows


@njit()
def _sum_columns(indptr, column, value, embedding, rows):  # type: ignore[no-untyped-def]
    for p in range(rows.shape[0]):
        row = rows[p]
        row[:] = 0.0
        for k in range(indptr[p], indptr[p + 1]):
            source = embedding[column[k]]
            scale = value[k]
            for i in range(row.size):
                row[i] += scale * source[i]
