"""The loss of N random features of real rows, many of them: the curve along the model size.

u has N rows with entries N(0, 1/N); the readout of the features u x is fitted to ``train``. For a random
teacher, averaged exactly, the answer to x is B^T-weighted: with Sigma = X^T X / n, A = u Sigma u^T and
B = Sigma u^T A^-1, the loss of a row is |x - B u x|^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparselaw.errors import InputError

LARGEST = 60_000_000  # features times N held at once


def projected_loss(train: Any, test: Any, N: int, rng: np.random.Generator) -> float:
    """The loss of N random features fitted to ``train``, as a share of the energy of ``test``."""
    features = train.shape[1]
    if features * N > LARGEST:
        raise InputError(
            "N", N, f"is too large for {features} features", f"choose N <= {LARGEST // features}"
        )
    u = rng.standard_normal((features, N)) / np.sqrt(N)
    hidden = np.asarray(train @ u)
    second = hidden.T @ hidden
    second[np.diag_indices(N)] += 1e-11 * np.trace(second) / N
    across = np.asarray(train.T @ hidden)
    answers = np.linalg.solve(second, across.T)  # B^T
    shown = np.asarray(test @ u)
    energy = float(test.multiply(test).sum())
    product = float(np.einsum("tn,tn->", shown, np.asarray(test @ answers.T)))
    square = float(np.einsum("tn,tn->", shown, shown @ (answers @ answers.T)))
    return (energy - 2.0 * product + square) / energy
