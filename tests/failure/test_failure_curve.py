"""The result of `failure`: a sequence of points that knows its plain form."""

import json
import math

import numpy as np
import pytest

from sparselaw.failure import FailureCurve, FailurePoint, failure_probability
from sparselaw.failure.failure_curve import Sampling
from sparselaw.failure.probability import growing_curve
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval

SPIKY = SparseInputs(alpha1=1.5, alpha2=-2.0)
CALM = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=50)


def point(D, *, status="ok", reason=""):
    half = Interval(0.1, 0.2, 0.3)
    return FailurePoint(
        D=D, threshold=2.0, probability=half, spike=0.1, bulk=half, method="direct", spike_index=math.inf,
        replicates=10, failures=2.0, status=status, reason=reason,
    )  # fmt: skip


@pytest.fixture(scope="module")
def curve():
    return failure_probability(SPIKY, [10, 20], 2.0, N=[5], failures=20)


def test_it_is_a_sequence_of_its_points(curve):
    assert len(curve) == 2
    assert list(curve) == [curve[0], curve[1]] == list(curve[:2])
    first, last = curve
    assert (first.D, last.D) == (10, 20)
    assert [q.D for q in curve.full_model] == [10, 20]


def test_plain_form_is_json_with_the_keys_of_the_command(curve):
    plain = curve.as_dict()
    assert list(plain) == [
        "alpha1", "alpha2", "dimension", "dimension_reason", "threshold", "seed", "nu", "points",
        "local_exponents", "fitted_exponent", "full_model",
    ]  # fmt: skip
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["points"][0]["probability"] == curve[0].probability.as_dict()
    assert plain["full_model"][1]["ratio"] == curve.full_model[1].ratio.as_dict()


def test_missing_values_have_reasons():
    calm = FailureCurve(
        inputs=CALM, threshold=2.0, seed=0, points=(point(10, status="disagree", reason="why"),)
    )
    plain = calm.as_dict()
    assert plain["dimension"] == 50
    assert plain["nu"] is None
    assert plain["nu_reason"]
    assert plain["points"][0]["spike_index"] is None
    assert plain["points"][0]["spike_index_reason"]
    assert plain["points"][0]["status_reason"] == "why"
    assert plain["fitted_exponent_reason"]
    assert "full_model" not in plain


def test_a_frame_has_a_row_for_each_point(curve):
    frame = curve.to_frame()
    assert list(frame["D"]) == [10, 20]
    assert frame["probability_low"][1] == curve[1].probability.low
    assert frame["status"].eq("ok").all()


def test_a_notebook_shows_warnings_first_and_escapes_them():
    shown = FailureCurve(
        inputs=SPIKY, threshold=2.0, seed=0, points=(point(10, status="low-ess", reason="<few>"),)
    )._repr_html_()
    assert "&lt;few&gt;" in shown
    assert shown.index("low-ess") < shown.index("<table>")
    assert "0.2 [0.1, 0.3]" in shown
    assert "nu = 0.5" in shown


def test_the_curve_grows_point_by_point_to_the_whole(curve):
    *parts, whole = growing_curve(SPIKY, [10, 20], 2.0, Sampling(failures=20), N=[5])
    assert [(len(part), len(part.full_model)) for part in parts] == [(0, 0), (1, 0), (2, 0), (2, 1)]
    assert whole == curve
    assert parts[1][0] == whole[0]


def test_one_size_or_many_from_numpy_too():
    calm = [failure_probability(CALM, D, 0.9) for D in (np.int64(5), 5, np.array([5]), [5])]
    assert all(curve == calm[0] for curve in calm)
