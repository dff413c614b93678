"""The compiled loop of SGD over the nonzeros of its samples."""

from __future__ import annotations

import numpy as np

from sparselaw.compiled import njit


@njit(error_model="numpy")
def _inner_product(a, b, n):  # type: ignore[no-untyped-def]
    """In four sums, none of which waits for another."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    whole = n - n % 4
    for c in range(0, whole, 4):
        first += a[c] * b[c]
        second += a[c + 1] * b[c + 1]
        third += a[c + 2] * b[c + 2]
        fourth += a[c + 3] * b[c + 3]
    for c in range(whole, n):
        first += a[c] * b[c]
    return (first + second) + (third + fourth)


@njit(error_model="numpy")
def mixed_pass(weights, fits, inner, starts, columns, values, targets, rows, labels, step, batch):  # type: ignore[no-untyped-def]
    """One pass over ``rows``, batch after batch; ``weights`` (T, n) and ``fits`` (T, hot) in place.

    Every sum has its order, so that compiled and plain code give the same bits.

    A batch moves m by -step/size * sum of residual * x; the residuals are those before the move.
    """
    hot, n = fits.shape[1], weights.shape[1]
    residuals = np.empty(min(batch, max(rows.size, 1)))
    for begin in range(0, rows.size, batch):
        size = min(batch, rows.size - begin)
        move = step / size
        for t in range(weights.shape[0]):
            for k in range(size):
                row = rows[begin + k]
                residual = -targets[labels[begin + k], t]
                for i in range(starts[row], starts[row + 1]):
                    j = columns[i]
                    if j < hot:
                        residual += values[i] * fits[t, j]
                    else:
                        residual += values[i] * _inner_product(inner[j], weights[t], n)
                residuals[k] = residual
            for k in range(size):
                row = rows[begin + k]
                for i in range(starts[row], starts[row + 1]):
                    j = columns[i]
                    change = move * residuals[k] * values[i]
                    weights[t, j] -= change
                    for h in range(hot):
                        fits[t, h] -= change * inner[j, h]
