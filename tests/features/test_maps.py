"""What features say of themselves, against the plain definition."""

import numpy as np
import pytest
from scipy import integrate

import sparselaw as sl
from oracles.features import OTHERS, PLAIN, gaussian_moment, gaussian_slope, layer
from oracles.sparse import as_matrix
from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse, preactivations
from sparselaw.errors import InputError
from sparselaw.features import FEATURES, Layer

SPARSE = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
ALL = [*FEATURES.values(), *OTHERS]
by_name = pytest.mark.parametrize("features", ALL, ids=lambda features: features.name)


@by_name
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_odd_part_is_what_it_says(features, dtype):
    z = np.array([-3.0, -0.7, 0.0, 1e-3, 2.5], dtype=dtype)
    up, down = features.apply(z.copy()), features.apply(-z)
    odd = (up - down) / 2
    if features.odd_slope is None:
        assert not np.allclose(odd / z[-1], odd[-1] / z[-1] * z / z[-1], rtol=1e-3)
        return
    assert odd == pytest.approx(features.odd_slope * z, rel=1e-6)
    assert features.even_part(z.copy()) == pytest.approx((up + down) / 2, rel=1e-6, abs=1e-7)
    assert features.even_part(z.copy()).dtype == dtype


@by_name
def test_values_and_their_scale(features):
    z = np.array([-3.0, -0.7, 0.0, 1e-3, 2.5])
    assert features.apply(z.copy()) == pytest.approx(PLAIN[features.name](z), rel=1e-14)
    scales = np.allclose(features.apply(3 * z), 3 * features.apply(z.copy()), rtol=1e-12)
    assert features.homogeneous == (scales and features.name in FEATURES)
    for apply in (Layer(features, 9).apply, layer(features.name, 9)):
        assert apply(z.copy()) == pytest.approx(features.apply(3 * z) / 3, rel=1e-14)


@by_name
@pytest.mark.parametrize("correlation", [-1.0, -0.6, 0.0, 0.3, 0.999, 1.0])
def test_gaussian_moments_by_integration(features, correlation):
    left, right = np.array([1.3, 0.4]), np.array([0.7])
    got = features.gaussian_moments(correlation * np.outer(left, right), left, right)
    if got is None:
        return
    expected = [[gaussian_moment(features.name, s, 0.7, correlation)] for s in left]
    assert got == pytest.approx(np.array(expected), abs=1e-9)
    if features.homogeneous:
        return
    at_width = Layer(features, 4).gaussian_moments(
        correlation * np.outer(left, right) / 4, left / 2, right / 2
    )
    assert at_width == pytest.approx(got / 4, rel=1e-12)


@pytest.mark.parametrize("deviation", [0.05, 1.0, 2.0, 6.0])
def test_hermite_sums_know_what_they_leave_out(deviation):
    """All of E f^2 at a correlation of one; between, the orders left out hold less than the last column."""
    kept = FEATURES["tanh"]._odd_orders(np.array([deviation]))[0]
    square = integrate.quad(lambda t: np.tanh(deviation * t) ** 2 * np.exp(-t * t / 2), -12, 12, points=[0.0])
    assert kept @ kept == pytest.approx(square[0] / np.sqrt(2 * np.pi), rel=1e-9)
    assert kept[-1] < (1e-5 if deviation <= 2 else 0.02)


@by_name
def test_gaussian_slopes_by_integration(features):
    """E[f(a) a] / E a^2."""
    slopes = features.gaussian_slopes(np.array([0.3, 1.7]))
    if slopes is None:
        return
    expected = [gaussian_slope(features.name, deviation) for deviation in (0.3, 1.7)]
    assert slopes == pytest.approx(np.array(expected), rel=1e-8)


def test_preactivations_of_patterns():
    data = draw_sparse(SPARSE, 200, np.random.default_rng(1))
    patterns = distinct_patterns(SPARSE, data)
    u = np.random.default_rng(2).standard_normal((9, len(data.active)))
    rows = preactivations(patterns.indptr, patterns.column, patterns.value, np.ascontiguousarray(u.T))
    assert pytest.approx(u @ as_matrix(SPARSE, data), abs=1e-13) == rows[patterns.inverse].T


@pytest.mark.parametrize("bad", [{"features": "foo"}, {"estimator": "foo"}, {"features": None}])
def test_unknown_words_are_refused_with_the_choices(bad):
    with pytest.raises(
        InputError,
        match=r"is not one of the choices; choose (linear or relu or leaky-relu or gelu or|exact or raw)",
    ):
        sl.simulate(SPARSE, N=4, D=10, seeds=1, **bad)
