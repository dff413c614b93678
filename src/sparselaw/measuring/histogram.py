"""Features put together by how many rows they are active in: all that rarefaction needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray

FEW = 1 << 16  # counts below this are told apart by an array, above by sorting


@dataclass(frozen=True, slots=True)
class Histogram:
    """``features`` features are active in ``count`` rows of ``rows`` and have together this ``energy``.

    ``total`` is the energy of all features (the sum of x^2 over all rows, of variances where centred).
    """

    rows: int
    count: FloatArray
    features: FloatArray
    energy: FloatArray
    total: float


def histogram(rows: int, n: NDArray[np.int64], energy: FloatArray, total: float | None = None) -> Histogram:
    """The features of counts n_j and energies e_j; those never active are left out.

    >>> found = histogram(10, np.array([2, 0, 2, 5]), np.array([2.0, 0.0, 3.0, 5.0]))
    >>> found.count.tolist(), found.features.tolist(), found.energy.tolist()
    ([2.0, 5.0], [2.0, 1.0], [5.0, 5.0])
    """
    few = n < FEW
    features = np.bincount(n[few], minlength=1)
    together = np.bincount(n[few], weights=energy[few], minlength=1)
    used = np.flatnonzero(features[1:]) + 1
    order = np.argsort(n[~few], kind="stable")
    by_count = np.concatenate([together[used], energy[~few][order]])
    return Histogram(
        rows,
        np.concatenate([used, n[~few][order]]).astype(np.float64),
        np.concatenate([features[used], np.ones(order.size)]).astype(np.float64),
        by_count,
        float(by_count.sum()) if total is None else total,
    )
