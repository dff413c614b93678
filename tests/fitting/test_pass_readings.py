"""Exponents read as one pass and as training to the end, and the coupling beside the theory's."""

import math

import numpy as np
import pandas as pd
import pytest
from benchmarks.theory_coupling import coupling_of, inputs_for

import sparselaw as sl
from sparselaw.fitting.sparsity import coupling_words, pass_reading, theory_couplings
from sparselaw.interval import Interval
from sparselaw.laws import CoupledLaw, TwoPowerLaw


def reading(alpha_N, alpha_D, spread=0.01, draws=400):
    drawn = spread * np.random.default_rng(0).normal(size=(2, draws))
    columns = {
        "alpha_N": np.append(alpha_N, alpha_N + drawn[0]),
        "alpha_D": np.append(alpha_D, alpha_D + drawn[1]),
    }
    return pass_reading(TwoPowerLaw, columns)


@pytest.mark.parametrize(
    ("alpha_N", "alpha_D", "one_pass", "to_the_end", "said"),
    [
        (0.5, 1.0 / 3.0, True, True, "fit about one pass too"),
        (0.5, 0.25, False, True, "one pass alone would not show"),
        (0.5, 0.6, False, False, "neither"),
    ],
)
def test_each_reading_is_tested(alpha_N, alpha_D, one_pass, to_the_end, said):
    found = reading(alpha_N, alpha_D)
    assert (found.one_pass, found.to_the_end) == (one_pass, to_the_end)
    assert said in found.words()
    assert found.decay.best == alpha_N + 1.0
    plain = found.as_dict()
    assert plain["one_pass"]["consistent"] is one_pass
    assert plain["to_the_end"]["consistent"] is to_the_end


def test_without_draws_nothing_is_decided():
    found = reading(0.5, 0.3, draws=0)
    assert found.one_pass is None
    assert found.to_the_end is None
    assert "draws would say" in found.words()


def test_a_fit_says_both_and_its_coupling():
    law = CoupledLaw(E=1.7, A=150.0, B=600.0, alpha=0.35, beta=0.35 / 1.35, g=0.25)
    rng = np.random.default_rng(1)
    N, D = (x.ravel() for x in np.meshgrid(np.geomspace(1e7, 1e10, 7), np.geomspace(1e9, 1e12, 7)))
    runs = pd.DataFrame({"N": N, "D": D, "loss": law.loss(N, D) * np.exp(0.001 * rng.normal(size=N.size))})
    fitted = sl.fit(runs, bootstrap=60)
    first = fitted.sparsity_readings()[0]
    assert first.training.one_pass
    assert first.coupling.contains(0.25)
    said = fitted.sparsity_words()
    assert any("about one pass" in words and "holds 1" in words for words in said)
    assert any(words.startswith("coupling g = 0.2") and "excluded" in words for words in said)
    assert "training" in fitted.as_dict()["sparsity_by_law"][0]


def test_the_table_of_couplings_is_that_of_the_surfaces():
    for alpha, variant, name in ((0.35, "best ridge", "dense, best ridge"), (0.5, "one pass", "one pass")):
        ratio = 1.0 if variant == "best ridge" else 1.2
        found = coupling_of(inputs_for(alpha, alpha / ratio), variant)
        assert found.law.g == pytest.approx(theory_couplings(alpha)[name], abs=0.01)
        assert found.rms < 0.015
        assert found.law.alpha == pytest.approx(alpha, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha1", "alpha_N"), [(0.2, 0.5), (0.5, 0.35)])
def test_the_table_of_sparse_couplings_is_that_of_the_surfaces(alpha1, alpha_N):
    found = coupling_of(sl.SparseInputs(alpha1=alpha1, alpha2=alpha_N - alpha1 - 1.0), "best ridge")
    assert found.law.g == pytest.approx(theory_couplings(alpha_N, alpha1)["sparse, best ridge"], abs=0.01)
    assert found.rms < 0.015


def test_words_of_the_coupling():
    implied = coupling_words(Interval(0.47, 0.49, 0.5), 0.35, 0.5)
    assert "like sparse, best ridge (theory" in implied
    assert "sparse, best ridge at alpha1 = 0.5 0.49" in implied
    assert "sparse" not in coupling_words(Interval(0.47, 0.49, 0.5), 0.35, -0.1)
    assert "like one pass" in coupling_words(Interval(0.18, 0.21, 0.25), 0.35)
    assert "like none" in coupling_words(Interval(0.9, 1.0, 1.1), 0.35)
    assert "excluded" not in coupling_words(Interval(0.9, 1.0, 1.1), 0.35)
    assert "a sum has 1" in coupling_words(Interval(math.nan, 0.4, math.nan), 0.35)
