"""Plans against closed forms, draws planned one by one and the theory's own frontier; their words."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from oracles.runs import CHINCHILLA_TRUTH, TWO_POWER_TRUTH, noisy_runs
from sparselaw.costs import parse_cost
from sparselaw.errors import InputError
from sparselaw.fitting import fit
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.laws import Law, PowerLaw, TwoPowerLaw
from sparselaw.planning import allocate, frontier_curve, plan
from sparselaw.predicting import predict
from sparselaw.theory.scaling_limit import frontier


@pytest.mark.parametrize(
    ("name", "r", "factor"), [("6nd", 1.0, 6.0), ("power:1.5", 1.5, 1.0), ("power:2", 2.0, 1.0)]
)
def test_closed_form_of_a_power_cost(name, r, factor):
    """A N^-a + B (C/(f N^r))^-b is least at N^(a + r b) = (a A)/(r b B) (C/f)^b."""
    law, C = CHINCHILLA_TRUTH, 1e22
    exact = (law.alpha * law.A / (r * law.beta * law.B) * (C / factor) ** law.beta) ** (
        1 / (law.alpha + r * law.beta)
    )
    best = allocate(law.loss, parse_cost(name), C).best
    assert best.N == pytest.approx(exact, rel=1e-6)
    assert factor * best.N**r * best.D == pytest.approx(C, rel=1e-9)
    assert best.side is None
    found = plan(law, C, name)
    assert found.slope == pytest.approx(found.alpha_C, rel=1e-4)
    assert found.alpha_C == pytest.approx(law.alpha * law.beta / (law.alpha + r * law.beta))


@pytest.mark.parametrize(
    ("cost", "surface"),
    [("direct", "leading"), ("6nd", "sharp"), ("accelerated", "leading"), ("direct", "sharp")],
)
def test_the_theorys_plan_agrees_with_the_scaling_limit(cost, surface):
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    found, limit = plan(inputs, 1e15, cost, surface=surface), frontier(inputs, cost)
    N, D, loss = limit.allocation(1e15)
    assert found.side == limit.best.side
    assert [found.N.best, found.D.best, found.loss.best] == pytest.approx([N, D, loss], rel=5e-3)
    assert found.others[0].side == limit.other.side
    assert found.others[0].loss == pytest.approx(limit.other.constant * 1e15**-limit.alpha_C, rel=5e-3)
    assert found.slope == pytest.approx(limit.alpha_C, rel=2e-3 if surface == "leading" else 1e-2)
    rounded = predict(inputs, N=round(found.N.best), D=round(found.D.best), surface=surface)
    assert found.loss.best == pytest.approx(rounded.loss, rel=1e-3)


@pytest.mark.parametrize(("alpha1", "budget", "least"), [(0.3, 1e5, 1.2), (1.0, 1e6, 1.02)])
def test_the_plan_is_the_lowest_place_of_the_sharp_surface(alpha1, budget, least):
    """No whole N beside it is better; the leading surface promises too little loss by a factor ``least``."""
    inputs = SparseInputs(alpha1=alpha1, alpha2=0.3)
    found, leading = plan(inputs, budget), plan(inputs, budget, surface="leading")
    assert found.loss.best > least * leading.loss.best
    beside = [round(found.N.best * factor) for factor in (0.7, 0.9, 1.12, 1.4)]
    for N in beside:
        D = round(float(parse_cost("direct").data_for(float(N), budget)))
        assert predict(inputs, N=N, D=D).loss > 0.999 * found.loss.best
    row = next(row for row in found.isoflop.as_rows() if row["factor"] == 0.5)
    own = predict(inputs, N=round(row["N"]), D=round(row["D"]))
    assert row["loss"] == pytest.approx(own.loss, rel=0.1)


def test_the_surface_is_one_of_two():
    with pytest.raises(InputError, match="surface"):
        plan(SparseInputs(alpha1=1.0, alpha2=0.3), 1e6, surface="sharper")


def test_the_best_of_many_budgets_is_that_of_each():
    inputs = SparseInputs(alpha1=1.5, alpha2=0.3)
    budgets = np.geomspace(1e7, 1e10, 5)
    many, each = frontier_curve(inputs, budgets), frontier_curve(inputs, budgets[[1, 3]])
    assert many.loss[[1, 3]] == pytest.approx(each.loss, rel=3e-3)
    assert each.loss[1] == pytest.approx(plan(inputs, budgets[3]).loss.best, rel=1e-6)
    assert set(many.as_dict()) == {"cost", "budget", "N", "D", "loss"}


def test_a_side_without_a_valley_has_no_number(monkeypatch):
    """At 130 the other side is the better one, and the best of this side is not known."""
    monkeypatch.setitem(frontier_curve.__globals__, "MANY_BUDGETS", 3)
    found = frontier_curve(SparseInputs(alpha1=1.0, alpha2=0.3), np.geomspace(130.0, 1e7, 4))
    known = np.isfinite(found.loss)
    assert (known[0], known[-1]) == (False, True)
    assert (np.diff(found.loss[known]) < 0.0).all()


def test_dense_and_exhausted_inputs():
    dense = plan(DenseInputs(alpha=2.3, dimension=10_000), 1e9, "direct")
    assert dense.side in {"N<D", "N>D"}
    done = plan(SparseInputs(alpha1=-0.5, alpha2=0.8, dimension=50), 1e9, "direct")
    assert done.loss.best == 0.0
    assert any("reach the dimension" in w for w in done.warnings)


@pytest.fixture(scope="module")
def fitted():
    return fit(noisy_runs(CHINCHILLA_TRUTH, 0), bootstrap=200)


def test_intervals_come_from_the_draws(fitted):
    found = plan(fitted, 1e21, "6nd")
    ends = []
    for E, A, B, alpha, beta in fitted.draws:
        law = type(CHINCHILLA_TRUTH)(E=E, A=A, B=B, alpha=alpha, beta=beta)
        best = allocate(law.loss, parse_cost("6nd"), 1e21).best
        ends.append([best.N, best.D, best.loss])
    low, high = np.quantile(np.array(ends), [0.025, 0.975], axis=0)
    for i, name in enumerate(("N", "D", "law_loss")):
        assert getattr(found, name).low == pytest.approx(low[i], rel=1e-5)
        assert getattr(found, name).high == pytest.approx(high[i], rel=1e-5)
    truth = plan(CHINCHILLA_TRUTH, 1e21, "6nd")
    assert found.N.contains(truth.N.best)
    assert found.law_loss.contains(truth.loss.best)
    assert found.loss == found.law_loss
    assert found.side is None


def test_far_budgets_are_said_to_be_far(fitted):
    assert plan(fitted, 1e21, "6nd").warnings == ()
    words = plan(fitted, 1e27, "6nd").warnings
    assert any("budget" in w and "far extrapolation" in w for w in words)
    assert any(w.startswith("N = ") for w in words)
    assert any(w.startswith("D = ") for w in words)


def test_isoflop_profile(fitted):
    found = plan(fitted, 1e21, "6nd")
    profile = found.isoflop
    at_best = int(np.flatnonzero(profile.factor == 1.0)[0])
    assert profile.excess[at_best] == pytest.approx(0.0, abs=1e-12)
    assert np.all(np.diff(profile.loss[: at_best + 1]) < 0)
    assert np.all(np.diff(profile.loss[at_best:]) > 0)
    np.testing.assert_allclose(6 * profile.N * profile.D, 1e21, rtol=1e-9)
    # What is wasted: a best allocation of the rest reaches the same loss.
    for i in (0, 2, 6):
        rest = plan(fitted, 1e21 * (1 - profile.wasted[i]), "6nd")
        assert rest.law_loss.best == pytest.approx(profile.loss[i], rel=1e-5)


def test_edges_and_bad_budgets():
    edge = plan(TwoPowerLaw(A=1e-9, B=1.0, alpha_N=0.5, alpha_D=0.5), 1e6, "6nd")
    assert edge.N.best == pytest.approx(1.0)
    assert any("end of the budget curve" in w for w in edge.warnings)
    law = TWO_POWER_TRUTH
    for budget in (0.0, -1.0, float("nan"), float("inf"), 0.5):
        with pytest.raises(InputError, match="budget"):
            plan(law, budget, "6nd")
    assert plan(law, 6.0, "6nd").D.best == pytest.approx(1.0)
    with pytest.raises(InputError, match="one size"):
        plan(PowerLaw(A=1.0, alpha=1.0), 1e6)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no law and no model"):
        plan(7, 1e6)
    with pytest.raises(InputError, match="is for a table of runs"):
        plan(law, 1e6, group="run")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowLaw(Law):
    """No power law: L = a / log(1 + N) + 1 / log(1 + D)."""

    name: ClassVar[str] = "slow"
    formula: ClassVar[str] = "L = a / log(1 + N) + 1 / log(1 + D)"
    a: float

    def loss(self, N, D):
        return self.a / np.log1p(N) + 1.0 / np.log1p(D)


def test_a_law_without_exponents_is_planned_for_but_has_no_alpha_C():
    found = plan(SlowLaw(a=1.0), 6e10, "6nd")
    assert found.N.best == pytest.approx(found.D.best, rel=1e-3)
    result = found.as_dict()
    assert result["alpha_C"] is None
    assert "no power law" in result["alpha_C_reason"]
    with pytest.raises(InputError, match="needs alpha1"):
        plan(SlowLaw(a=1.0), 6e10, "gd")


class OtherSizes(SlowLaw):
    sizes: ClassVar[tuple[str, ...]] = ("N", "D", "passes")


def test_a_law_of_other_sizes_is_refused():
    with pytest.raises(InputError, match="law=slow: is a law of N, D, passes, not of N and D"):
        plan(OtherSizes(a=1.0), 1e9)


def test_the_cost_is_6nd_for_a_law_and_direct_for_the_theory(fitted):
    assert plan(fitted, 1e21).cost == "6nd"
    assert plan(CHINCHILLA_TRUTH, 1e21).cost == "6nd"
    assert plan(SparseInputs(alpha1=1.0, alpha2=0.3), 1e9).cost == "direct"


def test_exponents_of_N_and_D_against_the_budget(fitted):
    """N ~ C^a with a = beta/(alpha+beta): in closed form, and by planning at two far budgets."""
    law = CHINCHILLA_TRUTH
    found = plan(fitted, 1e21)
    assert found.growth.N.contains(law.beta / (law.alpha + law.beta))
    assert found.growth.N.best + found.growth.D.best == pytest.approx(1.0)
    for cost in ("6nd", "power:1.5"):
        near, far = plan(law, 1e30, cost), plan(law, 1e32, cost)
        assert near.growth.N.best == pytest.approx(np.log(far.N.best / near.N.best) / np.log(100.0), abs=1e-4)
        assert near.growth.D.best == pytest.approx(np.log(far.D.best / near.D.best) / np.log(100.0), abs=1e-4)


def test_tokens_per_parameter_are_those_of_the_draws(fitted):
    found = plan(fitted, 1e21)
    ratios = []
    for E, A, B, alpha, beta in fitted.draws:
        best = plan(type(CHINCHILLA_TRUTH)(E=E, A=A, B=B, alpha=alpha, beta=beta), 1e21)
        ratios.append(best.D.best / best.N.best)
    low, high = np.quantile(ratios, [0.025, 0.975])
    assert found.tokens_per_parameter.low == pytest.approx(low, rel=1e-2)
    assert found.tokens_per_parameter.high == pytest.approx(high, rel=1e-2)


def test_several_budgets(fitted):
    found = plan(fitted, [1e21, 1e22])
    result = found.as_dict()
    assert result["plans"][1] == plan(fitted, 1e22).as_dict()
    assert result["N"] == plan(fitted, 1e21).as_dict()["N"]
    assert list(found.to_frame()["budget"]) == [1e21, 1e22]
    assert "10^22" in found._repr_html_()


def test_serving_makes_the_model_smaller():
    """The minimum of L on 6ND + 2NT = C, by a fine scan."""
    law, C, T = CHINCHILLA_TRUTH, 1e22, 1e12
    found = plan(law, C, inference_tokens=T)
    N = found.N.best * np.linspace(0.5, 2.0, 200_001)
    D = (C - 2 * N * T) / (6 * N)
    losses = np.where(D > 0, law.loss(N, np.maximum(D, 1e-9)), np.inf)
    assert found.N.best == pytest.approx(N[np.argmin(losses)], rel=1e-3)
    assert found.loss.best == pytest.approx(losses.min(), rel=1e-9)
    assert 6 * found.N.best * found.D.best + 2 * found.N.best * T == pytest.approx(C)
    assert found.N.best < plan(law, C).N.best
    assert plan(law, C, inference_tokens=1.0).N.best == pytest.approx(plan(law, C).N.best, rel=1e-6)
    with pytest.raises(InputError, match="inference-tokens"):
        plan(law, C, inference_tokens=-1.0)


def test_a_fit_that_leaves_the_sizes_open_says_so():
    """At one ratio of D to N the exponents trade off, and with them the best allocation."""
    N = np.geomspace(1e7, 1e10, 20)
    noise = np.exp(0.003 * np.random.default_rng(5).normal(size=20))
    runs = pd.DataFrame({"N": N, "D": 20 * N, "loss": CHINCHILLA_TRUTH.loss(N, 20 * N) * noise})
    found = plan(fit(runs, bootstrap=0), budget=1e23)
    assert any("collinear" in words for words in found.warnings)


def test_a_budget_in_words_is_one_budget():
    law = TwoPowerLaw(A=1.0, B=1.0, alpha_N=0.5, alpha_D=0.5)
    assert plan(law, budget="6e20").N.best == plan(law, budget=6e20).N.best
