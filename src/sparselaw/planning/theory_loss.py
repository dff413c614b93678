"""The theoretical loss at real N and D, for arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparselaw.inputs import Inputs
from sparselaw.planning.allocate import Loss, Peak


def model_surface(inputs: Inputs) -> tuple[Loss, Peak]:
    """loss(N, D) for arrays, and where its double-descent peak stands."""
    from sparselaw.theory import loss_at, peak_of

    def loss(N: Any, D: Any) -> Any:
        pairs = np.broadcast_arrays(np.asarray(N, np.float64), np.asarray(D, np.float64))
        sizes = zip(pairs[0].ravel(), pairs[1].ravel(), strict=True)
        return np.array([loss_at(inputs, float(n), float(d)) for n, d in sizes]).reshape(pairs[0].shape)

    name, threshold = peak_of(inputs)
    return loss, Peak(threshold=threshold, name=name)
