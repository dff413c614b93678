import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, poisson

from sparselaw.sums.occupancy import occupancy, unseen_probability


def evaluate(mean, p, q):
    log_q = math.log(q) if q > 0 else -math.inf
    return occupancy(np.array([float(mean)]), np.array([p]), np.array([log_q]))


def naive(n, weight, q):
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(n > 0, n / (n + q) ** 2, 0.0)
        resolved = np.where(n > 0, n**2 / (n + q) ** 2, 0.0)
        lost = np.where(n > 0, q**2 / (n + q) ** 2, 1.0)
    return [np.sum(weight * f) for f in (resolved, inverse, lost)]


@settings(max_examples=150, deadline=None)
@given(
    D=st.integers(1, 2000),
    log_p=st.floats(-12, 0),
    log_q=st.floats(-12, 12),
)
def test_binomial_expectations_equal_the_sum_over_counts(D, log_p, log_q):
    p, q = math.exp(log_p), math.exp(log_q)
    n = np.arange(D + 1)
    o = evaluate(D * p, p, q)
    expected = naive(n, binom.pmf(n, D, p), q)
    np.testing.assert_allclose([o.resolved[0], o.inverse[0], o.lost[0]], expected, rtol=1e-9)


@settings(max_examples=80, deadline=None)
@given(log_mean=st.floats(-20, 6), log_q=st.floats(-12, 12))
def test_poisson_expectations_equal_the_sum_over_counts(log_mean, log_q):
    mean, q = math.exp(log_mean), math.exp(log_q)
    n = np.arange(1200)
    o = evaluate(mean, 0.0, q)
    expected = naive(n, poisson.pmf(n, mean), q)
    np.testing.assert_allclose([o.resolved[0], o.inverse[0], o.lost[0]], expected, rtol=1e-9)


@pytest.mark.parametrize("D", [1, 7, 10**13])
def test_a_coordinate_that_is_always_active_has_a_certain_count(D):
    o = evaluate(D, 1.0, 2.0)
    assert o.resolved[0] == pytest.approx(D**2 / (D + 2.0) ** 2, rel=1e-10)
    assert o.lost[0] == pytest.approx(4.0 / (D + 2.0) ** 2, rel=1e-10)
    assert unseen_probability(np.array([float(D)]), np.array([1.0]))[0] == 0.0


def test_the_three_parts_add_up_to_one():
    mean = np.logspace(-10, 13, 60)
    for q in (1e-9, 1.0, 1e9):
        o = occupancy(mean, np.full_like(mean, 1e-17), np.full_like(mean, math.log(q)))
        np.testing.assert_allclose(o.resolved + 2 * q * o.inverse + o.lost, 1.0, rtol=1e-11)


def test_no_cut_off_gives_the_mean_inverse_count():
    n = np.arange(1, 400)
    o = evaluate(5.0, 0.01, 0.0)
    assert o.inverse[0] == pytest.approx(np.sum(binom.pmf(n, 500, 0.01) / n), rel=1e-10)
    assert o.lost[0] == pytest.approx(0.99**500, rel=1e-12)
