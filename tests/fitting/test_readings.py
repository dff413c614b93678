"""The sparsity by the coupled law with the additive law's beside it."""

import numpy as np
import pandas as pd
import pytest

import sparselaw as sl
from sparselaw.fitting.sparsity import ONE_PASS
from sparselaw.laws import ChinchillaLaw, CoupledLaw

COUPLED = CoupledLaw(E=1.7, A=150.0, B=600.0, alpha=0.32, beta=0.30, g=0.45)


def table(law, noise=0.002, seed=0):
    rng = np.random.default_rng(seed)
    N, D = (x.ravel() for x in np.meshgrid(np.geomspace(1e7, 1e10, 7), np.geomspace(1e9, 1e12, 7)))
    return pd.DataFrame({"N": N, "D": D, "loss": law.loss(N, D) * np.exp(noise * rng.normal(size=N.size))})


def test_both_laws_are_read_and_the_coupled_one_first():
    fitted = sl.fit(table(COUPLED), bootstrap=100)
    coupled, additive = fitted.sparsity_readings()
    assert (coupled.law, additive.law) == ("coupled", "chinchilla")
    truth = COUPLED.alpha / COUPLED.beta - 1.0
    assert coupled.sparsity["alpha1"].contains(truth)
    assert abs(additive.sparsity["alpha1"].best - truth) > 0.1  # the sum is wrong here
    assert additive.sparsity == fitted.sparsity
    whole = fitted.as_dict()
    assert [line["law"] for line in whole["sparsity_by_law"]] == ["coupled", "chinchilla"]
    assert whole["sparsity_words"][-1] == ONE_PASS
    assert "alpha1" not in fitted._repr_html_()
    assert "alpha1" not in str(fitted)


def test_the_coupled_law_from_the_additive_optimum_is_its_own_optimum():
    runs = table(COUPLED)
    own = sl.fit(runs, law="coupled", bootstrap=0)
    beside = sl.fit(runs, bootstrap=0).sparsity_readings()[0]
    assert beside.sparsity["alpha1"].best == pytest.approx(own.sparsity["alpha1"].best, abs=1e-4)
    assert [r.law for r in own.sparsity_readings()] == ["coupled", "chinchilla"]


def test_a_sign_that_depends_on_the_law_is_said():
    law = CoupledLaw(E=1.7, A=150.0, B=900.0, alpha=0.31, beta=0.30, g=0.3)
    fitted = sl.fit(table(law), bootstrap=0)
    signs = [np.sign(r.sparsity["alpha1"].best) for r in fitted.sparsity_readings()]
    said = any("depends on the law" in words for words in fitted.sparsity_words())
    assert said == (signs[0] != signs[1])


def test_few_rows_and_other_laws():
    eight = table(ChinchillaLaw(E=1.7, A=400.0, B=400.0, alpha=0.34, beta=0.28)).iloc[::8]
    six = sl.fit(eight.iloc[:6], bootstrap=0).sparsity_readings()[0]
    assert six.sparsity is None
    assert "too few" in six.reason
    assert [r.law for r in sl.fit(table(COUPLED), law="two-power", bootstrap=0).sparsity_readings()] == [
        "two-power"
    ]
    assert sl.fit(table(COUPLED), law="power", variable="N", bootstrap=0).sparsity_readings() == ()


def test_a_law_that_the_runs_leave_open_has_no_reading():
    """Two sizes of model: g, alpha and E trade off."""
    rng = np.random.default_rng(5)
    N, D = (x.ravel() for x in np.meshgrid([1e8, 1e9], np.geomspace(1e9, 1e12, 10)))
    loss = (1.8 + 480 * N**-0.35 + 2100 * D**-0.37) * np.exp(0.003 * rng.normal(size=N.size))
    coupled = sl.fit(pd.DataFrame({"N": N, "D": D, "loss": loss}), bootstrap=0).sparsity_readings()[0]
    assert coupled.sparsity is None
    assert coupled.reason
