"""The cavity closure: its transforms, a population drawn at random, drawn data, and its limits."""

import math

import numpy as np
import pytest
from scipy.special import gamma, kv

from oracles import shared_samples as oracles
from oracles import theory
from sparselaw.inputs import SparseInputs
from sparselaw.theory import predict
from sparselaw.theory.cavity import Cavity
from sparselaw.theory.cavity_scatter import CavityScatter
from sparselaw.theory.closure import STRIDE, closure
from sparselaw.theory.count_setting import rank_setting
from sparselaw.theory.hankel import STEP, Hankel
from sparselaw.theory.peak_median import PeakLaw, peak_median


@pytest.mark.parametrize("shape", [0.4, 1.0, 6.0])
def test_the_law_of_a_reciprocal(shape):
    """x ~ Gamma(shape): E e^{-vx} = (1+v)^-shape, E e^{-w/x} = 2 w^(shape/2) K(2 sqrt w)/Gamma(shape)."""
    size, start = 160, -24.0
    v = np.exp(start + STEP * np.arange(size))
    transform = Hankel(start, start, size)
    found = np.exp(-v / shape) - transform((1.0 + v) ** -shape - np.exp(-shape * v))
    exact = 2.0 * v ** (0.5 * shape) * kv(shape, 2.0 * np.sqrt(v)) / gamma(shape)
    middle = slice(30, 90)
    assert np.max(np.abs(found - exact)[middle]) < (2e-3 if shape < 1.0 else 1e-5)


def test_the_closure_is_a_population_without_the_drawing():
    """z = 4 of the scatter between rounds, false alarm 6e-5; the leading surface is off by more."""
    p, c, _ = theory.spectrum(0.3, 0.2, 60)
    D, log_k = 40, -3.0
    drawn = oracles.population_sum(p, c, D, math.exp(log_k), size=4000, rounds=45, seed=1)
    cavity = Cavity(np.ones(60), p, c, float(D))
    error = 4.0 * drawn.std(ddof=1) / math.sqrt(drawn.size) + 2e-3 * drawn.mean()
    assert abs(cavity.at(log_k).S - drawn.mean()) < error
    assert abs(cavity.plain(log_k)[0] - drawn.mean()) > 3.0 * error


@pytest.mark.parametrize(("alpha1", "alpha2", "D"), [(0.2, 0.4, 200), (0.5, 0.5, 1000), (0.3, -1.1, 300)])
def test_both_ways_to_the_sum_agree_and_end_at_the_rank(alpha1, alpha2, D):
    model = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    cavity = Cavity(*model.pair_nodes(float(D)), float(D))
    start = cavity.cells.top
    sums = [cavity.at(start - depth) for depth in (2.0, 10.0, 15.0, 20.0)]
    assert all(abs(s.checked - 1.0) < 1e-3 for s in sums[1:])
    rank = rank_setting(model, float(D)).mean
    assert sorted(s.S for s in sums) == [s.S for s in sums]
    assert sums[-1].S < rank * 1.001
    assert sums[-1].S == pytest.approx(rank, rel=0.06)


def test_the_closure_is_the_leading_surface_where_nothing_is_shared():
    p, c, _ = theory.spectrum(2.0, 0.3, 40)
    D = 10**9  # every coordinate is known to a thousandth in every sample
    cavity = Cavity(np.ones(40), p, c, float(D))
    state, (S, t) = cavity.at(math.log(50.0)), cavity.plain(math.log(50.0))
    assert state.S == pytest.approx(S, rel=1e-3)
    assert state.t == pytest.approx(t, rel=1e-3)


def test_sums_and_their_scatter_are_those_of_drawn_data():
    """S and t by z = 4 (false alarm 6e-5 each); Var S by four standard errors of a variance."""
    p, c, _ = theory.spectrum(0.3, 0.2, 120)
    D, log_k, seeds = 60, -5.0, 300
    k = math.exp(log_k)
    spectra = oracles.drawn_spectra(p, c, D, seeds, seed=4)
    S = np.array([np.sum(g / (g + k)) for g, _ in spectra])
    t = np.array([np.sum(a * k / (g + k)) for g, a in spectra])
    B = np.mean([np.sum((g / (g + k)) ** 2) for g, _ in spectra])
    cavity = Cavity(np.ones(120), p, c, float(D))
    before, after = (cavity.at(log_k + STRIDE * i) for i in (-1, 1))
    here = cavity.at(log_k)
    assert abs(here.S - S.mean()) < 4.0 * S.std() / math.sqrt(seeds) + 3e-3 * S.mean()
    assert abs(here.t - t.mean()) < 4.0 * t.std() / math.sqrt(seeds) + 3e-3 * t.mean()
    slope = (after.S - before.S) / (2.0 * STRIDE)
    assert here.S + slope == pytest.approx(B, rel=0.02)  # not sum E[1-r]^2, which is far lower
    scatter = CavityScatter(cavity).at(log_k)
    assert abs(scatter.V / S.var() - 1.0) < 4.0 * math.sqrt(2.0 / seeds)
    covariance = float(np.cov(S, t)[0, 1])
    assert scatter.V > 0.0 > covariance


