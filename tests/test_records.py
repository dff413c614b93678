import math

import pytest

from sparselaw.interval import Interval
from sparselaw.records import finite, html_table, put


@pytest.mark.parametrize("value", [None, math.inf, -math.inf, math.nan])
def test_what_json_cannot_hold_is_none_with_its_reason(value):
    result = {}
    put(result, "nu", value, "no spike")
    assert result == {"nu": None, "nu_reason": "no spike"}
    assert finite(value) is None


def test_numbers_and_records_stay():
    result = {}
    put(result, "nu", 0.5, "no spike")
    put(result, "loss", Interval(1.0, 2.0, 3.0), "")
    assert result == {"nu": 0.5, "loss": {"low": 1.0, "best": 2.0, "high": 3.0}}


def test_a_notebook_shows_text_and_never_runs_it():
    shown = html_table("<b>", ["<i>"], [["<script>", Interval(1.0, 2.0, 3.0)]], ["a & b"])
    for harmful in ("<b><", "<i>", "<script>", "a & b"):
        assert harmful not in shown.replace("<p><b>", "")
    assert "&lt;script&gt;" in shown
    assert shown.index("a &amp; b") < shown.index("<table>")
    assert "2 [1, 3]" in shown
