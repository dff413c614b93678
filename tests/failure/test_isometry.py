import numpy as np
import pytest

from sparselaw.failure.direct import _gram, embedded_top, near_isometry
from sparselaw.failure.draw import data_law, work_space
from sparselaw.inputs import SparseInputs

INPUTS = SparseInputs(alpha1=2.0, alpha2=-1.2)


def test_wide_models_are_isometries_and_narrow_ones_are_not():
    wide = near_isometry(INPUTS, 10**8, 100, 1.1, replicates=50)
    assert abs(wide.ratio.best - 1) < 1e-3
    assert wide.full == wide.data
    narrow = near_isometry(INPUTS, 10, 100, 1.1, replicates=50)
    assert narrow.ratio.high > 1.5
    assert narrow.full.best > wide.full.best


@pytest.mark.parametrize("N", [3, 5, 40])
def test_embedding_against_a_plain_one(N):
    G = np.diag([5.0, 2.0, 1.0, 0.5]) + 0.3
    rng = np.random.default_rng(1)
    plain = []
    for _ in range(4000):
        u = rng.standard_normal((N, 4)) / N**0.5
        plain.append(np.linalg.eigvalsh(u @ G @ u.T)[-1])
    fast = [embedded_top(G, N, rng) for _ in range(4000)]
    spread = np.hypot(np.std(plain), np.std(fast)) / 4000**0.5
    assert abs(np.mean(plain) - np.mean(fast)) < 4.5 * spread  # false alarm 7e-6
    assert abs(np.mean(plain) * 1.1 - np.mean(fast)) > 4.5 * spread


def test_gram_has_the_model_second_moments():
    D = 50
    law = data_law(INPUTS, D, np.inf, np.inf)
    space, rng = work_space(law, float(law.active.sum())), np.random.Generator(np.random.PCG64(1))
    second = []
    for _ in range(1500):
        G = _gram(law, space, rng)
        assert G[0, 0] == D
        seen_two = len(G) > 1
        second.append(np.trace(G) if seen_two else D)
    variance = sum(j**-2.8 for j in range(1, 10**5))
    assert np.mean(second) / D == pytest.approx(variance, rel=0.02)


def test_same_seed_same_record():
    assert near_isometry(INPUTS, 20, 30, 1.5, replicates=5) == near_isometry(
        INPUTS, 20, 30, 1.5, replicates=5
    )