def test_the_scatter_ends_at_that_of_the_rank():
    model, D = SparseInputs(alpha1=0.5, alpha2=0.5), 300.0
    cavity = Cavity(*model.pair_nodes(D), D)
    variance = CavityScatter(cavity).at(cavity.cells.top - 19.0).V
    assert variance == pytest.approx(rank_setting(model, D).spread ** 2, rel=0.1)


def test_what_coordinates_scatter_is_a_double_integral():
    """Given n one integral, averaged over points of n, is the double integral over both laws."""
    model, D = SparseInputs(alpha1=0.7, alpha2=0.2, dimension=8), 40.0
    cavity = Cavity(*model.pair_nodes(D), D)
    scatter = CavityScatter(cavity)
    a, b = scatter.law(-2.0), scatter.law(-5.0)
    chance, at = scatter.points.point_weight, scatter.points.coordinate
    states = [cavity.at(x) for x in (-2.0, -5.0)]
    for i in range(8):
        one = [s.held[i] if i < cavity.cells.single else s.held[-1] for s in states]
        first, second = (s.grid.decay[i][::3] * 3 * STEP for s in states)
        exact = oracles.covariance_over_counts(cavity.cells.p[i], D, one[0][::3], one[1][::3], first, second)
        found = float((chance * a.log_det * b.log_det)[at == i].sum())
        assert found == pytest.approx(exact * cavity.cells.weight[i], rel=1e-3, abs=1e-12)


def test_no_closure_above_the_rank():
    model, D = SparseInputs(alpha1=0.2, alpha2=0.4), 100.0
    cavity = Cavity(*model.pair_nodes(D), D)
    assert closure(cavity, CavityScatter(cavity), 110.0, -5.0) is None
    found = closure(cavity, CavityScatter(cavity), 40.0, -5.0)
    assert found.sound
    assert found.over_plain > 1.2


def law_of_the_rank(**changed):
    settings = {"D": 1e4, "rank": 300.0, "spread": 9.0, "left_open": 1e-3, "tilt": 0.0, "open_variance": 0.0}
    settings |= {"variance": 81.0, "wider": 0.0, "luck": None, "told_apart": 1.0}
    return PeakLaw(**(settings | changed))


def test_the_median_at_the_peak_is_that_of_drawn_ranks():
    """Ranks drawn from their law, losses t0 (1 + r/(N-r-1)) and level/(r-N-1): z = 4, false alarm 6e-5."""
    rng = np.random.default_rng(6)
    law, N, level = law_of_the_rank(), 304.0, 0.4
    gap = N - np.round(rng.normal(300.0, 9.0, 40_000))
    over = 1e-3 * (1.0 + (N - gap) / np.where(gap > 1.5, gap - 1.0, 1.0))
    under = level / np.where(gap < -1.5, -gap - 1.0, 1.0)
    losses = np.where(np.abs(gap) < 1.5, 1.0, np.where(gap > 0.0, over, under))  # at the peak: far above
    found = peak_median(law, N, lambda n: np.full_like(n, math.log(level)))
    ordered = np.sort(losses)
    assert ordered[19_200] < found < ordered[20_800]
    assert peak_median(law_of_the_rank(spread=24.9), N, lambda n: np.zeros_like(n)) == pytest.approx(
        peak_median(law_of_the_rank(spread=25.1), N, lambda n: np.zeros_like(n)), rel=0.05
    )


def test_ranks_close_to_the_number_of_samples():
    model = SparseInputs(alpha1=0.2, alpha2=0.4)
    point = predict(model, N=99, D=100)
    assert math.isinf(point.loss)
    assert "about" in point.caution
    assert point.median > 10.0 * predict(model, N=150, D=100).loss
