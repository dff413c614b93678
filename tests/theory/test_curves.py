"""Curves against their naive twins: the same numbers as point by point, to the tolerance they state."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sparselaw as sl
from oracles import curves as oracle
from sparselaw.errors import InputError
from sparselaw.sums.chebyshev import chebyshev_places, interpolate
from sparselaw.sums.count_points import lay_out
from sparselaw.sums.counts import CountSums
from sparselaw.sums.many_roots import solve_decreasing_many
from sparselaw.theory import curve, frontier, log_scaling_along, losses_at
from sparselaw.theory.collapse import log_scaling_function
from sparselaw.theory.count_curve import rough_losses, seen_along
from sparselaw.theory.prediction import prediction

SPARSE = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
CASES = {
    "usual": SPARSE,
    "rarer": sl.SparseInputs(alpha1=2.0, alpha2=-0.5),
    "crowded": sl.SparseInputs(alpha1=0.4, alpha2=0.5),
    "failing": sl.SparseInputs(alpha1=3.0, alpha2=-3.5),
    "finite": sl.SparseInputs(alpha1=1.0, alpha2=0.3, dimension=300),
    "dense": sl.DenseInputs(alpha=1.3, dimension=2000),
    "symmetric": sl.SparseInputs(alpha1=-0.3, alpha2=1.0, dimension=2000),
}
N = np.array([1, 2, 5, 11, 24, 53, 117, 260, 700, 5000])


@pytest.mark.parametrize("D", [1, 7, 60, 400])
def test_counts_laid_out_give_the_sums_over_every_count(D):
    p = np.array([1.0, 0.97, 0.6, 0.3, 0.02, 1e-4])
    c, weight = np.array([2.0, 0.5, 1.0, 0.1, 3.0, 0.7]), np.array([1.0, 1.0, 2.0, 5.0, 7.0, 100.0])
    sums = CountSums(weight, D * p, p, p, np.log(c), np.log(p * c), math.log(D))
    found = sums.points().at(np.log([0.01, 0.5, 20.0, 300.0]))
    for i, k in enumerate((0.01, 0.5, 20.0, 300.0)):
        exact = oracle.sums(weight, p, c, D, k)
        values = [found.resolved[i], found.partial[i], found.lost[i], found.noise[i]]
        np.testing.assert_allclose(values, exact, rtol=2e-9)


def test_a_lost_count_would_be_noticed():
    """The planted error: one point left out of the layout."""
    p, c = np.array([0.3]), np.array([1.0])
    weight, log_g, _ = lay_out(np.ones(1), 20 * p, p, np.log(c), p * c, 1.0 - (1.0 - p) ** 20, 20.0)
    assert weight.sum() == pytest.approx(1.0 - 0.7**20, rel=1e-14)
    assert weight[1:] @ np.exp(log_g[1:]) != pytest.approx(6.0, rel=1e-4)
    assert weight @ np.exp(log_g) == pytest.approx(6.0, rel=1e-11)


def test_cut_offs_far_apart_and_amplitudes_beyond_every_range():
    steep = sl.SparseInputs(alpha1=8.0, alpha2=29.0).count_sums(1e6)
    log_k = np.array([-900.0, -300.0, -5.0, 10.0])
    found = steep.points().at(log_k)
    for i, x in enumerate(log_k):
        one = steep.at(float(x))
        assert found.degrees[i] == pytest.approx(one.degrees, rel=1e-7)
        assert found.lost[i] == pytest.approx(one.lost, rel=1e-7)


@pytest.mark.parametrize("settings", [{}, {"ridge": 0.01}, {"noise": 0.1}, {"ridge": 1.0, "noise": 0.1}])
@pytest.mark.parametrize("name", CASES)
def test_leading_curve_along_N_is_its_points(name, settings):
    for D in (3, 800):
        found = curve(CASES[name], N=N, D=D, surface="leading", **settings)
        np.testing.assert_allclose(found, oracle.curve(CASES[name], N, D, **settings), rtol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_leading_curve_along_D_is_its_points(name):
    D = np.unique(np.geomspace(2, 3e7, 150).round())
    some = slice(1, None, 23)
    found = curve(CASES[name], N=40, D=D, surface="leading")
    np.testing.assert_allclose(found[some], oracle.curve(CASES[name], 40, D[some]), rtol=2e-4)


def test_leading_curve_along_D_with_ridge_and_noise():
    D = np.unique(np.geomspace(2, 1e6, 60).round())
    some = slice(0, None, 12)
    found = curve(SPARSE, N=40, D=D, surface="leading", ridge=0.1, noise=0.01)
    naive = oracle.curve(SPARSE, 40, D[some], ridge=0.1, noise=0.01)
    np.testing.assert_allclose(found[some], naive, rtol=2e-4)


def test_the_peak_is_infinite_and_its_sides_are_steep():
    table = sl.SparseInputs(alpha1=1.0, alpha2=0.3, dimension=3)
    D = 10**6
    seen = table.expected_seen(D)
    assert seen == 3.0
    assert np.isinf(curve(table, N=[3.0], D=D, surface="leading")).all()
    near = SPARSE.expected_seen(1e4) * np.array([1.0 - 1e-7, 1.0 + 1e-7])
    found = curve(SPARSE, N=near, D=1e4, surface="leading")
    unseen = SPARSE.expected_unseen(1e4)
    # Below, K - N falls as k^(alpha1/(alpha2+1)) and the slope of that enters.
    np.testing.assert_allclose(found, unseen * 1e7 * np.array([1.3, 1.0]), rtol=1e-2)


@pytest.mark.parametrize("name", ["usual", "crowded", "rarer"])
def test_seen_along_many_D_is_that_of_each(name):
    D = np.array([1.0, 30.0, 1e3, 1e7])
    inputs = CASES[name]
    known = seen_along(inputs, D)
    sums = [inputs.count_sums(d) for d in D]
    np.testing.assert_allclose(known.mean, [s.seen() for s in sums], rtol=1e-9)
    np.testing.assert_allclose(known.unseen, [s.unseen_variance() for s in sums], rtol=1e-9)
    np.testing.assert_allclose(known.spread**2, [s.seen_variance_of_count() for s in sums], rtol=1e-8)


@pytest.mark.parametrize(("alpha1", "budget"), [(1.5, 1e9), (0.5, 1e6)])
def test_sharp_pairs_along_a_budget_are_points(alpha1, budget):
    """N^2 D = budget: of many pairs a few are found and the rest lies between them; rough ones are near."""
    inputs = sl.SparseInputs(alpha1=alpha1, alpha2=0.3)
    N = np.geomspace(6.0, 0.2 * budget**0.5, 40).round()
    D = (budget / N**2).round()
    many = losses_at(inputs, N, D, surface="sharp")
    for i in (3, 12, 20, 37):
        own = sl.predict(inputs, N=int(N[i]), D=int(D[i])).loss
        assert many[i] == own or many[i] == pytest.approx(own, rel=0.01)
    rough = losses_at(inputs, N[:20:9], D[:20:9], surface="sharp", rough=True)
    np.testing.assert_allclose(rough, losses_at(inputs, N[:20:9], D[:20:9], surface="sharp"), rtol=0.3)


def test_pairs_for_plans_are_points_and_the_rough_ones_near_them():
    sizes, data = np.array([3.0, 40.0, 90.0, 2000.0]), np.array([1e5, 1e5, 2e3, 1e4])
    exact = oracle.curve(SPARSE, sizes, data)
    np.testing.assert_allclose(losses_at(SPARSE, sizes, data), exact, rtol=1e-6)
    np.testing.assert_allclose(rough_losses(SPARSE, sizes, data), exact, rtol=0.02)
    assert not np.allclose(rough_losses(SPARSE, sizes, data), exact, rtol=1e-6)


@pytest.mark.parametrize("name", ["usual", "crowded", "rarer", "failing", "dense"])
def test_scaling_function_along_many_xi(name):
    inputs = CASES[name]
    log_xi = math.log(inputs.exponents.xi_crit) + np.array([-2.0, -0.01, 0.003, 0.1, 1.0, 5.0, 60.0])
    naive = [log_scaling_function(inputs, float(x)) for x in log_xi]
    np.testing.assert_allclose(log_scaling_along(inputs, log_xi), naive, rtol=0, atol=1e-6)


def test_frontier_stands_where_the_loss_is_lowest():
    best = frontier(SPARSE).best

    def log_loss(log_xi):
        # C = N^2 D = xi^2 N^4 for alpha1 = 1 and N < K; loss = N^-2.3 S(xi)
        return log_scaling_along(SPARSE, log_xi) + 2.3 * 2.0 * log_xi / 4.0

    x, value = oracle.valley(log_loss, math.log(best.xi) - 0.02, math.log(best.xi) + 0.02)
    assert math.log(best.xi) == pytest.approx(x, abs=3e-5)
    assert math.log(best.constant) == pytest.approx(value, abs=1e-9)


def test_lists_of_predict_are_points_leading():
    sizes = [int(n) for n in np.unique(np.geomspace(2, 4000, 25).round())]
    frame = sl.predict(SPARSE, N=sizes, D=[300, 9000], surface="leading")
    assert list(frame["N"].unique()) == sizes
    assert list(frame["D"][:2]) == [300, 9000]
    for row in frame.iloc[::7].itertuples():
        point = sl.predict(SPARSE, N=row.N, D=row.D, surface="leading")
        assert row.loss == pytest.approx(point.loss, rel=1e-8)
        assert (row.K, row.xi) == (pytest.approx(point.K), pytest.approx(point.xi))
        assert row.caution == point.caution
        assert row.rank == pytest.approx(point.rank, rel=1e-5)


def test_lists_of_predict_are_points_sharp():
    """Not crowded, so that no closure is needed: a few seconds less."""
    inputs = sl.SparseInputs(alpha1=2.0, alpha2=-0.5)
    points = prediction(inputs, [int(n) for n in np.unique(np.geomspace(2, 400, 30).round())], 20_000).points
    for found in points[::4]:
        own = sl.predict(inputs, N=found.N, D=20_000)
        assert found.loss == pytest.approx(own.loss, rel=0.01)
        assert sum(found.terms.values()) == pytest.approx(found.loss)
        assert found.terms.keys() == own.terms.keys()
        assert found.loss_error == pytest.approx(own.loss_error, rel=0.1)
        assert (found.median is None) == (own.median is None)
        if own.median is not None:
            assert found.median == pytest.approx(own.median, rel=0.02)
        assert found.loss_reason == own.loss_reason


def test_a_size_may_stand_in_a_list_twice_and_in_any_order():
    inputs = sl.SparseInputs(alpha1=2.0, alpha2=-0.5)
    same = sl.predict(inputs, N=[5] * 20, D=1000)
    own = sl.predict(inputs, N=5, D=1000)
    assert set(same["loss"]) == {own.loss}
    sizes = [100, 5000, 20, 7, 90_000, 12, 30, 999, 44, 5, 6, 8, 77, 66]
    found = sl.predict(inputs, N=40, D=sizes, surface="leading")
    assert list(found["D"]) == sizes
    np.testing.assert_allclose(found["loss"], oracle.curve(inputs, 40, np.array(sizes)), rtol=2e-4)


def test_sharp_curve_along_D_is_its_points():
    inputs = sl.SparseInputs(alpha1=2.0, alpha2=-0.5)
    D = np.unique(np.geomspace(50, 1e7, 40).round())
    found = curve(inputs, N=40, D=D)
    naive = oracle.curve(inputs, 40, D[::5], surface="sharp")
    finite = np.isfinite(naive)
    assert (np.isinf(found[::5]) == ~finite).all()
    np.testing.assert_allclose(found[::5][finite], naive[finite], rtol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("D", [300, 50_000])
def test_sharp_curve_with_the_closure_is_its_points(D):
    inputs = sl.SparseInputs(alpha1=0.5, alpha2=0.2)
    sizes = np.unique(np.geomspace(2, 20_000, 60).round())
    found = curve(inputs, N=sizes, D=D)
    naive = oracle.curve(inputs, sizes[::6], D, surface="sharp")
    finite = np.isfinite(naive)
    np.testing.assert_allclose(found[::6][finite], naive[finite], rtol=0.01)


@pytest.mark.slow
def test_sharp_curve_along_D_where_the_leading_peak_lies_above_the_rank():
    """At D = 70 the leading surface has its peak, K = N = 100, and the rank is 63: none of it may be left."""
    inputs = sl.SparseInputs(alpha1=0.3, alpha2=1.0)
    D = np.unique(np.geomspace(10, 1000, 60).round())
    found = curve(inputs, N=100, D=D)
    naive = oracle.curve(inputs, 100, D[::5], surface="sharp")
    finite = np.isfinite(naive)
    np.testing.assert_allclose(found[::5][finite], naive[finite], rtol=0.01)


def test_ridge_and_noise_beside_the_sharp_surface():
    sizes = [3, 40, 4000]
    for settings in ({"ridge": 0.01}, {"noise": 0.1}):
        found = curve(CASES["rarer"], N=sizes, D=5000, **settings)
        naive = oracle.curve(CASES["rarer"], sizes, 5000, surface="sharp", **settings)
        np.testing.assert_allclose(found, naive, rtol=1e-6)


def test_what_is_no_line_is_refused():
    for sizes in (
        {"N": [1, 2], "D": [1, 2]},
        {"N": [0.0], "D": 3},
        {"N": 3, "D": [math.nan]},
        {"N": [], "D": 3},
    ):
        with pytest.raises(InputError):
            curve(SPARSE, **sizes)
    with pytest.raises(InputError, match="surface"):
        curve(SPARSE, N=[1], D=1, surface="flat")


def test_polynomials_through_a_few_places():
    places = chebyshev_places(-1.0, 3.0, 15)
    x = np.linspace(-1.0, 3.0, 50)
    np.testing.assert_allclose(interpolate(places, np.exp(places), x), np.exp(x), rtol=1e-9)
    assert (places[0], places[-1]) == (-1.0, 3.0)


def test_many_roots_from_bad_starts():
    wanted = np.array([-700.0, -3.0, 0.0, 5.0, 90.0])
    found = solve_decreasing_many(
        lambda x: (np.exp(-x), -np.exp(-x)), np.exp(-wanted), np.array([0.0, 50.0, -8.0, 5.0, -30.0])
    )
    np.testing.assert_allclose(found, wanted, atol=1e-9)
