"""Results in a notebook: sizes as people write them, formulas typeset, for every law."""

import re

import pytest

import sparselaw as sl
from sparselaw.laws import LAWS
from sparselaw.records import html_formula, latex_formula

RUNS = {"N": [1e8, 2e8, 4e8] * 4, "D": [b * 1e9 for b in (2, 4, 8, 16) for _ in range(3)]}
RUNS["loss"] = [2 + 500 / n**0.35 + 900 / d**0.33 for n, d in zip(RUNS["N"], RUNS["D"], strict=True)]


@pytest.mark.parametrize("law", LAWS)
def test_formulas_of_every_law_are_balanced_and_have_no_plain_names(law):
    tex, page = latex_formula(LAWS[law].formula), html_formula(LAWS[law].formula)
    assert tex.count("{") == tex.count("}")
    assert page.count("<sup>") == page.count("</sup>")
    assert page.count("<sub>") == page.count("</sub>")
    assert "alpha" not in page
    assert "^" not in page
    assert not re.search(r"(?<!\\)(alpha|beta)", tex)


def test_results_in_a_notebook():
    law, forecast = sl.fit(RUNS, bootstrap=0), sl.forecast(RUNS, at=[(7e9, 1.4e11)])
    plan = sl.plan(RUNS, budget=1e21)
    assert law._repr_latex_() == r"$L = E + A N^{-\alpha} + B D^{-\beta}$"
    assert "<i>N</i><sup>−<i>α</i></sup>" in law._repr_html_()
    page = forecast._repr_html_()
    assert "<td>7B</td><td>140B</td>" in page
    assert "<sup>1/<i>g</i></sup>" in page
    assert forecast._repr_latex_().startswith("$L = E")
    assert re.search(r"<td>N</td><td>[\d.]+B \[[\d.]+[MB], [\d.]+B\]</td>", plan._repr_html_())
    assert "e+0" not in plan._repr_html_()


def test_results_in_a_terminal():
    """What is printed is short: the numbers with their intervals, and no dump of a record."""
    law, plan = sl.fit(RUNS, bootstrap=0), sl.plan(RUNS, budget=1e21)
    assert re.search(r"^  loss +[\d.]+ \[[\d.]+, [\d.]+\]$", str(plan), re.M)
    assert repr(plan).startswith("<Plan of 1e+21: N ")
    assert len(repr(sl.plan(law, budget=[1e21, 1e22]))) < 80
    assert "a = " in str(sl.approaches(RUNS, bootstrap=20))
    assert law.predict(N=[1e9], D=[1e10, 2e10]).shape == (2,)
    assert sl.forecast(RUNS, at=(7e9, 1.4e11)).points[0].N == 7e9
    with pytest.raises(sl.InputError, match="needs N, D"):
        law.predict(N=1e9)
