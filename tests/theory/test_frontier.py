import math

import numpy as np
import pytest

from sparselaw.costs import Conditioning, parse_cost
from sparselaw.errors import InputError
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.predicting import predict
from sparselaw.theory.descent import condition_exponents, condition_number, paper_condition_number
from sparselaw.theory.scaling_limit import frontier
from sparselaw.theory.surface import asymptotic_seen

MODEL = SparseInputs(alpha1=1.0, alpha2=0.3)


def spent(model, cost, N, D):
    """The cost models as the contract names them, written out again."""
    kappa = min(N, asymptotic_seen(model, D)) ** (model.alpha1 + model.alpha2 + 2.0)
    costs = {
        "direct": N * D * min(N, D),
        "6nd": 6.0 * N * D,
        "gd": N * D * kappa,
        "accelerated": N * D * math.sqrt(kappa),
        "power:1.5": N**1.5 * D,
    }
    costs["cheapest"] = min(costs["direct"], costs["gd"], costs["accelerated"])
    return costs[cost]


def brute_force(model, cost, budget):
    """The smallest loss of the surface along the budget, over a grid of N as fine as 2 per cent need."""
    best = math.inf
    centre = frontier(model, cost).allocation(budget)[0]
    for N in np.unique(np.round(centre * np.geomspace(0.1, 12.0, 50)).astype(int)):
        low, high = 0.0, math.log(1e40)
        for _ in range(70):  # bisection for D
            middle = 0.5 * (low + high)
            low, high = (middle, high) if spent(model, cost, N, math.exp(middle)) < budget else (low, middle)
        best = min(best, predict(model, N=int(N), D=max(1, round(math.exp(low))), surface="leading").loss)
    return best


@pytest.mark.parametrize("cost", ["direct", "6nd", "gd", "accelerated", "cheapest", "power:1.5"])
@pytest.mark.parametrize("model", [MODEL, SparseInputs(alpha1=0.8, alpha2=-0.4)], ids=["mixed", "shallow"])
def test_frontier_equals_brute_force_minimisation(cost, model):
    f = frontier(model, cost)
    budget = 3000.0 ** (1.0 / f.N_exponent)  # N* about 3,000: the scaling limit to within a percent
    assert f.allocation(budget)[2] == pytest.approx(brute_force(model, cost, budget), rel=0.02)


def test_a_frontier_with_a_wrong_exponent_or_constant_is_not_the_minimum():
    budget = 3000.0**4
    right = brute_force(MODEL, "direct", budget)
    f = frontier(MODEL)
    assert f.best.constant * 1.05 * budget**-f.alpha_C != pytest.approx(right, rel=0.02)
    assert f.best.constant * budget ** -(f.alpha_C + 0.05) != pytest.approx(right, rel=0.02)


def test_balanced_exponents_are_those_of_the_paper():
    f = frontier(MODEL)
    assert (f.N_exponent, f.D_exponent, f.alpha_C) == pytest.approx((1 / 4, 2 / 4, 2.3 / 4))
    accelerated = frontier(MODEL, "accelerated")  # r = 1 + a/2
    assert accelerated.alpha_C == pytest.approx(2.3 / (1 + 3.3 / 2 + 2))
    assert f.alpha_C == pytest.approx(MODEL.exponents.alpha_C)


def test_known_optimum():
    f = frontier(MODEL)
    assert (f.best.side, f.other.side) == ("N<K", "N>K")
    assert f.best.xi == pytest.approx(1.11, abs=0.01)
    assert f.best.constant == pytest.approx(2.76, abs=0.01)
    assert f.other.xi == pytest.approx(0.302, abs=0.001)
    assert f.other.constant == pytest.approx(3.98, abs=0.01)


def test_dense_frontier_has_its_closed_form():
    # loss = C_N C^(-e) t^(-e)/(1-t), t = N/D, e = alpha/3: the best t is e/(1+e), on either side
    f = frontier(DenseInputs(alpha=2.3))
    e = 2.3 / 3.0
    assert f.best.constant == pytest.approx(f.other.constant)
    assert sorted([f.best.xi, f.other.xi]) == pytest.approx([e / (1 + e), (1 + e) / e], rel=1e-5)


@pytest.mark.parametrize("name", ["nonsense", "power:x", "power:0", "power:nan"])
def test_unknown_costs_are_refused(name):
    with pytest.raises(InputError, match="cost="):
        frontier(MODEL, name)


def test_acceleration_beats_the_direct_solve_in_wide_networks():
    """Above N ~ D^((alpha1+alpha2+2)/(2(alpha1+1))), which lies below D."""
    names, D = ("direct", "gd", "accelerated", "cheapest"), 1e6
    costs = {name: parse_cost(name, Conditioning.of_inputs(MODEL)) for name in names}
    for N, best in ((0.5 * D**0.825, "direct"), (10 * D**0.825, "accelerated")):
        spent = {name: cost.compute(N, D) for name, cost in costs.items()}
        assert min(names[:3], key=spent.__getitem__) == best
        assert spent["cheapest"] == spent[best]


@pytest.mark.parametrize(("alpha1", "alpha2"), [(1.0, 0.3), (1.5, 0.5), (2.0, 0.0)])
def test_condition_number_grows_with_the_rarest_coordinate(alpha1, alpha2):
    model = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    paper, corrected = condition_exponents(model)
    growth = [
        math.log(kappa(model, 1e18, 1e14) / kappa(model, 1e18, 1e10)) / math.log(1e4)
        for kappa in (paper_condition_number, condition_number)
    ]
    assert growth == pytest.approx([paper, corrected], rel=2e-3)
    assert (
        condition_number(model, 10, 1e6)
        == paper_condition_number(model, 10, 1e6)
        == pytest.approx(10 ** model.power_law().spectrum)
    )
