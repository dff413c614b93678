"""The allocation against closed forms, brute force and the theory's own frontier; the plan's words."""

import numpy as np
import pytest

from oracles_fitting import CHINCHILLA_TRUTH, TWO_POWER_TRUTH, noisy_runs
from sparselaw.costs import parse_cost
from sparselaw.errors import InputError
from sparselaw.fitting import fit
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.laws import PowerLaw, TwoPowerLaw
from sparselaw.planning import Peak, allocate, plan
from sparselaw.theory import frontier, predict


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


def test_two_valleys_and_a_wall_between_them():
    """A made-up double descent: the better valley wins, wherever it is; brute force on a fine grid agrees."""
    cost = parse_cost("6nd")
    for tilt in (-0.3, 0.3):

        def loss(N, D, tilt=tilt):
            gap = np.log(N / np.sqrt(D))
            with np.errstate(divide="ignore"):
                wall = np.where(gap == 0.0, np.inf, 1.0 / np.abs(gap))
            return wall + (gap + 1.0 * np.sign(gap)) ** 2 * 0.1 + tilt * np.tanh(gap) + 2.0

        peak = Peak(threshold=lambda D: float(np.sqrt(D)), name="K")
        found = allocate(loss, cost, 6e12, peak=peak)
        N = np.exp(np.linspace(0, np.log(1e12), 400_001))
        values = loss(N, 1e12 / N)
        assert found.best.loss <= values.min() + 1e-12
        assert found.best.N == pytest.approx(N[np.argmin(values)], rel=1e-3)
        assert found.best.side == ("N>K" if tilt < 0 else "N<K")
        assert found.others[0].side != found.best.side


def test_a_wall_that_a_coarse_grid_would_miss():
    """A narrow deep valley beside the wall is found because the scan looks closely there."""

    def loss(N, D):
        x = np.log(N / np.sqrt(D)) / 1.5
        return np.where(x == 0, np.inf, 1.0 - 0.5 * np.exp(-(((x - 0.02) / 0.01) ** 2)) + 0.01 * x**2)

    peak = Peak(threshold=lambda D: float(np.sqrt(D)), name="K")
    best = allocate(loss, parse_cost("6nd"), 6e12, peak=peak, grid=45).best
    assert best.loss == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("cost", ["direct", "6nd", "accelerated"])
def test_model_plan_agrees_with_the_scaling_limit(cost):
    model = SparseInputs(alpha1=1.0, alpha2=0.3)
    found, limit = plan(model, 1e15, cost), frontier(model, cost)
    N, D, loss = limit.allocation(1e15)
    assert found.side == limit.best.side
    assert [found.N.best, found.D.best, found.loss.best] == pytest.approx([N, D, loss], rel=5e-3)
    assert found.others[0].side == limit.other.side
    assert found.others[0].loss == pytest.approx(limit.other.constant * 1e15**-limit.alpha_C, rel=5e-3)
    assert found.slope == pytest.approx(limit.alpha_C, rel=2e-3)
    rounded = predict(model, N=round(found.N.best), D=round(found.D.best))
    assert found.loss.best == pytest.approx(rounded.loss, rel=1e-3)


def test_dense_and_exhausted_models():
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
    for i, name in enumerate(("N", "D", "loss")):
        assert getattr(found, name).low == pytest.approx(low[i], rel=1e-5)
        assert getattr(found, name).high == pytest.approx(high[i], rel=1e-5)
    truth = plan(CHINCHILLA_TRUTH, 1e21, "6nd")
    assert found.N.contains(truth.N.best)
    assert found.loss.contains(truth.loss.best)
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
        assert rest.loss.best == pytest.approx(profile.loss[i], rel=1e-5)


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
        plan("law", 1e6)  # type: ignore[arg-type]
