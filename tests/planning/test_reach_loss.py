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


def test_serving_makes_the_cheapest_model_smaller(table):
    plain, served = (sl.plan(table, loss=2.1, inference_tokens=tokens) for tokens in (0.0, 1e12))
    assert served.N.best < plain.N.best


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"loss": 1.0}, "floor"),
        ({"loss": 2.1, "probability": 1.5}, "between 0 and 1"),
        ({"loss": 2.1, "budget": 1e20}, "not both"),
        ({}, "not both"),
        ({"loss": 2.1, "unique_data": 1e9}, "limited data"),
        ({"loss": -1.0}, "positive"),
    ],
)
def test_refusals(table, settings, says):
    with pytest.raises(InputError, match=says):
        sl.plan(table, **settings)


def test_a_chance_needs_runs():
    with pytest.raises(InputError, match="forecast of runs"):
        sl.plan(LAW, loss=2.1, probability=0.9, cost="6nd")
