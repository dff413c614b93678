"""Laws side by side: errors, AIC and BIC against their plain formulas; the law that made the runs wins."""

import json

import numpy as np
import pytest

import sparselaw as sl
from oracles.runs import CHINCHILLA_TRUTH, noisy_runs, real_runs
from sparselaw.errors import InputError
from sparselaw.fitting import compare_laws, fit
from sparselaw.laws import ChinchillaLaw


@pytest.fixture(scope="module")
def table():
    return noisy_runs(CHINCHILLA_TRUTH, 0, 80)


@pytest.fixture(scope="module")
def found(table):
    return compare_laws(table, ["chinchilla", "two-power", "one-exponent", "coupled"])


def test_errors_are_those_of_a_fit_to_the_cheaper_part(table, found):
    line = next(one for one in found.laws if one.fitted.name == "chinchilla")
    for cutoff in (0.5, 0.7):
        table = table.sort_values(["D", "N"])  # as runs of the same compute stand
        order = np.argsort((np.log(table.N) + np.log(table.D)).round(9), kind="stable")
        known, later = table.iloc[order[: round(80 * cutoff)]], table.iloc[order[round(80 * cutoff) :]]
        law = fit(known, bootstrap=0)
        plain = 100 * np.sqrt(np.mean(np.log(later.loss / law.loss(later.N, later.D)) ** 2))
        assert line.errors[cutoff] == pytest.approx(plain, rel=1e-4)


def test_information_criteria_by_hand(table):
    for objective in ("huber", "least-squares"):
        line = compare_laws(table, ["chinchilla"], objective).laws[0]
        r = np.log(table.loss / line.fitted.loss(table.N, table.D))
        n = len(r)
        if objective == "huber":
            loglik = np.sum(-np.log(2 * np.mean(np.abs(r))) - np.abs(r) / np.mean(np.abs(r)))
        else:
            loglik = np.sum(-0.5 * np.log(2 * np.pi * np.mean(r**2)) - r**2 / (2 * np.mean(r**2)))
        assert line.aic == pytest.approx(2 * 6 - 2 * loglik, rel=1e-9)
        assert line.bic == pytest.approx(6 * np.log(n) - 2 * loglik, rel=1e-9)


def test_the_coupled_law_is_first_and_the_others_are_in_order(found):
    names = [line.fitted.name for line in found.laws]
    assert names[0] == "coupled"
    errors = [line.out_of_sample_error for line in found.laws[1:]]
    assert errors == sorted(errors)
    assert names[-1] == "two-power"  # no floor: the runs have one
    by_aic = min(found.laws, key=lambda line: line.aic)
    assert isinstance(by_aic.fitted.law, ChinchillaLaw) or by_aic.fitted.name == "one-exponent"


def test_plain_form(found):
    result = found.as_dict()
    json.dumps(result, allow_nan=False)
    assert {"law", "out_of_sample_error", "aic", "bic", "status", "params"} <= set(result["laws"][0])
    assert "coupled" in found._repr_html_()
    assert list(found.to_frame()["law"]) == [line["law"] for line in result["laws"]]


def test_a_law_that_cannot_be_fitted_is_said(table):
    found = compare_laws(table, ["chinchilla", "data-constrained"])
    assert list(found.refused) == ["data-constrained"]
    assert "no column for U" in found.refused["data-constrained"]
    with pytest.raises(InputError, match="no column for U"):
        compare_laws(table, ["data-constrained"])
    with pytest.raises(InputError, match="is not one of the laws"):
        compare_laws(table, ["cubic"])


def test_laws_with_a_floor_foretell_real_runs_better():
    found = sl.compare_laws(str(real_runs("forecast/llama3.csv")), ["chinchilla", "coupled", "kaplan"])
    errors = {line.fitted.name: line.out_of_sample_error for line in found.laws}
    assert max(errors["coupled"], errors["chinchilla"]) < 0.7 * errors["kaplan"]
