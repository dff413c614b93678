"""The least budget for a loss is the inverse of the plan for a budget."""

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.errors import InputError
from sparselaw.laws import ChinchillaLaw

LAW = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
N, D = (grid.ravel() for grid in np.meshgrid(np.geomspace(5e7, 2e9, 5), np.geomspace(1e9, 6e10, 5)))


@pytest.fixture(scope="module")
def table():
    noise = np.exp(0.003 * np.random.default_rng(3).standard_normal(N.size))
    return {"N": N, "D": D, "loss": LAW.loss(N, D) * noise}


def test_by_a_law_it_is_the_inverse():
    forward = sl.plan(LAW, budget=6e20, cost="6nd")
    back = sl.plan(LAW, loss=forward.loss.best, cost="6nd")
    assert back.budget == pytest.approx(6e20, rel=2e-3)
    assert back.N.best == pytest.approx(forward.N.best, rel=2e-3)
    assert back.reach.probability is None


def test_by_the_theory_it_is_the_inverse():
    inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    forward = sl.plan(inputs, budget=1e9, surface="leading")
    back = sl.plan(inputs, loss=forward.loss.best, surface="leading")
    assert back.budget == pytest.approx(1e9, rel=2e-3)


def test_from_runs_a_run_reaches_it_with_the_chance_asked_for(table):
    aim = 2.25
    for chance in (0.5, 0.9):
        found = sl.plan(table, loss=aim, probability=chance)
        point = sl.forecast(table, at=[(found.N.best, found.D.best)])
        assert point.quantiles([chance])[0, 0] == pytest.approx(aim, rel=1e-4)
    assert found.reach.cost.low < found.reach.cost.best < found.budget  # more is needed to be surer
    truth = sl.plan(LAW, loss=aim, cost="6nd").budget
    assert found.reach.cost.contains(truth)
    assert not found.reach.cost.contains(10.0 * truth)  # a planted error
    answer = found.as_dict()
    assert answer["cost"] == found.reach.cost.as_dict()
    assert answer["probability"] == 0.9
    even = sl.plan(table, loss=aim)
    assert even.reach.cost == found.reach.cost  # whatever the chance that is asked for
    assert even.reach.cost.best == even.budget


def test_by_a_fitted_law_the_chance_is_the_share_of_its_draws(table):
    """With limited data too, which a law plans: from a table, the law of it."""
    fitted = sl.fit(table, bootstrap=60)
    even, sure = (sl.plan(fitted, loss=2.2, probability=p) for p in (None, 0.9))
    assert even.budget == even.reach.cost.best == sure.reach.cost.best < sure.budget
    best = sure.N.best, sure.D.best
    below = [
        ChinchillaLaw(**dict(zip(LAW.parameters(), draw, strict=True))).loss(*best) <= 2.2
        for draw in fitted.draws
    ]
    assert np.mean(below) == pytest.approx(0.9, abs=0.03)
    limited = sl.plan(table, loss=2.3, unique_data=2e10, probability=0.9)
    assert limited.budget > limited.reach.cost.best


def test_serving_makes_the_cheapest_model_smaller(table):
    alone, served = (sl.plan(table, loss=2.1, inference_tokens=tokens) for tokens in (0.0, 1e12))
    assert served.N.best < alone.N.best


def test_with_limited_data_it_is_the_inverse_too(table):
    """By a fitted law: the cost has an interval from its draws; few samples make the loss more expensive."""
    fitted = sl.fit(table, bootstrap=60)
    forward = sl.plan(fitted, budget=3e21, unique_data=2e10)
    back = sl.plan(fitted, loss=forward.loss.best, unique_data=2e10)
    assert back.budget == pytest.approx(3e21, rel=2e-3)
    assert back.reach.cost.low < back.budget < back.reach.cost.high
    assert back.unique.passes.best == pytest.approx(forward.unique.passes.best, rel=5e-3)
    free = sl.plan(fitted, loss=forward.loss.best)
    assert free.budget < 0.99 * back.budget
    served = sl.plan(table, loss=2.2, unique_data=2e10, inference_tokens=1e12)
    assert served.unique.passes.best > 1.0
    assert served.reach.cost.low < served.budget < served.reach.cost.high


def test_the_cost_by_a_law_is_that_of_its_draws_one_by_one(table):
    fitted = sl.fit(table, bootstrap=40)
    found = sl.plan(fitted, loss=2.2)
    each = [
        sl.plan(ChinchillaLaw(**dict(zip(LAW.parameters(), draw, strict=True))), loss=2.2).budget
        for draw in fitted.draws
    ]
    low, high = np.quantile(each, [0.025, 0.975], method="nearest")
    assert [found.reach.cost.low, found.reach.cost.high] == pytest.approx([low, high], rel=2e-2)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"loss": 1.0}, "floor"),
        ({"loss": 2.1, "probability": 1.5}, "between 0 and 1"),
        ({"loss": 2.1, "budget": 1e20}, "not both"),
        ({}, "not both"),
        ({"loss": 2.1, "unique_data": 1e9}, "is reached by no budget: the least is 2"),
        ({"loss": 1.7, "unique_data": 1e12}, "below what the floor may be"),
        ({"loss": -1.0}, "positive"),
    ],
)
def test_refusals(table, settings, says):
    with pytest.raises(InputError, match=says):
        sl.plan(table, **settings)


def test_a_chance_needs_runs():
    with pytest.raises(InputError, match="forecast of runs"):
        sl.plan(LAW, loss=2.1, probability=0.9, cost="6nd")
