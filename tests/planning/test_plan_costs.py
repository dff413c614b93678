"""Costs against their formulas written out, and data_for as the exact inverse of compute."""

import math

import numpy as np
import pytest

from sparselaw.errors import InputError
from sparselaw.inputs import SparseInputs
from sparselaw.inputs.exponents import compute_exponent
from sparselaw.planning import cost_for_exponents, parse_cost
from sparselaw.theory import frontier

MODELS = [
    SparseInputs(alpha1=1.0, alpha2=0.3),
    SparseInputs(alpha1=2.0, alpha2=-1.2),
    SparseInputs(alpha1=-0.5, alpha2=0.8),
]
NAMES = ["direct", "6nd", "gd", "accelerated", "cheapest", "power:1.5"]


def plain(name, model, N, D):
    """The cost as the paper's table has it."""
    K = D
    if model.alpha1 > 0:
        K = math.gamma(1 - 1 / (model.alpha1 + 1)) * D ** (1 / (model.alpha1 + 1))
    kappa = min(N, K) ** (model.alpha1 + model.alpha2 + 2)
    costs = {
        "direct": N * D * min(N, D), "6nd": 6 * N * D, "gd": N * D * kappa,
        "accelerated": N * D * math.sqrt(kappa), "power:1.5": N**1.5 * D,
    }  # fmt: skip
    costs["cheapest"] = min(costs["direct"], costs["gd"], costs["accelerated"])
    return costs[name]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", NAMES)
def test_compute_and_its_inverse(name, model):
    cost = parse_cost(name, model)
    for N in (1.0, 7.5, 300.0, 2e6):
        for D in (1.0, 20.0, 1e4, 1e9):
            spent = float(cost.compute(N, D))
            assert spent == pytest.approx(plain(name, model, N, D), rel=1e-10)
            assert float(cost.data_for(N, spent)) == pytest.approx(D, rel=1e-9)
    sizes = np.array([2.0, 30.0, 1e5])
    np.testing.assert_allclose(cost.compute(sizes, cost.data_for(sizes, 1e12)), 1e12, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", MODELS[:2])
def test_compute_exponent_is_the_frontiers(name, model):
    e = model.exponents
    found = parse_cost(name, model).compute_exponent(e.alpha_N, e.alpha_D)
    assert found == pytest.approx(frontier(model, name).alpha_C, rel=1e-9)
    if name == "direct":
        assert found == pytest.approx(e.alpha_C)
    if name.startswith("power:"):
        assert found == pytest.approx(compute_exponent(e.alpha_N, e.alpha_D, 1.5))


@pytest.mark.parametrize(
    "text", ["", "7nd", "power:", "power:x", "power:-1", "power:nan", "power:r", "gd", "cheapest"]
)
def test_unknown_or_impossible_costs_are_refused(text):
    with pytest.raises(InputError) as error:
        parse_cost(text, None)
    assert error.value.name == "cost"


def test_a_fit_may_imply_a_sparsity_no_model_has():
    assert float(cost_for_exponents("gd", -0.5, -0.2).compute(10.0, 1e6)) == pytest.approx(10**2.3 * 1e6)
