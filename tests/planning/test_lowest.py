"""The lowest place by polynomials, and the valley as a curve, against plain scans."""

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.laws import ChinchillaLaw
from sparselaw.planning.allocate import narrowed
from sparselaw.planning.budget_curves import valley_curve
from sparselaw.search import golden
from sparselaw.theory.surface import loss_at, rank_of

SPARSE = sl.SparseInputs(alpha1=1.0, alpha2=0.3)


def bowl(x):
    return np.exp(0.7 * x) + 3.0 * np.exp(-1.1 * x)


LOWEST = np.log(3.3 / 0.7) / 1.8


@pytest.mark.parametrize("bracket", [(0.5, 1.2), (-3.0, 0.1), (2.0, 2.5)])
def test_polynomials_find_the_lowest_place_wherever_the_bracket_lies(bracket):
    x, value = narrowed(bowl, *bracket, (-5.0, 5.0))
    assert x == pytest.approx(LOWEST, abs=2e-6)
    assert value == pytest.approx(bowl(LOWEST), rel=1e-12)
    section, _ = golden(bowl, np.array([-5.0]), np.array([5.0]))
    assert section[0] == pytest.approx(LOWEST, abs=1e-6)


@pytest.mark.parametrize("bracket", [(0.5, 1.2), (-3.0, 0.1), (2.0, 2.5)])
def test_few_values_beside_a_rough_loss_find_it_too(bracket):
    """The rough loss is 30 % off and lowest elsewhere; no more than a dozen values are asked for."""
    asked = []

    def dear(x):
        asked.extend(x)
        return bowl(x)

    x, value = narrowed(dear, *bracket, (-5.0, 5.0), lambda x: bowl(x) * (1.3 + 0.2 * np.tanh(0.5 * x)))
    assert x == pytest.approx(LOWEST, abs=0.03)
    assert value == pytest.approx(bowl(LOWEST), rel=1e-3)
    assert len(asked) <= 12
    walled, _ = narrowed(lambda x: np.where(x > 1.2, np.inf, bowl(x)), 0.0, 3.0, (0.0, 3.0), bowl)
    assert walled == pytest.approx(LOWEST, abs=0.02)
    end, _ = narrowed(bowl, 2.0, 3.0, (2.0, 3.0), bowl)
    assert end == pytest.approx(2.0, abs=1e-9)


def test_an_end_of_the_curve_and_a_wall():
    x, _ = narrowed(bowl, 2.0, 3.0, (2.0, 3.0))
    assert x == pytest.approx(2.0, abs=1e-12)
    wall, _ = narrowed(lambda x: np.where(x > 1.2, np.inf, bowl(x)), 0.0, 3.0, (0.0, 3.0))
    assert wall == pytest.approx(LOWEST, abs=1e-3)


def test_few_values_are_asked_for():
    asked = []

    def counted(x):
        asked.append(x.size)
        return bowl(x)

    narrowed(counted, 0.5, 1.2, (-5.0, 5.0))
    assert sum(asked) <= 15


def test_the_valley_is_the_loss_along_the_budget():
    found = valley_curve(SPARSE, 1e8, "direct", between=(10.0, 2000.0), count=15, surface="leading")
    assert (np.diff(found.N) > 0.0).all()
    np.testing.assert_allclose(found.N * found.D * np.minimum(found.N, found.D), 1e8, rtol=1e-9)
    peak = np.isinf(found.loss)
    assert peak.sum() == 1
    assert found.N[peak][0] == pytest.approx(SPARSE.expected_seen(float(found.D[peak][0])), rel=1e-6)
    for i in range(0, found.N.size, 6):
        if not peak[i]:
            assert found.loss[i] == pytest.approx(loss_at(SPARSE, found.N[i], found.D[i]), rel=1e-3)
    best = sl.plan(SPARSE, budget=1e8, surface="leading")
    assert found.loss.min() >= best.loss.best
    assert found.as_dict()["loss"][int(np.flatnonzero(peak)[0])] is None


def test_the_sharp_valley_is_infinite_all_about_the_rank():
    found = valley_curve(SPARSE, 1e8, "direct", between=(10.0, 2000.0), count=15)
    peak = np.flatnonzero(np.isinf(found.loss))
    assert (np.diff(peak) == 1).all()
    inside = found.N[peak] / np.array([rank_of(SPARSE, float(D)) for D in found.D[peak]])
    assert inside[0] < 0.95
    assert inside[-1] > 1.05
    for i in (4, found.N.size - 3):
        assert found.loss[i] == pytest.approx(loss_at(SPARSE, found.N[i], found.D[i], "sharp"), rel=0.01)
    assert found.loss.min() >= 0.999 * sl.plan(SPARSE, budget=1e8).loss.best


def test_the_valley_of_a_law():
    law = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
    found = valley_curve(law, 1e20)
    assert found.cost == "6nd"
    best = sl.plan(law, budget=1e20)
    assert found.loss.min() == pytest.approx(best.loss.best, rel=1e-3)
