"""What TF32 features do to the dense D-sweep: the paper computes its features with TF32 matrix products.

TF32 keeps ten bits of each factor. Rounding u gives another embedding, which does no harm. Rounding x does:
the model sees x' = x (1 + e), e about 3e-4, while the target is that of x. For dense inputs e is new in every
sample, so it acts as noise of relative variance e^2, about 1e-7 of the signal: as much as the loss itself at
the largest D of the paper's dense D-sweep.

For N >> D the readout fits w_hat = X' (X'^T X')^-1 X^T w, and its population loss is exactly
(w - w_hat)^T Sigma (w - w_hat) + sum_j w_hat_j^2 v_j E[e^2].
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from sparselaw.arrays import FloatArray
from sparselaw.experiments.paper import grids

TEACHERS = 8
REFINEMENTS = 3  # each wins the six digits that the Gram matrix leaves of sixteen
LOW_BITS = 13  # of the 23 bits of a float32's fraction that TF32 drops


def tf32(values: FloatArray) -> FloatArray:
    """Round to ten bits after the leading one, ties to even.

    >>> float(tf32(np.array([1.0 + 2.0**-10]))[0]) == 1.0 + 2.0**-10
    True
    >>> float(tf32(np.array([1.0 + 2.0**-12]))[0])
    1.0
    """
    bits = np.array(values, dtype=np.float32).view(np.uint32)
    bits += np.uint32((1 << (LOW_BITS - 1)) - 1) + ((bits >> LOW_BITS) & np.uint32(1))
    bits &= np.uint32(0xFFFFFFFF << LOW_BITS & 0xFFFFFFFF)
    return bits.view(np.float32).astype(np.float64)


def loss_ratio(setting: tuple[int, int]) -> float:
    """Loss with TF32 features over loss in double precision, on the same dense data; setting = (D, seed)."""
    D, seed = setting
    rng = np.random.default_rng([D, seed])
    v = np.arange(1.0, grids.DIMENSION + 1.0) ** -grids.DENSE.spectrum
    X = rng.standard_normal((grids.DIMENSION, D)) * np.sqrt(v)[:, None]
    teachers = rng.standard_normal((grids.DIMENSION, TEACHERS))
    targets = X.T @ teachers
    rounded = tf32(X)
    error = float(np.mean((rounded / X - 1.0) ** 2))
    return _loss(rounded, targets, teachers, v, error) / _loss(X, targets, teachers, v, 0.0)


def _loss(seen: FloatArray, targets: FloatArray, teachers: FloatArray, v: FloatArray, error: float) -> float:
    """The Gram matrix costs a quarter of a QR. Its condition number squares, which refinement takes back."""
    factor = cho_factor(seen.T @ seen, lower=True, check_finite=False)
    fitted = seen @ cho_solve(factor, targets, check_finite=False)
    for _ in range(REFINEMENTS):
        fitted += seen @ cho_solve(factor, targets - seen.T @ fitted, check_finite=False)
    return float(np.mean(v @ (teachers - fitted) ** 2 + error * (v @ fitted**2)))
