"""Exponents of iterations: which prediction the data follow."""

import numpy as np
import pytest

from sparselaw.errors import InputError
from sparselaw.experiments.dynamics import iterations as table
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval

INPUTS = SparseInputs(alpha1=1.0, alpha2=0.3)


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        (Interval(1.5, 1.6, 1.7), "paper"),
        (Interval(2.2, 2.3, 2.4), "corrected"),
        (Interval(1.0, 2.0, 3.0), "both"),
        (Interval(1.9, 2.0, 2.1), "neither"),
        (Interval(1.5, 1.55, 1.6), "nearer the paper"),
        (Interval(2.35, 2.4, 2.45), "nearer the corrected"),
    ],
)
def test_the_verdict_is_computed(measured, expected):
    assert table.follows(measured, paper=1.65, corrected=2.3) == expected


def test_predictions():
    assert table.predictions(INPUTS, "over") == pytest.approx((1.65, 2.3))
    assert table.predictions(INPUTS, "under") == pytest.approx((3.3, 3.3))


def test_the_regimes_are_what_they_say():
    for N, D in table.sizes(INPUTS, "over"):
        assert N > D
    for N, D in table.sizes(INPUTS, "intermediate"):
        assert 1.7 * np.sqrt(D) < N < D
    for N, D in table.sizes(INPUTS, "under"):
        assert np.sqrt(D) > N


def test_small_alpha1_is_refused():
    with pytest.raises(InputError, match="alpha1"):
        table.cost_table(SparseInputs(alpha1=0.2, alpha2=1.0))


def test_loss_follows_the_paper_and_the_condition_number_does_not(monkeypatch):
    """At (1, 0.3) the loss's exponent excludes the corrected 2.30, the condition number's the paper's 1.65.

    20 seeds give standard errors of about 0.06 and 0.2, so each exclusion is by four of them or more.
    """
    monkeypatch.setattr(table, "OVER_D", (100, 1600))
    rows = {(row.method, row.until): row for row in table.cost_table(INPUTS, seeds=20, regimes=["over"])}
    loss, condition = rows["gd", "loss"], rows["condition number", ""]
    assert loss.measured.high < 2.0
    assert condition.measured.low > 1.75
    assert condition.measured.best - loss.measured.best > 0.3
    half = rows["nesterov", "loss"].measured.best / loss.measured.best
    assert half == pytest.approx(0.5, abs=0.1)
    assert loss.follows in {"paper", "nearer the paper"}
    assert loss.closed_form == pytest.approx(loss.measured.best, abs=0.15)  # three standard errors
    assert rows["nesterov", "loss"].closed_form is None
