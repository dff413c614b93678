"""Hoffmann's three approaches agree where the law is known."""

import numpy as np
import pandas as pd
import pytest

from oracles.runs import CHINCHILLA_TRUTH, real_runs
from sparselaw.errors import InputError
from sparselaw.fitting import fit
from sparselaw.planning import approaches
from sparselaw.planning.approaches import budgets_of, envelope, parabolas

EXACT = CHINCHILLA_TRUTH.beta / (CHINCHILLA_TRUTH.alpha + CHINCHILLA_TRUTH.beta)


def isoflop_runs(noise=0.0, seed=0, span=3.0, sizes=21):
    generator = np.random.Generator(np.random.PCG64(seed))
    budget = np.repeat(np.geomspace(1e19, 1e22, 7), sizes)
    best = 3e8 * (budget / 1e19) ** EXACT
    N = best * np.exp(np.tile(np.linspace(-span / 2, span / 2, sizes), 7))
    D = budget / (6 * N)
    loss = CHINCHILLA_TRUTH.loss(N, D) * np.exp(noise * generator.standard_normal(N.size))
    return pd.DataFrame({"N": N, "D": D, "loss": loss})


def test_all_three_find_the_exponent_without_noise():
    """Parabolas and the best runs are exact up to the spacing of the sizes and the asymmetry."""
    table = isoflop_runs()
    N, D, loss = (table[k].to_numpy() for k in ("N", "D", "loss"))
    C = 6 * N * D
    budget = budgets_of(C, N)
    assert int(budget.max()) == 6
    assert parabolas(N, C, loss, budget)[0] == pytest.approx(EXACT, abs=0.01)
    assert envelope(N, C, loss, budget)[0] == pytest.approx(EXACT, abs=0.03)


def test_intervals_hold_the_truth_and_a_planted_error_does_not():
    found = approaches(fit(isoflop_runs(noise=0.002), bootstrap=100), bootstrap=100)
    for way in found.ways:
        assert way.a.low - 0.01 <= EXACT <= way.a.high + 0.01
        assert way.a.low < way.a.high
        assert way.a.best + way.b.best == pytest.approx(1.0)
        assert not way.a.contains(EXACT + 0.15)
    assert [len(found.as_dict()["approaches"]), len(found.to_frame())] == [3, 3]
    assert "isoFLOP" in found._repr_html_()


def test_too_few_budgets_are_said():
    table = isoflop_runs(noise=0.002)
    found = approaches(fit(table[6 * table.N * table.D < 3e20], bootstrap=0), bootstrap=0)
    assert found.ways[1].as_dict()["a"]["best"] is not None
    few = approaches(fit(table[6 * table.N * table.D < 5e19], bootstrap=0), bootstrap=20)
    assert few.ways[1].as_dict()["a"]["best"] is None
    assert "needs 3 budgets" in few.ways[1].as_dict()["a"]["best_reason"]
    with pytest.raises(InputError, match="is no law of N and D"):
        approaches(
            fit({"N": [1.0, 2, 4, 8], "D": 10.0, "loss": [1.0, 0.5, 0.26, 0.12]}, law="power", bootstrap=0)
        )


def test_llama3():
    """Its published exponent of D is 0.537 (isoFLOP)."""
    found = approaches(fit(str(real_runs("forecast/llama3.csv")), bootstrap=50), bootstrap=50)
    assert found.ways[1].b.best == pytest.approx(0.537, abs=0.05)


@pytest.mark.parametrize("name", ["marin_comma", "marin_dclm"])
def test_marins_six_budgets_are_six(name):
    """Their 6 N D lies up to 45 % apart within a budget, since their FLOPs count more than 6 N D."""
    law = fit(str(real_runs(f"forecast/{name}.csv")), bootstrap=20)
    found = approaches(law, bootstrap=100).ways[0]
    assert found.budgets == 6
    if name == "marin_dclm":
        assert found.a.best == pytest.approx(0.484, abs=0.01)


def test_a_column_of_compute_is_used():
    """Compute that 6 N D does not know: the budgets are still seven."""
    table = isoflop_runs()
    table["flops"] = 6 * table.N * table.D
    table["D"] *= (table.N / table.N.median()) ** 0.2  # 6 N D is then spread without gaps
    law = fit(table, bootstrap=0)
    assert approaches(law, bootstrap=0).ways[0].budgets == 7
    without = approaches(fit(table.drop(columns="flops"), bootstrap=0), bootstrap=0).ways[0]
    assert without.budgets != 7


def test_runs_without_budgets_are_said():
    """200 tables of compute spread at random: none has budgets (each would be a false alarm)."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(20, 200))
        C, N = np.exp(rng.uniform(0.0, rng.uniform(2.0, 8.0), n)), np.exp(rng.uniform(0.0, 4.0, n))
        assert budgets_of(C, N).max() < 0
    N, D = np.exp(rng.uniform(16, 22, 60)), np.exp(rng.uniform(20, 26, 60))
    table = pd.DataFrame({"N": N, "D": D, "loss": CHINCHILLA_TRUTH.loss(N, D)})
    way = approaches(fit(table, bootstrap=0), bootstrap=20).ways[0]
    assert way.as_dict()["a"]["best"] is None
    assert "the runs have no budgets" in way.as_dict()["a"]["best_reason"]
