import json
import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from sparselaw.interval import Interval
from sparselaw.records import Saved, finite, frame, html_table, put, to_dict


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Saved):
    N: float
    loss: Interval
    parts: tuple[Interval, ...] = ()
    curve: object = None
    slope: float | None = None
    hidden: float = field(default=1.0, repr=False)

    def kept(self):
        return "test", {"N": self.N}


def test_a_record_for_json_has_its_shown_fields_and_reasons_for_what_is_missing():
    found = Found(
        N=math.inf, loss=Interval(math.nan, 2.0, 3.0), parts=(Interval(1.0, 2.0, 3.0),), curve=np.arange(2.0)
    )
    assert found.as_dict() == {
        "N": None,
        "N_reason": "not finite",
        "loss": {"low": None, "low_reason": "not known", "best": 2.0, "high": 3.0},
        "parts": [{"low": 1.0, "best": 2.0, "high": 3.0}],
        "curve": [0.0, 1.0],
    }
    assert to_dict(found, "slope", slope="too few runs") == {"slope": None, "slope_reason": "too few runs"}
    assert to_dict(found, "hidden") == {"hidden": 1.0}


def test_records_side_by_side_are_a_frame_with_three_columns_for_an_interval():
    table = frame([Found(N=1.0, loss=Interval(1.0, 2.0, 3.0))] * 2, "N", "loss")
    assert table.columns.tolist() == ["N", "loss_low", "loss_best", "loss_high"]
    assert table.loss_high.tolist() == [3.0, 3.0]


def test_a_record_is_kept_with_its_kind_and_version(tmp_path):
    Found(N=2.0, loss=Interval(1.0, 2.0, 3.0)).save(tmp_path / "x.json")
    kept = json.loads((tmp_path / "x.json").read_text())
    assert (kept["kind"], kept["format"], kept["N"]) == ("test", 1, 2.0)
    assert kept["version"]
