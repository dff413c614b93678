"""Laws of the Gram matrix against plain sums, and against Marchenko and Pastur's law."""

import numpy as np
import pytest
from scipy.stats import binom

from sparselaw.gram.counts import Counts, count_points
from sparselaw.gram.law import Atoms, Moments
from sparselaw.gram.nodes import power_nodes, table_nodes
from sparselaw.gram.sampled import Sampled
from sparselaw.inputs import SparseInputs, TabulatedInputs

X = np.linspace(-12.0, 8.0, 9)


def traces_of(weight, g, s, unseen, x):
    """The eight moments, term by term."""
    f = g / (g + np.exp(x)[:, None])
    S = [(weight * f * (1 - f) * f**k).sum(axis=1) for k in range(3)]
    A = [(s * (1 - f) ** 2 * f**k).sum(axis=1) for k in range(3)]
    return np.stack([(weight * f).sum(axis=1), *S, A[0] + unseen, *A[1:], (s * f * (1 - f)).sum(axis=1)])


@pytest.mark.parametrize("D", [40.0, 55.0, 100.0, 3000.0])
@pytest.mark.parametrize("p", [1e-4, 0.2, 0.47, 0.53, 0.6, 0.74, 0.9, 0.995, 1.0])
def test_the_quadrature_of_counts_is_the_binomial_mean(p, D):
    found = count_points(np.array([D * p]), np.array([p]), D)
    n = np.arange(D + 1)
    for kappa in (0.3, 30.0):
        exact = binom.pmf(n, D, p) @ (n / (n + kappa))
        assert found.chance @ (found.n / (found.n + kappa)) == pytest.approx(exact, rel=1e-11)
    assert found.chance.sum() == pytest.approx(1.0, rel=1e-12)


def test_many_atoms_are_as_good_on_their_lattice():
    law = Counts(power_nodes(1.0, 0.3, np.inf, 50_000.0))
    assert law.lattice[0].size < law.weight.size / 6
    plain = traces_of(law.weight, np.exp(law.log_g), law.variance, law.unseen, X)
    assert law.at(X).rows() == pytest.approx(plain, rel=5e-9)


def test_counts_of_a_power_law_are_those_of_its_coordinates():
    p, c = (np.arange(1.0, 701.0) ** -power for power in (1.8, 1.2))
    power = Counts(power_nodes(0.8, 0.2, 700.0, 900.0))
    table = Counts(table_nodes(np.ones(700), p, c, 900.0))
    assert power.at(X).rows() == pytest.approx(table.at(X).rows(), rel=1e-8)
    assert power.rank == pytest.approx(table.rank, rel=1e-10)


def test_the_moments_are_derivatives_along_x():
    law = Sampled(Counts(power_nodes(0.6, 0.4, 2000.0, 300.0)), 300.0)
    h, x = 1e-3, np.array([-1.0, 1.5])
    m = law.at(x)
    ahead, behind = law.at(x + h), law.at(x - h)
    assert (behind.S - ahead.S) / (2 * h) == pytest.approx(m.P, rel=1e-5)
    assert (ahead.t - behind.t) / (2 * h) == pytest.approx(m.T, rel=1e-5)
    again = Moments.of_derivatives(*m.derivatives())
    assert again.rows() == pytest.approx(m.rows(), rel=1e-9)


def test_counts_without_scatter_make_marchenko_and_pastur():
    """One variance, D samples of M coordinates: the resolvent solves a quadratic equation."""
    M, D, v = 60.0, 150.0, 0.7
    law = Sampled(Atoms(np.array([M]), np.log([D * v]), np.array([M * v])), D)
    kappa = np.array([0.5, 20.0, 300.0])
    found = law.at(np.log(kappa))
    # S = M s: kappa = (D v (1-s)/s)(1 - M s/D)
    roots = [np.roots([v * M, -(v * D + v * M + k), v * D]).min() for k in kappa]
    assert found.S == pytest.approx(M * np.array(roots), rel=1e-11)


def test_more_features_than_samples_end_at_a_positive_ridge():
    """200 coordinates with p = 0.2 and D = 100: the rank is D, and half of the variance stays unresolved."""
    one = np.array([200.0]), np.array([0.2]), np.array([1.0])
    law = Sampled(Counts(table_nodes(*one, 100.0), one), 100.0)
    end = law.at(np.array([-np.inf]))
    assert law.rank == 100.0
    assert end.A0[0] == pytest.approx(20.0, rel=1e-6)  # all alike: a half of 40
    near = law.at(np.array([-12.0]))
    assert near.S[0] == pytest.approx(100.0, abs=1e-3)
    assert near.t[0] == pytest.approx(end.A0[0], rel=1e-4)


@pytest.mark.parametrize(("K", "D"), [(2, 12), (3, 25), (5, 60), (8, 40)])
def test_the_next_order_of_coordinates_that_are_always_active(K, D):
    """Sign vectors: E tr G^+ = (D-2)/(D (D-K-1)) tr of 1/c, for vectors of any direction exact.

    The effective medium has 1/(D-K), which is off by eight times the error allowed.
    """
    c = np.linspace(0.5, 2.0, K)
    law = TabulatedInputs(np.full(K, 1.0), c).gram(float(D))
    exact = float(np.sum(1.0 / c)) * (D - 2.0) / (D * (D - K - 1.0))
    off = abs(2.0 / D - 1.0 / (D - K))
    assert abs(law.inverses()[0] / exact - 1.0) < off / 10.0
    assert abs(float(np.sum(1.0 / c)) / (D - K) / exact - 1.0) > 0.8 * off


@pytest.mark.parametrize(("alpha1", "D"), [(-0.1, 7), (-0.2, 7), (-0.1, 8), (0.0, 12)])
def test_the_closure_of_a_few_samples_does_not_hang_on_its_start(alpha1, D):
    """A start moved by 1e-12 moves S by less than 1e-6; deeper than S = D it once moved by 4 to 30 %."""
    law = SparseInputs(alpha1=alpha1, alpha2=0.5, dimension=500).gram(float(D))
    x = np.arange(law._lowest, 8.0)
    y, samples = law.inner(x), np.full(x.size, float(D))
    one, other = (law.cavity.many(samples, x, start) for start in (y, y + 1e-12))
    moved = [abs(b.sums[0] / a.sums[0] - 1.0) for a, b in zip(one, other, strict=True)]
    assert max(moved) < 1e-6
