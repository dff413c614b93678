"""The rank of D samples: its fixed point, its standard deviation, its loops, and drawn data."""

import math

import numpy as np
import pytest

from oracles import ranks as oracles
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.gram.rank import expected_rank, loops
from sparselaw.inputs import SparseInputs
from sparselaw.theory.surface import rank_of


def rank_setting(inputs, D):
    return expected_rank(*inputs.pair_nodes(D)[:2], D)


def activities(alpha1, M):
    return np.arange(1.0, M + 1.0) ** -(alpha1 + 1.0)


@pytest.mark.parametrize(("alpha1", "D"), [(0.2, 30.0), (0.2, 100.0), (0.5, 300.0), (1.5, 1.0)])
def test_the_rank_is_its_fixed_point(alpha1, D):
    p = activities(alpha1, 60)
    found = expected_rank(np.ones(60), p, D)
    assert found.mean - found.loops == pytest.approx(oracles.plain_rank(p, D)[0], rel=1e-11)


@pytest.mark.parametrize(("alpha1", "D"), [(0.2, 40.0), (1.0, 100.0)])
def test_the_deviation_is_the_slope_of_the_tilted_rank(alpha1, D):
    p, step = activities(alpha1, 40), 1e-4
    high, low = (oracles.plain_rank(p, D, tilt)[0] for tilt in (step, -step))
    sd = expected_rank(np.ones(40), p, D).sd
    assert sd**2 == pytest.approx((high - low) / (2.0 * step), rel=1e-6)


def test_loops_are_the_sum_over_all_of_them():
    """Every loop of up to four coordinates, closed and cut, by every state of its nodes."""
    p, D = np.array([0.5, 0.45, 0.4, 0.35]), 5.0
    _, rho, q = oracles.plain_rank(p, D)
    exact = oracles.loops_one_by_one(p, D, rho, q)
    assert abs(exact) > 0.01
    assert loops(np.ones(4), p, D, rho, q) == pytest.approx(exact, rel=1e-9)


def test_loops_vanish_where_samples_are_many_or_nothing_is_shared():
    """As the square of their number, D^(-2 alpha1/(alpha1+1)) at alpha1 = 0.3; half a rank at most."""
    few, many = (rank_setting(SparseInputs(alpha1=0.3, alpha2=0.4), D).loops for D in (100.0, 3000.0))
    assert math.log(few / many) / math.log(30.0) > 0.9 * 2.0 * 0.3 / 1.3
    assert abs(rank_setting(SparseInputs(alpha1=2.0, alpha2=0.4), 1000.0).loops) < 1e-4
    for D in (5.0, 50.0, 150.0, 2000.0):
        assert -0.5 < rank_setting(SparseInputs(alpha1=0.2, alpha2=0.4), D).loops < 1e-3


def test_coordinates_too_rare_for_rounding_still_count():
    """A thousand times ten: coordinates of p = 1e-20 are seen as often as one of 1e-17 would be."""
    D, p = 1000.0, activities(0.5, 20)
    common = np.concatenate([p, np.full(1, 1e-17)]), np.concatenate([np.ones(20), np.full(1, 1e14)])
    rare = np.concatenate([p, np.full(1, 1e-20)]), np.concatenate([np.ones(20), np.full(1, 1e17)])
    first, second = (expected_rank(weight, q, D) for q, weight in (common, rare))
    assert first.mean == pytest.approx(second.mean, rel=1e-9)
    assert first.sd == pytest.approx(second.sd, rel=1e-6)


def drawn(alpha1, D, seeds, first):
    """The mean of simulated ranks, with a control whose mean is known, and its standard error."""
    model = SparseInputs(alpha1=alpha1, alpha2=0.4)
    control = oracles.Control(alpha1, float(D), rank_setting(model, float(D)).free)
    pairs = []
    for seed in range(first, first + seeds):
        data = draw_sparse(model, D, np.random.default_rng([41, seed]))
        pairs.append((oracles.peeled_rank(data), control(data)))
    ranks, controls = np.array(pairs, float).T
    adjusted = ranks - (controls - control.mean)
    return float(adjusted.mean()), float(adjusted.std(ddof=1) / math.sqrt(seeds))


# z = 4 of the standard error and 0.05 of the next order, in four cells: false alarm 3e-4 in all. Trees alone
# are 0.2 too high at (0.2, 100), and the coordinates seen far too many.
@pytest.mark.parametrize(
    ("alpha1", "D", "seeds"), [(0.2, 100, 500), (0.2, 1000, 20), (0.5, 100, 200), (1.0, 300, 200)]
)
def test_the_rank_is_that_of_drawn_data(alpha1, D, seeds):
    model = SparseInputs(alpha1=alpha1, alpha2=0.4)
    mean, error = drawn(alpha1, D, seeds, 0)
    assert abs(mean - rank_of(model, float(D))) < 4.0 * error + 0.05
    if (alpha1, D) == (0.2, 100):
        assert abs(mean - rank_of(model, 100.0) + rank_setting(model, 100.0).loops) > 4.0 * error + 0.05
    if alpha1 < 1.0:
        assert abs(mean - model.expected_seen(float(D))) > 4.0 * error + 0.05


# Two standard errors in each of ten cells with fixed seeds; with other seeds one of them fails in 40 % of all
# runs. The number of seeds makes the standard error about 0.03 up to D = 300 and no more than two minutes.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha1", "D", "seeds"),
    [
        (0.2, 100, 400),
        (0.2, 300, 1500),
        (0.2, 1000, 1500),
        (0.2, 10_000, 300),
        (0.5, 100, 1500),
        (0.5, 1000, 2000),
        (0.5, 10_000, 300),
        (1.0, 100, 1000),
        (1.0, 1000, 3000),
        (1.0, 10_000, 1000),
    ],
)
def test_the_rank_is_that_of_the_engine(alpha1, D, seeds):
    mean, error = drawn(alpha1, D, seeds, 1_000_000)
    formula = rank_of(SparseInputs(alpha1=alpha1, alpha2=0.4), float(D))
    print(
        f"| {alpha1:g} | {D} | {formula:.2f} | {mean:.2f} | {error:.2f} | {(formula - mean) / error:+.1f} |"
    )
    assert abs(mean - formula) < 2.0 * error
