"""Feature rows that are few nonzeros mixed by an embedding, kept apart: phi = U x, x sparse.

From zero theta = U m with m in the coordinates of x, so that a step of SGD changes m at the nonzeros of its
samples alone. A prediction needs (W m)_j at those nonzeros, W = U^T U. For the first ``hot`` coordinates,
which are active most often, W m is kept up to date; for the others it is computed when it is asked for. A
visit then costs ``hot`` numbers a nonzero, and n numbers for each nonzero beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import lazy_njit

if TYPE_CHECKING:
    from scipy import sparse

ENOUGH = 1e6  # multiplications to be saved: below, the two ways take the same time
SLOWER = 2.0  # a multiplication among scattered nonzeros, in those along dense rows


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedRows:
    """The rows samples @ mixing^T, in either form."""

    samples: sparse.csr_array  # (P, n)
    mixing: FloatArray  # U (k, n)

    def __len__(self) -> int:
        return int(self.samples.shape[0])

    def dense(self) -> FloatArray:
        return np.asarray(self.samples @ self.mixing.T)

    def squares(self) -> FloatArray:
        """|phi|^2 of each row."""
        inner = self.mixing.T @ self.mixing
        return np.asarray(self.samples.multiply(self.samples @ inner).sum(axis=1)).ravel()

    def hot(self, counts: IntArray | None) -> tuple[int, float]:
        """How many coordinates to keep up to date, and what a visit then costs."""
        n = self.mixing.shape[1]
        lengths = np.diff(self.samples.indptr)
        weights = np.repeat(np.ones(len(self)) if counts is None else counts, lengths)
        active = np.bincount(self.samples.indices, weights, minlength=n)
        active = active / (len(self) if counts is None else counts.sum())
        beyond = np.concatenate([active[::-1].cumsum()[::-1], [0.0]])
        cost = np.arange(n + 1) * active.sum() + n * beyond
        best = int(np.argmin(cost))
        return best, float(cost[best])

    def worth_it(self, passes: int, counts: IntArray | None) -> bool:
        """Whether the nonzeros are less work than the dense rows."""
        visits = passes * (len(self) if counts is None else int(counts.sum()))
        dense = 2.0 * self.mixing.shape[0]
        if visits * dense <= ENOUGH:
            return False
        return bool(visits * (dense - SLOWER * self.hot(counts)[1]) > ENOUGH)


Rows = FloatArray | MixedRows


@lazy_njit(error_model="numpy")
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


@lazy_njit(error_model="numpy")
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
