"""The hard edge of the surface against drawn Wishart matrices, and the cavity where samples are crowded."""

import numpy as np
import pytest

from sparselaw.gram.cavity import Cavity
from sparselaw.gram.counts import Counts
from sparselaw.gram.nodes import table_nodes
from sparselaw.gram.sampled import Sampled
from sparselaw.surface.state import excess


@pytest.mark.parametrize("nu", [0, 1, 2, 5])
def test_drawn_wishart_matrices_have_the_trace_of_the_edge(nu):
    """E tr W (W + s/K)^-2/K, z = 4 and 5 % for K = 60 being finite; 1/F alone is up to 50 % off."""
    K, runs, s = 60, 800, np.array([0.01, 0.1, 0.5])
    rng, found = np.random.default_rng(nu), []
    for _ in range(runs):
        lam = np.linalg.svd(rng.normal(size=(K, K + nu)), compute_uv=False) ** 2
        found.append((lam[:, None] / (lam[:, None] + s / K) ** 2).sum(axis=0) / K)
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(runs)
    F = np.sqrt(nu**2 + 4.0 * s)
    at = np.full(s.shape, float(nu))
    psi = (1.0 + nu**2 / F**3 + excess(at, 0.5 * (F + nu), 0.5 * (F - nu))) / F
    assert (np.abs(psi - mean) < 4.0 * error + 0.05 * mean).all()


def test_without_ridge_the_edge_is_the_inverse_wishart_matrix():
    nu = np.array([2.0, 3.0, 10.0])
    assert 1.0 + 1.0 / nu + excess(nu, nu, np.zeros(3)) == pytest.approx(nu / (nu - 1.0))


@pytest.mark.parametrize(("p", "M", "D"), [(0.2, 200, 100), (0.05, 150, 100), (0.01, 400, 200)])
def test_the_cavity_converges_where_samples_are_crowded(p, M, D):
    """Its two ways to S agree, and no more is resolved than there are samples."""
    coordinates = np.array([float(M)]), np.array([p]), np.array([1.0])
    log_k = np.array([-8.0, -3.0, 0.0])
    y = Sampled(Counts(table_nodes(*coordinates, float(D))), D).inner(log_k)
    for state in Cavity(*coordinates, 1000.0).many(np.full(3, float(D)), log_k, y):
        S, _, _, _, checked = state.sums
        assert checked == pytest.approx(1.0, abs=1e-3)
        assert S <= D * (1.0 + 1e-4)
