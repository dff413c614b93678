"""Costs against their formulas written out, and data_for as the exact inverse of compute."""

import math

import numpy as np
import pytest

from sparselaw.costs import COSTS, Conditioning, Cost, CostModel, CostTerm, cost_names, parse_cost, register
from sparselaw.errors import InputError
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.inputs.base import compute_exponent
from sparselaw.theory.scaling_limit import frontier

INPUTS = [
    SparseInputs(alpha1=1.0, alpha2=0.3),
    SparseInputs(alpha1=2.0, alpha2=-1.2),
    SparseInputs(alpha1=-0.5, alpha2=0.8),
]
NAMES = ["direct", "6nd", "gd", "accelerated", "cheapest", "power:1.5"]


def plain(name, inputs, N, D):
    """The cost as the paper's table has it."""
    K = D
    if inputs.alpha1 > 0:
        K = math.gamma(1 - 1 / (inputs.alpha1 + 1)) * D ** (1 / (inputs.alpha1 + 1))
    kappa = min(N, K) ** (inputs.alpha1 + inputs.alpha2 + 2)
    costs = {
        "direct": N * D * min(N, D), "6nd": 6 * N * D, "gd": N * D * kappa,
        "accelerated": N * D * math.sqrt(kappa), "power:1.5": N**1.5 * D,
    }  # fmt: skip
    costs["cheapest"] = min(costs["direct"], costs["gd"], costs["accelerated"])
    return costs[name]


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("name", NAMES)
def test_compute_and_its_inverse(name, inputs):
    cost = parse_cost(name, Conditioning.of_inputs(inputs))
    for N in (1.0, 7.5, 300.0, 2e6):
        for D in (1.0, 20.0, 1e4, 1e9):
            spent = float(cost.compute(N, D))
            assert spent == pytest.approx(plain(name, inputs, N, D), rel=1e-10)
            assert float(cost.data_for(N, spent)) == pytest.approx(D, rel=1e-9)
    sizes = np.array([2.0, 30.0, 1e5])
    np.testing.assert_allclose(cost.compute(sizes, cost.data_for(sizes, 1e12)), 1e12, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("inputs", INPUTS[:2])
def test_compute_exponent_is_the_frontiers(name, inputs):
    e = inputs.exponents
    found = parse_cost(name, Conditioning.of_inputs(inputs)).compute_exponent(e.alpha_N, e.alpha_D)
    assert found == pytest.approx(frontier(inputs, name).alpha_C, rel=1e-9)
    if name == "direct":
        assert found == pytest.approx(e.alpha_C)
    if name.startswith("power:"):
        assert found == pytest.approx(compute_exponent(e.alpha_N, e.alpha_D, 1.5))


@pytest.mark.parametrize(
    "text", ["", "7nd", "power:", "power:x", "power:-1", "power:nan", "power:r", "6nd:2", "gd", "cheapest"]
)
def test_unknown_or_impossible_costs_are_refused(text):
    with pytest.raises(InputError) as error:
        parse_cost(text)
    assert error.value.name == "cost"


def test_a_fit_may_imply_a_sparsity_no_inputs_have():
    assert float(parse_cost("gd", Conditioning.of_sparsity(-0.5, -0.2)).compute(10.0, 1e6)) == pytest.approx(
        10**2.3 * 1e6
    )


def test_dense_inputs_resolve_every_sample():
    conditioning = Conditioning.of_inputs(DenseInputs(alpha=2.3))
    assert conditioning == Conditioning(power=3.3, seen_exponent=1.0, seen_constant=1.0)
    assert float(parse_cost("gd", conditioning).compute(1e6, 10.0)) == pytest.approx(1e7 * 10**3.3)


def test_an_alpha1_lost_beside_one_counts_as_none():
    assert Conditioning.of_sparsity(1e-17, 0.5) == Conditioning(power=2.5)


@pytest.mark.parametrize("inputs", [*INPUTS, DenseInputs(alpha=0.7)])
@pytest.mark.parametrize("name", NAMES)
def test_leading_terms_are_the_cost_far_out(name, inputs):
    """C / N^growth at D = (xi N)^e tends to the leading form, on both sides of the peak."""
    e = inputs.exponents.alpha_N / inputs.exponents.alpha_D
    cost = parse_cost(name, Conditioning.of_inputs(inputs))
    terms, crit = cost.leading(e), math.log(inputs.exponents.xi_crit)
    for log_xi in (crit - 2.0, crit + 2.0):
        log_N = 60.0
        log_D = e * (log_xi + log_N)
        log_C = math.log(cost.compute(math.exp(log_N), math.exp(log_D)))
        expected = min(term.log_spent(e, log_xi, crit) + term.growth(e) * log_N for term in terms)
        assert log_C == pytest.approx(expected, rel=1e-12)


def test_costs_that_tie_both_count():
    """alpha1 + alpha2 = 0: direct and accelerated grow alike, and above the peak the second is cheaper."""
    inputs = SparseInputs(alpha1=1.0, alpha2=-1.0)
    limit, accelerated = frontier(inputs, "cheapest"), frontier(inputs, "accelerated")
    assert len(limit.cost.leading(2.0)) == 2
    assert limit.best == accelerated.best
    assert limit.best.side == "N>K"


@pytest.mark.parametrize(
    "term", [CostTerm(N_power=0.0), CostTerm(D_power=-1.0), CostTerm(factor=0.0), CostTerm(factor=math.nan)]
)
def test_a_cost_must_rise(term):
    with pytest.raises(InputError, match="must rise"):
        Cost(name="flat", terms=(term,))


@pytest.mark.parametrize("name", ["direct", "Mine", "mine:2", "", " mine"])
def test_names_are_plain_and_taken_once(name):
    before = dict(COSTS)
    with pytest.raises(InputError, match="cost="):
        register(CostModel(name=name, terms=lambda: (CostTerm(),)))
    assert before == COSTS


def test_the_list_of_names():
    assert cost_names()[:6] == ("direct", "6nd", "gd", "accelerated", "cheapest", "power:r")
