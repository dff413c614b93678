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
from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse
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
    v = np.arange(1.0, grids.DIMENSION + 1.0) ** -grids.DENSE.power_law().spectrum
    X = rng.standard_normal((grids.DIMENSION, D)) * np.sqrt(v)[:, None]
    teachers = rng.standard_normal((grids.DIMENSION, TEACHERS))
    targets = X.T @ teachers
    rounded = tf32(X)
    error = float(np.mean((rounded / X - 1.0) ** 2))
    return _loss(rounded, targets, teachers, v, error) / _loss(X, targets, teachers, v, 0.0)


def _loss(seen: FloatArray, targets: FloatArray, teachers: FloatArray, v: FloatArray, error: float) -> float:
    """The loss by way of the Gram matrix, a quarter of the cost of a QR; refinement wins its digits back."""
    factor = cho_factor(seen.T @ seen, lower=True, check_finite=False)
    fitted = seen @ cho_solve(factor, targets, check_finite=False)
    for _ in range(REFINEMENTS):
        fitted += seen @ cho_solve(factor, targets - seen.T @ fitted, check_finite=False)
    return float(np.mean(v @ (teachers - fitted) ** 2 + error * (v @ fitted**2)))


# What TF32 features and a pseudoinverse in single precision do to ReLU features, on the same draws.
#
# Features are relu(u x) with the factors of every product rounded to ten bits and sums in single precision;
# the readout is a pseudoinverse by singular values in single precision with the paper's relative tolerance,
# which cuts none of them. Loss over loss in double precision, both on the same fresh test set and averaged
# over teachers. Dense inputs are cut to 2,000 coordinates, and a wide layer to as many units: what counts is
# how the rounding, 1e-7 of the signal, compares with the loss, and that changes little with either.

RTOL = 1e-10
DENSE_COORDINATES, DENSE_SAMPLES, WIDE, TESTS, RELU_TEACHERS = 2_000, 5_000, 2_000, 2_000, 64

Setting = tuple[str, int, int]  # sweep, size along it, seed


def loss_ratio_relu(setting: Setting) -> float:
    """Loss in single precision with TF32 features over loss in double precision."""
    sweep, size, seed = setting
    rng = np.random.default_rng([size, seed, len(sweep)])
    N = WIDE if sweep.endswith("D-sweep") else size
    if sweep.startswith("sparse"):
        rows, tests, counts, weights = _sparse(rng)
    else:
        scale = np.arange(1.0, DENSE_COORDINATES + 1.0) ** (-grids.DENSE.power_law().spectrum / 2.0)
        D = size if sweep.endswith("D-sweep") else DENSE_SAMPLES
        rows, tests = (rng.standard_normal((n, scale.size)) * scale for n in (D, TESTS))
        counts, weights = np.ones(D), np.full(TESTS, 1.0 / TESTS)
    u = rng.standard_normal((rows.shape[1], N)) / np.sqrt(N)
    teachers = rng.standard_normal((rows.shape[1], RELU_TEACHERS))
    losses = []
    for rounded in (True, False):
        root = np.sqrt(counts)[:, None]
        phi, targets = _features(rows, u, rounded) * root, (rows @ teachers) * root
        # a pseudoinverse in the precision of phi; in double precision no singular value is cut
        theta = np.linalg.pinv(phi, rcond=RTOL) @ targets if rounded else np.linalg.lstsq(phi, targets)[0]
        errors = tests @ teachers - _features(tests, u, rounded).astype(np.float64) @ theta
        losses.append(float(weights @ np.mean(errors**2, axis=1)))
    return losses[0] / losses[1]


def _features(x: FloatArray, u: FloatArray, rounded: bool) -> np.ndarray:
    if not rounded:
        return np.maximum(x @ u, 0.0)
    product = tf32(x).astype(np.float32) @ tf32(u).astype(np.float32)
    return np.maximum(product, np.float32(0.0))


def _sparse(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Distinct training and test samples as dense rows over the coordinates met, with their counts."""
    inputs = grids.SPARSE
    data = [draw_sparse(inputs, grids.SWEEP_D, rng) for _ in range(2)]
    active = np.union1d(data[0].active, data[1].active)
    found = []
    for drawn in data:
        patterns = distinct_patterns(inputs, drawn)
        rows = np.zeros((patterns.counts.size, active.size))
        rows[:, np.searchsorted(active, drawn.active)] = patterns.matrix(drawn.active.size).toarray()
        found.append((rows, patterns.counts.astype(np.float64)))
    (rows, counts), (tests, often) = found
    return rows, tests, counts, often / often.sum()
