"""The corrections of the loss surface: against plain sums, in their limits, and against drawn data."""

import math

import numpy as np
import pytest

from oracles import theory as oracles
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.sums.count_nodes import count_nodes
from sparselaw.theory import curve, predict, rank_of
from sparselaw.theory.below_rank import below_rank
from sparselaw.theory.count_setting import count_setting
from sparselaw.theory.count_spread import independent_scatter, scatter_share
from sparselaw.theory.count_surface import count_loss
from sparselaw.theory.finite_width import diagonal_sums, width_share
from sparselaw.theory.leading_point import LeadingPoint
from sparselaw.theory.peak_median import median_gap


@pytest.mark.parametrize(("alpha1", "alpha2", "D"), [(1.0, 0.3, 150), (0.5, 0.5, 400), (2.0, -1.5, 150)])
def test_points_of_counts_add_up_like_every_count(alpha1, alpha2, D):
    p, c, s = oracles.spectrum(alpha1, alpha2, 80)
    nodes = count_nodes(np.ones(80), p, c, float(D))
    k = 0.7
    g = nodes.n * c[nodes.coordinate]
    f, weight, variance = g / (g + k), nodes.point_weight, s[nodes.coordinate]
    assert float(weight.sum()) == pytest.approx(80.0, rel=1e-11)
    for m in range(5):
        assert float(weight @ f**m) == pytest.approx(oracles.power_of_resolved(p, c, D, k, m), rel=1e-8)
        lost = float((weight * variance) @ ((1.0 - f) ** 2 * f**m))
        assert lost == pytest.approx(oracles.power_of_resolved(p, c, D, k, m, lost=True), rel=1e-7)


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "dimension"), [(0.2, 0.4, 1e5), (1.0, 0.3, math.inf), (2.0, -1.5, 50)]
)
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_counts_laid_out_once_give_the_leading_surface(alpha1, alpha2, dimension, ridge):
    model, D = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=dimension), 400.0
    sums = model.count_sums(D)
    seen = sums.seen()
    point = LeadingPoint(sums, seen)
    for N in (2.0, 0.3 * seen, 0.97 * seen, 3.0 * seen):
        exact, found = count_loss(sums, N, seen, ridge, 0.0), point(N, ridge)
        assert found.loss == pytest.approx(exact.loss, rel=1e-7)
        assert found.log_cutoff == pytest.approx(exact.log_cutoff, abs=1e-7)


def test_the_finite_width_formula_equals_its_oracle():
    p, c, s = oracles.spectrum(1.0, 0.3, 60)
    nodes = count_nodes(np.ones(60), p, c, 300.0)
    k, N = 1.3, None
    g = nodes.n * c[nodes.coordinate]
    f = g / (g + k)
    N = float(nodes.point_weight @ f)
    found = diagonal_sums(nodes.point_weight, s[nodes.coordinate], f, 0.0, 0.0).width(N)
    assert found.leading + found.correction == pytest.approx(
        oracles.finite_width_loss(p, c, 300, k, N), rel=1e-7
    )


@pytest.mark.parametrize(("a", "N"), [(1.8, 40), (2.3, 40), (3.3, 80)])
def test_the_finite_width_correction_is_a_minus_one_over_two_N(a, N):
    """D to infinity: 1 + (a-1)/(2N) for variances j^-a, up to the next order."""
    model = DenseInputs(alpha=a - 1.0, dimension=math.inf)
    ratio = predict(model, N=N, D=10**15).loss / predict(model, N=N, D=10**15, surface="leading").loss
    assert (ratio - 1.0) * 2.0 * N / (a - 1.0) == pytest.approx(1.0, abs=4.0 / N)


@pytest.mark.parametrize("alpha1", [0.5, 1.0, 2.0])
def test_corrections_vanish_as_the_sizes_grow(alpha1):
    """Finite width as 1/N, co-activation as D^(-alpha1/(alpha1+1))."""
    model = SparseInputs(alpha1=alpha1, alpha2=0.3)
    D = 10**14 if alpha1 > 1.0 else 10**10
    sizes = [int(f * rank_of(model, float(D))) for f in (0.002, 0.008)]
    few, many = (predict(model, N=N, D=D).terms for N in sizes)
    first, second = (terms["finite N"] / terms["leading"] for terms in (few, many))
    assert first / second == pytest.approx(sizes[1] / sizes[0], rel=0.1)
    shares = [count_setting(model, float(D)).share for D in (10**6, 10**8)]
    rate = math.log(shares[0] / shares[1]) / math.log(100.0)
    assert rate == pytest.approx(alpha1 / (alpha1 + 1.0), abs=0.08)


