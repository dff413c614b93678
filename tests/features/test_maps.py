"""What features say of themselves, against the plain definition."""

import numpy as np
import pytest
from scipy import integrate

import sparselaw as sl
from oracles.features import OTHERS
from oracles.sparse import as_matrix
from sparselaw.data.patterns import distinct_patterns
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.errors import InputError
from sparselaw.features import FEATURES
from sparselaw.features.preactivations import preactivations

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
@pytest.mark.parametrize("correlation", [-1.0, -0.6, 0.0, 0.3, 0.999, 1.0])
def test_gaussian_moments_by_integration(features, correlation):
    """By Gauss-Hermite sums over two independent normals, and for the ReLU in polar coordinates below."""
    left, right = np.array([1.3, 0.4]), np.array([0.7])
    got = features.gaussian_moments(correlation * np.outer(left, right), left, right)
    if got is None or features.name == "relu":
        return
    x, weight = np.polynomial.hermite_e.hermegauss(80)
    weight = weight / weight.sum()
    for i in range(2):
        a = left[i] * np.repeat(x, len(x)).reshape(len(x), -1)
        b = right[0] * (correlation * a / left[i] + np.sqrt(1 - correlation**2) * x[None])
        expected = weight @ (features.apply(a.copy()) * features.apply(b)) @ weight
        assert got[i, 0] == pytest.approx(expected, abs=1e-9)


@by_name
def test_gaussian_slopes_by_integration(features):
    """E[f(a) a] / E a^2."""
    slopes = features.gaussian_slopes(np.array([0.3, 1.7]))
    if slopes is None:
        return
    for slope, deviation in zip(slopes, (0.3, 1.7), strict=True):

        def integrand(t, deviation=deviation):
            z = np.array([deviation * t])
            return float(features.apply(z)[0]) * t * np.exp(-t * t / 2) / np.sqrt(2 * np.pi)

        expected = integrate.quad(integrand, -12, 12, points=[0.0])[0] / deviation
        assert slope == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("correlation", [-1.0, -0.6, 0.0, 0.3, 0.999, 1.0])
def test_arc_cosine_by_integration(correlation):
    """In polar coordinates of the plane of the two: E[r^2] = 2 times the mean over the angle."""
    f = np.arccos(correlation)

    def integrand(t):
        return max(np.cos(t), 0.0) * max(np.cos(t - f), 0.0) / np.pi

    kinks = [-np.pi / 2, np.pi / 2, f - np.pi / 2]
    expected = integrate.quad(integrand, -np.pi, np.pi, points=kinks)[0]
    left, right = np.array([2.0, 0.0]), np.array([0.5])
    got = FEATURES["relu"].gaussian_moments(np.array([[correlation], [0.0]]), left, right)
    assert got[0, 0] == pytest.approx(expected, abs=1e-9)
    assert got[1, 0] == 0.0


def test_preactivations_of_patterns():
    data = draw_sparse(SPARSE, 200, np.random.default_rng(1))
    patterns = distinct_patterns(SPARSE, data)
    u = np.random.default_rng(2).standard_normal((9, len(data.active)))
    rows = preactivations(patterns.indptr, patterns.column, patterns.value, np.ascontiguousarray(u.T))
    assert pytest.approx(u @ as_matrix(SPARSE, data), abs=1e-13) == rows[patterns.inverse].T


@pytest.mark.parametrize("bad", [{"features": "foo"}, {"estimator": "foo"}, {"features": None}])
def test_unknown_words_are_refused_with_the_choices(bad):
    with pytest.raises(InputError, match=r"is not one of the choices; choose (linear or relu|exact or raw)"):
        sl.simulate(SPARSE, N=4, D=10, seeds=1, **bad)
