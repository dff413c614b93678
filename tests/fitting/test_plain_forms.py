"""A fit says of itself what the command line prints: plain values, a frame, a short page for a notebook."""

import json
from dataclasses import replace

import pytest

import sparselaw as sl
from oracles.runs import CHINCHILLA_TRUTH, noisy_runs


@pytest.fixture(scope="module")
def found():
    return sl.fit(noisy_runs(CHINCHILLA_TRUTH, 0, 40), bootstrap=20, leave_out=True)


def test_as_dict_is_ready_for_json(found):
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    for name, value in found.params.items():
        assert plain["params"][name] == value.as_dict()
    assert plain["equal_exponents"]["p_value"] == found.equal_exponents.p_value
    assert [line["left_out"] for line in plain["leave_out"]] == [line.left_out for line in found.leave_out]
    spoilt = replace(found, gradient_norm=float("inf")).as_dict()
    assert (spoilt["gradient_norm"], spoilt["gradient_norm_reason"]) == (None, "the gradient is not finite")


def test_without_draws_the_ends_have_a_reason():
    plain = sl.fit(noisy_runs(CHINCHILLA_TRUTH, 0, 40), bootstrap=0).as_dict()
    json.dumps(plain, allow_nan=False)
    assert plain["params"]["alpha"]["low"] is None
    assert plain["params"]["alpha"]["low_reason"] == "no draws: bootstrap 0"
    assert plain["equal_exponents"] is None
    assert "draws" in plain["equal_exponents_reason"]


def test_frames(found):
    frame = found.to_frame()
    assert list(frame.index) == ["E", "A", "B", "alpha", "beta", "alpha1", "alpha2"]
    assert frame.loc["alpha"].tolist() == list(found.params["alpha"].as_dict().values())


def test_a_notebook_shows_status_and_warnings_first(found):
    page = replace(found, warnings=("a < b & c",))._repr_html_()
    assert "a &lt; b &amp; c" in page
    assert page.index("status ok") < page.index("a &lt; b") < page.index("<table>")
    assert f"{found.params['beta'].best:.4g} [" in page
