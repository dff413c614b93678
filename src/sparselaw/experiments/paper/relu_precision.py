"""What TF32 features and a pseudoinverse in single precision do to ReLU features, on the same draws.

Features are relu(u x) with the factors of every product rounded to ten bits and sums in single precision; the
readout is a pseudoinverse by singular values in single precision with the paper's relative tolerance, which
cuts none of them. Loss over loss in double precision, both on the same fresh test set and averaged over
teachers. Dense inputs are cut to 2,000 coordinates, and a wide layer to as many units: what counts is how the
rounding, 1e-7 of the signal, compares with the loss, and that changes little with either.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from sparselaw.arrays import FloatArray
from sparselaw.data.patterns import distinct_patterns
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.precision import tf32

RTOL = 1e-10
DENSE_COORDINATES, DENSE_SAMPLES, WIDE, TESTS, TEACHERS = 2_000, 5_000, 2_000, 2_000, 64

Setting = tuple[str, int, int]  # sweep, size along it, seed


def loss_ratio_relu(setting: Setting) -> float:
    """Loss in single precision with TF32 features over loss in double precision."""
    sweep, size, seed = setting
    rng = np.random.default_rng([size, seed, len(sweep)])
    N = WIDE if sweep.endswith("D-sweep") else size
    if sweep.startswith("sparse"):
        rows, tests, counts, weights = _sparse(rng)
    else:
        scale = np.arange(1.0, DENSE_COORDINATES + 1.0) ** (-grids.DENSE.spectrum / 2.0)
        D = size if sweep.endswith("D-sweep") else DENSE_SAMPLES
        rows, tests = (rng.standard_normal((n, scale.size)) * scale for n in (D, TESTS))
        counts, weights = np.ones(D), np.full(TESTS, 1.0 / TESTS)
    u = rng.standard_normal((rows.shape[1], N)) / np.sqrt(N)
    teachers = rng.standard_normal((rows.shape[1], TEACHERS))
    losses = []
    for rounded in (True, False):
        root = np.sqrt(counts)[:, None]
        phi, targets = _features(rows, u, rounded) * root, (rows @ teachers) * root
        theta = _pseudoinverse(phi, targets) if rounded else _least_norm(phi, targets)
        errors = tests @ teachers - _features(tests, u, rounded).astype(np.float64) @ theta
        losses.append(float(weights @ np.mean(errors**2, axis=1)))
    return losses[0] / losses[1]


def _pseudoinverse(phi: np.ndarray, targets: FloatArray) -> FloatArray:
    """By singular values in the precision of ``phi``."""
    return np.asarray(np.linalg.pinv(phi, rcond=RTOL).astype(np.float64) @ targets)


def _least_norm(phi: FloatArray, targets: FloatArray) -> FloatArray:
    """The same readout by QR, where no singular value is cut: several times as fast."""
    if phi.shape[0] >= phi.shape[1]:
        Q, R = np.linalg.qr(phi)
        return np.asarray(solve_triangular(R, Q.T @ targets))
    Q, R = np.linalg.qr(phi.T)
    return np.asarray(Q @ solve_triangular(R, targets, trans="T"))


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
