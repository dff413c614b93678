"""Laws in series, of one exponent and of repeated data: special cases, and fits that find them."""

import numpy as np
import pytest

from oracles.runs import CHINCHILLA_TRUTH, chinchilla_design, real_runs
from sparselaw.errors import InputError
from sparselaw.fitting import fit, read_table
from sparselaw.laws import ChinchillaLaw, CoupledLaw, DataConstrainedLaw, KaplanLaw, OneExponentLaw
from sparselaw.planning import plan

REPEATED = DataConstrainedLaw(E=1.87, A=521.0, B=1488.0, alpha=0.353, beta=0.353, R_N=5.31, R_D=15.4)


def test_kaplans_form_is_the_coupled_law_without_a_floor():
    N, D = chinchilla_design(50)
    law = KaplanLaw(A=8.0, B=11.0, alpha_N=0.076, alpha_D=0.095)
    coupled = CoupledLaw(E=0.0, A=8.0, B=11.0, alpha=0.076, beta=0.095, g=0.095)
    np.testing.assert_allclose(law.loss(N, D), coupled.loss(N, D), rtol=1e-12)
    plain = ((law.N_c / N) ** (law.alpha_N / law.alpha_D) + law.D_c / D) ** law.alpha_D
    np.testing.assert_allclose(law.loss(N, D), plain, rtol=1e-10)


def test_one_exponent_is_chinchillas_law_with_equal_ones():
    N, D = chinchilla_design(50)
    one = OneExponentLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35)
    two = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.35)
    np.testing.assert_array_equal(one.loss(N, D), two.loss(N, D))
    assert one.exponents == (0.35, 0.35)
    assert plan(one, 1e21).alpha_C == pytest.approx(0.175)


def test_fresh_data_follow_chinchillas_law_and_repetitions_fade():
    N, D = 1e9, 2e10
    fresh = ChinchillaLaw(E=1.87, A=521.0, B=1488.0, alpha=0.353, beta=0.353)
    assert REPEATED.loss(N, D, D) == pytest.approx(fresh.loss(N, D), rel=1e-12)
    assert REPEATED.loss(N, D, 5 * D) == REPEATED.loss(N, D, D)  # no more than D of them can be seen
    U = 1e9
    worth = REPEATED.effective_data(U * np.array([1.0, 4.0, 1e6]), U)
    np.testing.assert_allclose(worth, U * np.array([1.0, 1 + 15.4 * (1 - np.exp(-3 / 15.4)), 16.4]))
    # The size that fits U: both terms of the fresh law fall alike there along N D.
    used = REPEATED.effective_size(1e15, U) / (1 + REPEATED.R_N)
    slope_N = REPEATED.alpha * REPEATED.A * used**-REPEATED.alpha
    assert slope_N == pytest.approx(REPEATED.beta * REPEATED.B * U**-REPEATED.beta, rel=1e-9)


@pytest.mark.parametrize(
    "law",
    [
        KaplanLaw(A=8.0, B=11.0, alpha_N=0.076, alpha_D=0.095),
        OneExponentLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35),
        REPEATED,
    ],
    ids=lambda law: law.name,
)
def test_a_fit_finds_the_law_that_made_the_runs(law):
    N, D = chinchilla_design(120)
    sizes = {"N": N, "D": D}
    if "U" in law.sizes:
        sizes["U"] = D / np.resize([1.0, 2.0, 8.0, 40.0], N.size)
    table = {**sizes, "loss": law.loss(*sizes.values())}
    found = fit(table, law=law.name, bootstrap=0)
    assert found.goodness.sd < 1e-4
    for name in law.parameters():
        assert found.params[name].best == pytest.approx(getattr(law, name), rel=2e-3)


def test_epochs_stand_for_unique_data():
    N, D = chinchilla_design(120)
    epochs = np.resize([1.0, 2.0, 8.0, 40.0], N.size)
    table = {"N": N, "D": D, "epochs": epochs, "loss": REPEATED.loss(N, D, D / epochs)}
    found = fit(table, law="data-constrained", bootstrap=0)
    assert found.params["R_D"].best == pytest.approx(15.4, rel=1e-2)
    assert "U is missing: taken as D/epochs" in found.warnings
    assert found.status == "ok"
    assert any("--law data-constrained" in w for w in fit(table, bootstrap=0).warnings)
    with pytest.raises(InputError, match="no column for U"):
        fit({k: table[k] for k in ("N", "D", "loss")}, law="data-constrained", bootstrap=0)


def test_repeated_data_of_real_runs():
    """The law of repeated data explains them much better than the law of N and D."""
    table = read_table(real_runs("datablations/datablations_c4_runs.csv"))
    repeated = fit(table, law="data-constrained", bootstrap=0)
    pooled = fit(table, bootstrap=0)
    assert repeated.goodness.mad < 0.7 * pooled.goodness.mad
    assert repeated.value < 0.75 * pooled.value


def test_plan_for_limited_data():
    """Against a fine scan along the budget; with data enough, the plan of fresh data."""
    C, U = 1e22, 2e10
    found = plan(REPEATED, C, unique_data=U)
    N = found.N.best * np.geomspace(0.2, 5.0, 100_001)
    losses = REPEATED.loss(N, C / (6 * N), np.minimum(U, C / (6 * N)))
    assert found.loss.best == pytest.approx(losses.min(), rel=1e-9)
    assert found.unique.passes.best == pytest.approx(found.D.best / U)
    assert found.unique.effective_data.best == pytest.approx(REPEATED.effective_data(found.D.best, U))
    assert 1.0 < found.unique.passes.best
    assert found.unique.effective_data.best < found.D.best
    fresh = ChinchillaLaw(E=1.87, A=521.0, B=1488.0, alpha=0.353, beta=0.353)
    assert plan(REPEATED, C, unique_data=1e15).N.best == pytest.approx(plan(fresh, C).N.best, rel=1e-4)
    assert found.loss.best > plan(fresh, C).loss.best
    borrowed = plan(CHINCHILLA_TRUTH, C, unique_data=U)
    assert any("as published" in w for w in borrowed.warnings)
    assert {"passes", "effective_data", "unique_data"} <= set(borrowed.as_dict())
    with pytest.raises(InputError, match="no law of repeated data"):
        plan(KaplanLaw(A=8.0, B=11.0, alpha_N=0.076, alpha_D=0.095), C, unique_data=U)
    with pytest.raises(InputError, match="is a law of N, D, U"):
        plan(REPEATED, C)