@pytest.mark.parametrize("alpha1", [0.5, 1.0])
def test_rank_and_scatter_meet_their_limits(alpha1):
    """K - rank falls as D^(-alpha1/(alpha1+1)) of K; the scatter at one N/rank as one over the rank."""
    model = SparseInputs(alpha1=alpha1, alpha2=0.3)
    rate = alpha1 / (alpha1 + 1.0)
    sizes = (1e6, 1e8)
    missing = [1.0 - rank_of(model, D) / model.expected_seen(D) for D in sizes]
    assert math.log(missing[0] / missing[1]) / math.log(100.0) == pytest.approx(rate, abs=0.05)
    scatter = []
    for D in sizes:
        rank = rank_of(model, D)
        terms = predict(model, N=round(0.5 * rank), D=int(D)).terms
        scatter.append(terms["scatter of the data"] / terms["leading"] * rank)
    assert scatter[0] / scatter[1] == pytest.approx(1.0, abs=0.15)


def test_the_scatter_of_the_data_is_that_of_drawn_counts():
    """The loss of one data set with a diagonal Gram, averaged: z = 4, false alarm 6e-5."""
    rng = np.random.default_rng(5)
    model = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=200)
    D, N = 2000, 48
    p, c, s = oracles.spectrum(1.0, 0.3, 200)
    losses = np.array([oracles.loss_of_counts(rng.binomial(D, p), c, s, N) for _ in range(1500)])
    setting = count_setting(model, float(D))
    base = below_rank(setting, float(N))
    points = setting.points
    g = points.c[points.coordinate] * points.n
    k = math.exp(oracles.log_cutoff(p, c, D, N))
    s = (points.p * points.c)[points.coordinate]
    share = scatter_share(
        *independent_scatter(points.coordinate, points.weight, points.probability, s, g / (g + k))
    )
    error = 4.0 * np.std(losses) / math.sqrt(losses.size)
    assert abs(np.mean(losses) - base.leading * (1.0 + share)) < error + 0.004 * base.leading
    assert share > 0.01
    assert abs(np.mean(losses) - base.leading) > error  # planted: without the scatter


def test_terms_add_up_and_the_peak_has_a_median():
    model = SparseInputs(alpha1=1.0, alpha2=0.3)
    for N in (8, 100, 1000):
        point = predict(model, N=N, D=20_000)
        assert sum(point.terms.values()) == pytest.approx(point.loss, rel=1e-12)
        assert 0.0 < point.loss_error < 0.05
    peak = predict(model, N=250, D=20_000)
    assert math.isinf(peak.loss)
    assert "median" in peak.loss_reason
    assert 1e-5 < peak.median < 1e-3
    assert median_gap(np.array([0.0, 1.0, 100.0])) == pytest.approx([0.251, 0.92, 99.026])


def test_leading_and_sharp_meet_for_dense_inputs_of_many_sizes():
    model = DenseInputs(alpha=1.3, dimension=math.inf)
    gaps = []
    for m in (50, 500, 5000):
        leading, sharp = (predict(model, N=m, D=9 * m, surface=s).loss for s in ("leading", "sharp"))
        gaps.append((sharp / leading - 1.0) * m)
    assert max(gaps) / min(gaps) < 1.1
    assert width_share(10.0, 5.0, 4.0) == pytest.approx(15.0 / 250.0)


def test_dense_inputs_at_twenty_features():
    """The exact mean over data, averaged over 400 embeddings: z = 4, false alarm 6e-5; leading is 3 % low."""
    rng = np.random.default_rng(2)
    v = np.arange(1, 301) ** -2.3
    N, D = 20, 60
    drawn = [oracles.dense_given_embedding(rng.normal(size=(N, 300)), v, D) for _ in range(400)]
    error = 4.0 * np.std(drawn) / 20.0
    model = DenseInputs(alpha=1.3, dimension=300)
    sharp, leading = (predict(model, N=N, D=D, surface=s).loss for s in ("sharp", "leading"))
    assert abs(np.mean(drawn) - sharp) < error + 0.002 * sharp
    assert abs(np.mean(drawn) - leading) > error + 0.002 * sharp


@pytest.mark.parametrize("alpha1", [0.5, 1.5])
def test_a_curve_is_its_points(alpha1):
    model, D = SparseInputs(alpha1=alpha1, alpha2=0.5), 3000
    sizes = np.unique(np.geomspace(4, 4000, 30).astype(int))
    losses = curve(model, N=sizes, D=D)
    for i in (0, 7, 12, 20, sizes.size - 1):
        expected = predict(model, N=int(sizes[i]), D=D).loss
        assert losses[i] == pytest.approx(expected, rel=8e-3)
