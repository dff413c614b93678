"""The theoretical loss at real N and D: what `theory.predict` says, without rounding the sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparselaw.inputs import Inputs, SparseInputs
from sparselaw.planning.allocate import Loss, Peak


def model_surface(model: Inputs) -> tuple[Loss, Peak]:
    """loss(N, D) for arrays, and where its double-descent peak stands."""
    from sparselaw.sums.spectral_sums import sparse_sums
    from sparselaw.theory.dense_surface import dense_loss
    from sparselaw.theory.sparse_surface import sparse_loss

    if isinstance(model, SparseInputs) and model.alpha1 > 0.0:

        def sparse_point(N: float, D: float) -> float:
            sums = sparse_sums(model, D)
            return float(sparse_loss(sums, N, sums.seen(), 0.0, 0.0).loss)

        def seen(D: float) -> float:
            return float(sparse_sums(model, D).seen())

        return _over_arrays(sparse_point), Peak(threshold=seen, name="K")

    def dense_point(N: float, D: float) -> float:
        return float(dense_loss(model.spectrum, model.dimension, N, D, 0.0, 0.0).loss)

    return _over_arrays(dense_point), Peak(threshold=lambda D: D, name="D")


def _over_arrays(point: Any) -> Loss:
    def loss(N: Any, D: Any) -> Any:
        pairs = np.broadcast_arrays(np.asarray(N, np.float64), np.asarray(D, np.float64))
        values = [point(float(n), float(d)) for n, d in zip(pairs[0].ravel(), pairs[1].ravel(), strict=True)]
        return np.array(values).reshape(pairs[0].shape)

    return loss
