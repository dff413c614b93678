"""What few nonlinear features add to the loss: uneven signs, and samples that tell more apart."""

import math

import numpy as np
import pytest

import sparselaw as sl
from oracles import bent
from sparselaw import SparseInputs
from sparselaw.features import FEATURES
from sparselaw.nonlinear.features_limit import _first_type, features_limit
from sparselaw.nonlinear.kernel_loops import mean_size
from sparselaw.nonlinear.response import KINK, kinked
from sparselaw.nonlinear.samples import DrawnRegression, drawn_regression
from sparselaw.nonlinear.sector_tables import sector_table, unit_types
from sparselaw.nonlinear.width_limit import width_limit

SMALL = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=5)
RELU = kinked(slope=0.5, kink=0.5)


def whole_table(nodes=3):
    """Of few coordinates, with nothing left out."""
    return sector_table(SMALL, (KINK,), 1e-3, unit_types(True, 0, (nodes, 1)), 1e-9, 1e-9)


@pytest.mark.parametrize("part", [KINK, FEATURES["gelu"].response.parts[0]], ids=["kink", "gelu"])
def test_means_and_slopes_are_integrals(part):
    """Against sums on a fine grid, slopes by Stein; at a deviation of zero the mean is f itself."""
    means, deviations = np.array([0.3, 1.0, 2.5]), np.array([0.2, 0.9])
    mean, slope = part.mean_and_slope(means, deviations)
    g = np.linspace(-9.0, 9.0, 200_001)
    w = np.exp(-0.5 * g**2)
    w /= w.sum()
    for i, s in enumerate(deviations):
        for k, m in enumerate(means):
            values = part.f(m + s * g)
            assert mean[i, k] == pytest.approx(w @ values, abs=1e-7)
            assert slope[i, k] == pytest.approx(w @ (g * values) / s, abs=1e-6)
    assert part.mean_and_slope(means, np.zeros(1))[0][0] == pytest.approx(part.f(means), abs=1e-9)


@pytest.mark.parametrize("j", [1, 2, 4])
def test_what_one_sign_joins_is_that_of_every_pattern(j):
    """The squared length of what joins x_j with even functions, over all samples of 5 coordinates."""
    table = whole_table()
    s = float(SMALL.variances(np.array([float(j)]))[0])
    u = table.types.nodes[0]
    found = np.zeros(u.size)
    for group in table.groups:
        own = group.straight
        mine = np.isclose(own, 0.25 * (u**2 if j == 1 else s)).all(axis=1)
        found += np.sum(group.along[mine] ** 2, axis=(0, 1))
    for k, t in enumerate(u):
        expected = bent.joined_square(SMALL, j, float(t), lambda m, v: 0.5 * float(mean_size(m, v)))
        assert found[k] == pytest.approx(expected, rel=2e-3)


def test_uneven_signs_add_the_mean_of_the_sign_resolved_loss():
    """Second differences of the loss with given numbers of either sign; a planted half is seen."""
    N, table = 6.0, whole_table()
    w = table.types.weights.ravel()

    def loss(uneven):
        return bent.loss_of_signs(table, N, uneven)

    base, mean = loss(np.zeros(w.size)), 0.0
    for t in range(w.size):
        e = np.zeros(w.size)
        e[t] = 0.05 * w[t]
        mean += 0.5 * (w[t] / N) * (loss(e) - 2.0 * base + loss(-e)) / e[t] ** 2
    found = width_limit(SMALL, table, N, signs=True)
    assert found.loss / (1.0 + found.correction) == pytest.approx(base, rel=1e-4)
    added = found.signs * found.loss
    assert added / base > 0.03
    assert added == pytest.approx(mean, rel=5e-3)
    assert 0.5 * added != pytest.approx(mean, rel=5e-3)


def test_odd_features_have_no_signs():
    inputs = SparseInputs(alpha1=1.5, alpha2=0.0)
    assert _first_type(inputs, FEATURES["tanh"].response, 20.0)[1].signs == 0.0


def test_gaussian_features_on_drawn_samples_have_the_loss_of_the_equivalent():
    """4 standard errors (one false alarm in 16,000) and 4 %: the next order. Its first part alone is seen."""
    rng = np.random.default_rng(3)
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    drawn = drawn_regression(inputs, RELU, 320, rng)
    N = drawn.rank // 2
    joint = bent.joint_root(drawn)
    losses = np.array([bent.gaussian_features_loss(drawn, joint, N, rng) for _ in range(400)])
    allowed = 4.0 * losses.std(ddof=1) / math.sqrt(losses.size) + 0.04 * losses.mean()
    assert abs(drawn.loss(N) - losses.mean()) < allowed
    assert abs(drawn.error(drawn.weights(drawn.ridge(N))) - losses.mean()) > allowed


def test_linear_features_of_coordinates_apart_have_the_loss_surface():
    """Each sample shows one coordinate: k^2 A N/(N - B), A = sum s/(g + k)^2, B = sum g^2/(g + k)^2."""
    rng = np.random.default_rng(1)
    n, c, p = rng.integers(1, 40, 30).astype(float), rng.random(30) + 0.1, rng.random(30) / 30.0
    a, g, s, N = np.sqrt(c), n * c, p * c, 12.0
    drawn = DrawnRegression(
        values=g,
        targets=np.diag(np.sqrt(n) * a),
        fresh=np.diag(a),
        share=30.0 * p,
        own=c,
        near=np.diag(c * np.sqrt(n)),
        even=None,
        straight=np.zeros((30, 30)),
        seen=np.arange(30.0),
        counts=n,
        variances=s,
        unseen=0.0,
    )
    k = drawn.ridge(N)
    assert np.sum(g / (g + k)) == pytest.approx(N)
    A, B = np.sum(s / (g + k) ** 2), np.sum(g**2 / (g + k) ** 2)
    assert drawn.loss(N) == pytest.approx(k**2 * A * N / (N - B), rel=1e-10)


def test_a_steep_spectrum_has_tables_for_few_features_alone():
    """At (3, 2) tanh has none from N = 16 on: the loss goes on with the exponent of the last, and says so."""
    found = features_limit(SparseInputs(alpha1=3.0, alpha2=2.0), FEATURES["tanh"].response, 64.0)
    assert 0.0 < found.loss < 1e-6
    assert 2.0 <= found.beyond < 16.0


def test_nothing_unknown_is_no_loss_even_at_the_peak():
    """One coordinate: a ReLU has the rank two, and two units know everything."""
    point = sl.predict(SparseInputs(alpha1=1.0, alpha2=0.3, dimension=1), N=2, D=1000, features="relu")
    assert point.loss == 0.0
    assert point.loss_reason == ""


def test_both_sizes_have_the_simulated_loss():
    """4 standard errors (one false alarm in 16,000) and 6 %; without a third of what samples add it fails."""
    inputs, N, D = SparseInputs(alpha1=1.2, alpha2=-0.3), 70, 1280
    losses = sl.simulate(inputs, N=N, D=D, seeds=24, features="tanh", workers=1)["loss"]
    allowed = 4.0 * losses.std() / math.sqrt(losses.size) + 0.06 * losses.mean()
    found = sl.predict(inputs, N=N, D=D, features="tanh").loss
    added = found - features_limit(inputs, FEATURES["tanh"].response, N).loss
    assert abs(found - losses.mean()) < allowed
    assert abs(found - added / 3.0 - losses.mean()) > allowed
