"""Roots of Wishart matrices have the law they should."""

import numpy as np

from sparselaw.data.gaussian_span import wishart_root


def test_wishart_root_has_the_wishart_mean_and_variance():
    """E W = nu I, Var W_ij = nu (1 + [i = j]); |z| < 4.5 over the entries."""
    rng = np.random.default_rng(5)
    draws = np.array([(lambda L: L @ L.T)(wishart_root(9, 4, rng)) for _ in range(4000)])
    variance = 9.0 * (1 + np.eye(4))
    assert np.all(np.abs(draws.mean(axis=0) - 9.0 * np.eye(4)) < 4.5 * np.sqrt(variance / 4000))
    assert np.allclose(draws.var(axis=0), variance, rtol=0.15)
