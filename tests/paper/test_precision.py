import numpy as np
import pytest

from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.precision import loss_ratio, tf32
from sparselaw.inputs import DenseInputs


def test_rounding_keeps_ten_bits():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(20_000).astype(np.float32).astype(float)
    fraction, power = np.frexp(x)
    exact = np.ldexp(np.round(fraction * 2.0**11), power - 11)  # eleven bits with the leading one
    np.testing.assert_array_equal(tf32(x), exact)
    assert np.mean((tf32(x) / x - 1) ** 2) == pytest.approx(8e-8, rel=0.5)


def test_loss_ratio_equals_a_fit_on_rounded_features(monkeypatch):
    monkeypatch.setattr(grids, "DIMENSION", 80)
    monkeypatch.setattr(grids, "DENSE", DenseInputs(alpha=4.5, dimension=80))
    ratio = loss_ratio((40, 3))
    # The naive twin: the same data, minimum norm by pinv, and a large fresh test set rounded likewise.
    rng = np.random.default_rng([40, 3])
    v = np.arange(1.0, 81.0) ** -5.5
    X = rng.standard_normal((80, 40)) * np.sqrt(v)[:, None]
    W = rng.standard_normal((80, 8))
    test = np.random.default_rng(1).standard_normal((80, 50_000)) * np.sqrt(v)[:, None]
    losses = []
    for seen, seen_test in ((tf32(X), tf32(test)), (X, test)):
        fitted = np.linalg.pinv(seen.T, rcond=1e-14) @ (X.T @ W)
        losses.append(np.mean((W.T @ test - fitted.T @ seen_test) ** 2))
    assert ratio == pytest.approx(losses[0] / losses[1], rel=0.02)  # 50,000 test samples: below 1 %
    assert ratio > 1.2  # so that the comparison says something
