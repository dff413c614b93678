import math

import pytest

from sparselaw.experiments.paper.item import Printed, Quantity
from sparselaw.interval import Interval


@pytest.mark.parametrize(
    ("printed", "measured", "word"),
    [
        (Printed(2.0, 0.05), Interval(1.9, 2.0, 2.1), "agrees"),
        (Printed(2.0, 0.0), Interval(2.05, 2.1, 2.15), "differs"),
        (Printed(2.0, 0.0, above=0.2), Interval(2.05, 2.1, 2.15), "agrees"),
        (Printed(2.0, 0.0, below=0.2), Interval(2.05, 2.1, 2.15), "differs"),
        (Printed(2.0, 0.0, below=0.2), Interval(1.85, 1.9, 1.95), "agrees"),
        (Printed(1e-3, 0.0, bound=True), Interval(1e-8, 2e-8, 4e-8), "agrees"),
        (Printed(1e-3, 0.0, bound=True), Interval(2e-3, 3e-3, 4e-3), "differs"),
        (None, Interval(1.0, 2.0, 3.0), "not comparable"),
        (Printed(2.0, 0.05), None, "not comparable"),
        (Printed(2.0, 0.05), Interval(0.0, math.nan, 1.0), "not comparable"),
    ],
)
def test_verdicts_follow_from_the_numbers(printed, measured, word):
    assert Quantity("a number", measured, printed).verdict()[0] == word


def test_an_altered_measurement_changes_the_verdict():
    printed = Printed(1.11, 0.005, below=0.06, above=0.06)
    right = Quantity("exponent", Interval(1.10, 1.13, 1.16), printed, 1.15)
    altered = Quantity("exponent", Interval(1.27, 1.30, 1.33), printed, 1.15)
    assert right.verdict()[0] == "agrees"
    assert altered.verdict()[0] == "differs"
    assert "0.19 apart" in altered.verdict()[1]


def test_a_statement_that_is_not_the_papers_is_judged_by_itself():
    stated = Quantity("a slope", Interval(0.2, 0.3, 0.4), Printed(0.0, 0.05, whose="statement"))
    row = stated.as_dict()
    assert (row["paper"], row["stated"], row["verdict"]) == (None, 0.0, "differs")
    assert "statement" in row["reason"]
