"""A cost of one's own: one function, one call of register; frontier, plans and the command line know it."""

import json

import pytest

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.costs import COSTS, CostModel, CostTerm, register
from sparselaw.theory.scaling_limit import frontier

INPUTS = sl.SparseInputs(alpha1=1.0, alpha2=0.3)


@pytest.fixture(autouse=True)
def mine():
    """C = 2 N^0.5 D^1.5: samples that grow longer as there are more of them."""
    terms = (CostTerm(factor=2.0, N_power=0.5, D_power=1.5),)
    register(CostModel(name="mine", terms=lambda: terms, formula="2 N^0.5 D^1.5"))
    yield
    del COSTS["mine"]


def spent(N, D):
    return 2.0 * N**0.5 * D**1.5


def test_theory_plans_with_it():
    found, limit = sl.plan(INPUTS, 1e15, cost="mine"), frontier(INPUTS, "mine")
    assert spent(found.N.best, found.D.best) == pytest.approx(1e15)
    assert found.alpha_C == pytest.approx(limit.alpha_C) == pytest.approx(2.3 / (0.5 + 1.5 * 2.0))
    N, D, loss = limit.allocation(1e15)
    assert [found.N.best, found.D.best, found.loss.best] == pytest.approx([N, D, loss], rel=0.01)


def test_a_law_plans_with_it():
    law = sl.TwoPowerLaw(A=3.0, B=2.0, alpha_N=0.5, alpha_D=0.3)
    found = sl.plan(law, 1e12, cost="mine")
    assert spent(found.N.best, found.D.best) == pytest.approx(1e12)
    # D = (C/2)^(2/3) N^(-1/3): the two slopes in log N balance
    assert 3.0 * law.A * 0.5 * found.N.best**-0.5 == pytest.approx(law.B * 0.3 * found.D.best**-0.3, rel=1e-4)


def test_the_command_line_knows_it(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["plan", "--alpha1", "1", "--alpha2", "0.3", "--budget", "1e12", "--cost", "mine", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert (stop.value.code, result["cost"]) == (0, "mine")
    assert spent(result["N"]["best"], result["D"]["best"]) == pytest.approx(1e12)
