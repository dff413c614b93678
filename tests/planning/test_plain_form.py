"""A plan in plain form: for JSON, as a table, in a notebook."""

import json
import math

import numpy as np
import pytest

from sparselaw.inputs import SparseInputs
from sparselaw.laws import ChinchillaLaw
from sparselaw.planning import plan

LAW = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
KEYS = ["budget", "cost", "N", "D", "loss", "intervals", "alpha_C", "alpha_C_here", "side", "others"]
KEYS += ["tokens_per_parameter", "N_exponent", "D_exponent", "law_loss", "loss_intervals"]


@pytest.fixture(scope="module")
def theory():
    return plan(SparseInputs(alpha1=1.0, alpha2=0.3), 1e9)


def test_json_says_why_a_number_is_missing():
    result = plan(LAW, 6e20, "6nd").as_dict()
    json.dumps(result, allow_nan=False)
    assert set(result) == {*KEYS, "isoflop", "warnings", "level", "side_reason", "valley"}
    assert result["N"]["low"] is None
    assert result["N"]["low_reason"] == "none: the law came without draws"
    assert result["side_reason"]


def test_json_of_the_theory(theory):
    result = theory.as_dict()
    json.dumps(result, allow_nan=False)
    assert set(result) == {*KEYS, "isoflop", "warnings", "level", "valley", "valley_reason"}
    assert result["N"] == theory.N.as_dict()
    assert result["others"][0]["side"] == "N>K"
    assert result["warnings"] == list(theory.warnings)


def test_infinite_losses_have_a_reason(theory):
    profile = theory.isoflop
    rows = profile.as_rows()
    assert [row["factor"] for row in rows] == profile.factor.tolist()
    broken = type(profile)(**{name: getattr(profile, name) for name in profile.__slots__} | {
        "loss": np.full(profile.N.size, math.inf), "wasted": np.full(profile.N.size, math.nan)
    })  # fmt: skip
    row = broken.as_rows()[0]
    assert (row["loss"], row["loss_reason"]) == (None, "infinite")
    assert (row["wasted"], row["wasted_reason"]) == (None, "not defined at this point")


def test_frame_is_the_profile(theory):
    frame = theory.to_frame()
    assert list(frame) == ["factor", "N", "D", "loss", "excess", "wasted"]
    np.testing.assert_array_equal(frame["loss"], theory.isoflop.loss)


def test_notebook_shows_warnings_first_and_escapes():
    shown = plan(SparseInputs(alpha1=-0.5, alpha2=0.8, dimension=50), 1e9)._repr_html_()
    assert shown.index("reach the dimension") < shown.index("<table")
    assert "N&lt;D" in shown or "N&gt;D" in shown
    assert "nan" not in plan(LAW, 6e20, "6nd")._repr_html_()
