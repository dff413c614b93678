"""Activations known by their function alone: sectors against the whole kernel, limits against draws."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import erf

import sparselaw as sl
from oracles import smooth
from sparselaw.features import FEATURES, FeatureMap
from sparselaw.inputs import SparseInputs
from sparselaw.nonlinear.data_limit import RareErrors, data_limit
from sparselaw.nonlinear.features_limit import features_limit
from sparselaw.nonlinear.gaussian_limit import _table_sums
from sparselaw.nonlinear.gaussian_tables import gaussian_points, sector_kernels
from sparselaw.nonlinear.kernel_loops import mehler_kernel, reflected_kernel
from sparselaw.nonlinear.response import SIGN, Part, hermite_orders, kinked, response_of
from sparselaw.nonlinear.sector_tables import Types, sector_table, unit_types
from sparselaw.nonlinear.width_limit import total_variance, width_limit

FEW = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=4)
INPUTS = SparseInputs(alpha1=1.0, alpha2=0.3)


def both_parts(z):
    """Neither part of it is linear."""
    return np.tanh(z) + 0.5 * np.exp(-(z**2))


def half_slope(f):
    """f over twice E f(g) g, as the theory has it."""
    points, weights = np.polynomial.hermite_e.hermegauss(90)
    slope = weights @ (points * f(points)) / weights.sum()
    return lambda z: f(z) / (2.0 * slope)


@pytest.mark.parametrize("f", [np.tanh, erf, both_parts], ids=["tanh", "erf", "both"])
def test_sectors_have_the_whole_spectrum_and_the_target(f):
    """Brute force over all patterns: eigenvalues, trace, and x_j (K + nu)^-1 x_j of every coordinate."""
    table = sector_table(FEW, response_of(f).parts, 1.0, unit_types(False), 1e-300, 1e-300)
    values, often = table.spectrum()
    X, chance, kernel = smooth.whole_kernel(FEW, half_slope(f))
    found = np.sort(np.repeat(values, often.astype(int)))
    expected = np.sort(np.linalg.eigvalsh(kernel))[-found.size :]  # functions of the other parity have zero
    assert found == pytest.approx(expected, abs=1e-7)
    assert float(values @ often) == pytest.approx(np.trace(kernel), rel=1e-6)
    nu = 1e-2
    inverse = np.linalg.inv(np.eye(len(kernel)) + kernel / nu)
    targets = X * np.sqrt(chance)
    whole = np.einsum("ji,ik,jk->", targets, inverse, targets)
    mine = 0.0
    for group in table.groups:
        if group.target is not None:
            r = np.linalg.inv(np.eye(group.target.shape[1]) + group.mean(table.types.weights) / nu)
            mine += float(group.alike @ np.einsum("ci,cij,cj->c", group.target, r, group.target))
    assert mine == pytest.approx(whole, rel=1e-5)


def test_sectors_of_a_type_of_units():
    """Given |u_1|, with the means that it gives to both samples."""
    inputs, types = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=3), unit_types(True, 0, (3, 1))
    table = sector_table(inputs, response_of(np.tanh).parts, 1.0, types, 1e-300, 1e-300)
    X, chance, kernels = smooth.typed_kernel(inputs, half_slope(np.tanh), types.nodes[0])
    for i, kernel in enumerate(kernels):
        one = np.zeros(types.weights.shape)
        one[i] = 1.0
        found = np.concatenate([np.linalg.eigvalsh(group.mean(one)).ravel() for group in table.groups])
        expected = np.sort(np.linalg.eigvalsh(kernel))[-found.size :]
        assert np.sort(found) == pytest.approx(expected, abs=2e-5)
    del X, chance


@pytest.mark.parametrize("name", ["tanh", "erf", "gelu", "sign"])
def test_the_kernel_is_that_of_the_closed_forms(name):
    """Up to the factor that makes the slope 1/2."""
    features, rng = FEATURES[name], np.random.default_rng(3)
    X = rng.standard_normal((7, 3)) * np.array([1.0, 0.6, 0.3])
    G, deviations = X @ X.T, np.sqrt(np.sum(X**2, axis=1))
    expected = features.gaussian_moments(G, deviations, deviations)
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    slope = features.odd_slope or float(weights @ (points * features.apply(points.copy())) / weights.sum())
    if name == "sign":
        slope = math.sqrt(2.0 / math.pi)
    found = features.response.kernel(np.diag(G)[:, None], np.diag(G)[None, :], G)
    assert found == pytest.approx(expected / (4.0 * slope**2), abs=5e-6)


def test_the_orders_left_out_are_given_to_the_last():
    """A kink has orders without end: the variance is exact, and the share of the last is said."""
    orders = hermite_orders(np.abs, np.zeros(1), 1.5, 0)
    assert 1e-4 < orders.left_out < 1e-2
    one = np.ones((1, 1))
    assert mehler_kernel(orders, 0, one, one, one)[0, 0] == pytest.approx(1.0, rel=1e-3)
    assert hermite_orders(np.tanh, np.zeros(1), 1.5, 1).left_out < 1e-6


def test_what_an_activation_is_is_found_from_its_function():
    assert response_of(lambda z: np.maximum(z, 0.0)) == kinked(slope=0.5, kink=0.5)
    assert response_of(np.abs).slope == 0.0
    assert response_of(lambda z: 3.0 * np.sign(z)) == SIGN
    tanh, softplus = response_of(np.tanh), response_of(lambda z: np.logaddexp(0.0, z))
    assert (tanh.slope, tanh.even, len(tanh.parts)) == (None, False, 1)
    assert (softplus.slope, softplus.even, len(softplus.parts)) == (0.5, True, 1)
    assert len(response_of(both_parts).parts) == 2
    assert response_of(lambda z: 5.0 * np.tanh(z)) == tanh  # a factor is no matter
    assert response_of(lambda z: np.tanh(2.0 * z)) != tanh
    assert response_of(np.cos).slope == 0.0
    assert response_of(lambda z: np.sign(z) + np.sign(z - 1.0)) is None
    assert response_of(lambda z: np.sin(30.0 * z)) is None


def test_a_nearly_linear_activation_has_the_loss_of_linear_features():
    """tanh(z/1000) on sectors, against N = sum s/(s + k): within what cells of coordinates leave."""
    parts = response_of(lambda z: np.tanh(1e-3 * z)).parts
    table = sector_table(INPUTS, parts, 2e-6, unit_types(False), 1.0, 1e-3)
    found = width_limit(INPUTS, table, 40.0)
    linear = sl.predict(INPUTS, N=40, D=10**12, surface="leading").loss
    assert found.loss / (1.0 + found.correction) == pytest.approx(linear, rel=0.01)


@pytest.mark.slow
def test_losses_of_features_and_of_data():
    """Simulated: 7.20e-4 +- 2 % at N = 64, D = 300,000; R is 1.261 +- 0.023 and 5.4 +- 0.4 at D = 640."""
    narrow = sl.predict(INPUTS, N=64, D=10**9, features="tanh")
    assert narrow.loss == pytest.approx(7.20e-4, rel=0.05)
    assert narrow.caution == ""
    wide = data_limit(INPUTS, FEATURES["tanh"].response, 640.0) / INPUTS.expected_unseen(640.0)
    assert wide == pytest.approx(1.26, abs=0.05)
    step = data_limit(INPUTS, SIGN, 640.0) / INPUTS.expected_unseen(640.0)
    assert step == pytest.approx(5.4, rel=0.15)


def test_errors_that_do_not_end_go_on_with_their_exponent():
    errors = RareErrors(table=np.ones((8, 113)), fall=1.2)
    assert errors.beyond(np.array([56.0, 448.0])) == pytest.approx([1.0, 4.0**-1.2])
    assert RareErrors(table=np.ones((8, 15)), fall=math.inf).beyond(np.array([20.0])) == 0.0


def test_even_features_keep_the_variance_of_the_target():
    total = total_variance(INPUTS)
    narrow = sl.predict(INPUTS, N=192, D=200_000, features="abs")
    assert narrow.loss == pytest.approx(1.15324, abs=5e-4)  # simulated, +- 2e-5
    assert "even features" in narrow.caution
    wide = sl.predict(INPUTS, N=5000, D=640, features="abs")
    assert wide.loss == total
    assert "at least" in wide.caution


def test_a_jump_has_no_theory_where_both_sizes_matter():
    both = sl.predict(INPUTS, N=100, D=640, features="sign")
    assert math.isnan(both.loss)
    assert "no theory of an activation with a jump" in both.loss_reason


def test_too_few_dense_coordinates():
    with pytest.raises(sl.InputError, match="dimension=2"):
        sl.predict(sl.DenseInputs(alpha=2.3, dimension=2), N=20, D=100, features="relu")


def test_dense_inputs_and_a_jump():
    with pytest.raises(sl.InputError, match="features=sign: have no theory of dense inputs"):
        sl.predict(sl.DenseInputs(alpha=2.3, dimension=50), N=20, D=100, features="sign")


@pytest.mark.parametrize("dimension", [3, 400])
def test_dense_inputs_and_a_nearly_linear_activation(dimension):
    """Coordinates on points and faint ones: the spectrum and the loss of linear features."""
    inputs = sl.DenseInputs(alpha=1.5, dimension=dimension)
    response = response_of(lambda z: np.tanh(1e-3 * z))
    s, nu = inputs.variances(np.arange(1.0, dimension + 1.0)), 1e-4
    sums = _table_sums(inputs, response, 48, 5, nu)
    assert sums.spent == pytest.approx(np.sum(s / (s + 4.0 * nu)), rel=0.01)
    assert sums.once == pytest.approx(np.sum(s * 4.0 * nu / (s + 4.0 * nu)), rel=0.01)


def test_the_kernel_of_slopes():
    """E f'(X) f'(Y) from the Hermite coefficients of f, at a reflection and for a type of units."""
    head, rest = np.array([[0.8, 0.5], [1.1, 0.2]]), np.array([[0.3, 0.1], [0.1, 0.2]])
    types = Types(first=True, other=0, nodes=(np.array([0.7]), np.zeros(1)), weights=np.ones((1, 1)))
    found = reflected_kernel(Part("tanh", True, np.tanh), head, rest, types, slope=True)
    covariance = rest[0, 1] - head[0, 1] * head[1, 1]  # bits 3: both coordinates of the second are reflected
    variances = np.diag(rest) + head[:, 1] ** 2
    expected = smooth.pair_mean(
        lambda z: 1.0 - np.tanh(z) ** 2, 0.7 * 0.8, -0.7 * 1.1, variances[0], variances[1], covariance
    )
    assert found[3, 0, 1, 0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("typed", [(False, 0), (True, 0), (True, 2)])
@pytest.mark.parametrize("name", ["gelu", "tanh"])
def test_sectors_of_gaussian_points_are_those_of_all_their_reflections(typed, name):
    """The eigenvalues are those of the kernel between every reflection of every point."""
    inputs, n, q = sl.DenseInputs(alpha=1.5, dimension=5), 2, 2
    (part,), types = FEATURES[name].response.parts, unit_types(*typed, (2, 2))
    X = gaussian_points(inputs, n)
    kernels = sector_kernels(part, X, q, types)
    found = np.linalg.eigvalsh(kernels @ types.weights.ravel()).ravel()
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=q)))
    every = np.concatenate([np.concatenate([np.abs(X[:, :q]) * e, X[:, q:]], axis=1) for e in signs])
    kernel = smooth.reflected_kernel(every, part.f, types)
    assert np.sort(found) == pytest.approx(np.linalg.eigvalsh(kernel / len(every)), abs=1e-5)


class Arctangent(FeatureMap):
    name = "arctangent"

    def apply(self, z):
        return np.arctan(z)


@pytest.mark.slow
def test_a_new_activation_has_a_theory_from_its_function():
    """The naive projection on the span of N features: 4 standard errors (one in 16,000) and 3 %."""
    inputs, N = SparseInputs(alpha1=1.5, alpha2=0.0, dimension=60), 48
    losses = smooth.projection_losses(inputs, np.arctan, N, 20_000, 100, np.random.default_rng(2))
    allowed = 4.0 * losses.std(ddof=1) / math.sqrt(losses.size) + 0.03 * losses.mean()
    response = Arctangent().response
    assert abs(features_limit(inputs, response, float(N)).loss - losses.mean()) < allowed
    assert abs(features_limit(inputs, response, 1.2 * N).loss - losses.mean()) > allowed
