"""What the theory answers says of itself: plain values, a frame, a short page for a notebook."""

import json

import pytest

import sparselaw as sl
from sparselaw.predicting import Prediction

SPARSE = sl.SparseInputs(alpha1=1.0, alpha2=0.3)


def test_a_point_has_its_terms_a_row_and_a_page():
    point = sl.predict(SPARSE, N=30, D=1000)
    plain = json.loads(json.dumps(point.as_dict(), allow_nan=False))
    assert sum(plain["terms"].values()) == pytest.approx(plain["loss"], rel=1e-12)
    assert set(plain["terms"]) > {"leading"}
    frame, several = point.to_frame(), sl.predict(SPARSE, N=[30, 31], D=1000)
    assert list(frame.columns) == list(several.columns)
    assert frame["loss"][0] == pytest.approx(several["loss"][0], rel=1e-12)
    page = point._repr_html_()
    assert "N = 30, D = 1,000" in page
    assert f"<td>loss</td><td>{point.loss:.6g}</td>" in page
    assert "None" not in page
    careful = sl.predict(SPARSE, N=4, D=1000, surface="leading")
    assert careful.caution
    before, _, after = careful._repr_html_().partition("<table>")
    assert "corrections of relative order 1/N" in before
    assert "corrections" not in after


def test_parts_of_unfinished_training_are_columns_and_rows():
    point = sl.predict(SPARSE, N=30, D=1000, solver=sl.SGD(passes=2, step=0.3))
    frame = point.to_frame()
    assert frame["descent"][0] == point.parts["descent"]
    assert frame["kappa"][0] == point.kappa
    assert "<td>minibatch</td>" in point._repr_html_()


def test_exponents_and_best_settings():
    found = SPARSE.exponents.as_dict()
    assert (found["regime"], found["alpha_N"], found["nu"]) == ("asymmetric", 2.3, None)
    page = SPARSE.exponents._repr_html_()
    assert "<td>alpha_D</td><td>1.15</td>" in page
    assert "nu" not in page
    best = sl.best_ridge(SPARSE, N=100, D=4000, noise=0.1)
    assert f"<td>ridge</td><td>{best.ridge:.6g}</td>" in best._repr_html_()
    stop = sl.best_stop(SPARSE, N=100, D=4000, noise=0.1, solver=sl.GradientDescent(steps=1, step=0.1))
    assert f"<td>loss</td><td>{stop.loss:.6g}</td>" in stop._repr_html_()


def test_why_there_is_no_spike_is_said():
    for inputs, words in ((SPARSE, "alpha2 < -1"), (sl.DenseInputs(alpha=2.3), "always active")):
        assert words in Prediction(inputs=inputs).as_dict()["nu_reason"]
