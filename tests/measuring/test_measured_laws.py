"""Data of known law: its exponents are found, and data of two laws have none."""

import json

import numpy as np
import pytest
from scipy import sparse

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.plotting import figures


def drawn(alpha1, alpha2, D, seed):
    """D samples of the power law, infinitely many coordinates renumbered as they are seen."""
    inputs = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)
    data = draw_sparse(inputs, D, np.random.default_rng(seed))
    value = data.sign * inputs.amplitudes(data.active)[data.column]
    return sparse.csr_array((value, (data.sample, data.column)), shape=(D, data.active.size))


@pytest.fixture(scope="module")
def found():
    return sl.measure(drawn(1.0, 0.3, 40_000, 1))


def test_one_law_gives_its_exponents(found):
    assert found.alpha1 is not None, found.alpha1_reason
    assert found.alpha1.contains(1.0)
    assert found.alpha1.high - found.alpha1.low < 0.6
    assert found.eta.best == pytest.approx(0.65, abs=0.02)  # amplitudes have no scatter
    assert found.alpha2.contains(0.3)
    assert found.regime == "unseen"


def test_the_curve_is_that_of_the_law(found):
    inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    total = inputs.tail_variance(0)
    for point in found.curve[3:]:
        K, unseen = inputs.expected_seen(point.D), inputs.expected_unseen(point.D) / total
        # four standard errors of one data set: a false alarm in 16,000 for each
        assert abs(np.log(point.K.best / K)) < 2.0 * np.log(point.K.high / point.K.best) + 1e-3
        assert (
            abs(np.log(point.unseen.best / unseen))
            < 2.0 * np.log(point.unseen.high / point.unseen.best) + 1e-3
        )
    at = found.curve[-1]
    assert at.alpha_D.contains(1.15)
    assert not at.alpha_D.contains(2.3)


def test_a_measurement_is_inputs_of_the_theory(found):
    law = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    for tail in (False, True):
        for N, D in ((30, 5000), (4000, 5000)):
            one, other = sl.predict(law, N=N, D=D).loss, sl.predict(found.inputs(tail=tail), N=N, D=D).loss
            assert other == pytest.approx(one, rel=0.25)


def test_two_laws_have_no_single_exponent():
    common, rare = drawn(0.3, 0.0, 20_000, 2), drawn(2.5, 0.0, 20_000, 3)
    both = sl.measure(sparse.hstack([common, rare[:, 40:]]).tocsr(), binary=True)
    assert both.eta.best == 0.0 or both.eta.contains(0.0)
    plain = both.as_dict()
    flat = sl.measure(sparse.random_array((4000, 3000), density=0.002, rng=np.random.default_rng(0)))
    assert flat.alpha1 is None
    assert "no single alpha1" in flat.alpha1_reason or "too few" in flat.alpha1_reason
    assert plain["alpha1"] is None or plain["alpha1"]["best"] > 0.0


def test_the_command_says_what_the_library_says(tmp_path, capsys, monkeypatch):
    matrix = drawn(1.0, 0.3, 3000, 4)
    sparse.save_npz(tmp_path / "x.npz", matrix)
    with pytest.raises(SystemExit) as stop:
        main(["measure", str(tmp_path / "x.npz"), "--plot", str(tmp_path / "x.svg"), "--json"])
    assert stop.value.code == 0
    said = json.loads(capsys.readouterr().out)
    known = json.loads(json.dumps(sl.measure(matrix).as_dict(), allow_nan=False))
    said.pop("source"), known.pop("source")
    assert said == known
    for key in ("rows", "features", "dead", "nonzeros", "curve", "alpha1", "eta", "regime"):
        assert key in said
    monkeypatch.setattr(figures, "draw", lambda *_, **__: b"<svg/>")  # drawn above
    with pytest.raises(SystemExit) as stop:
        main(["measure", str(tmp_path / "x.npz"), "--report", str(tmp_path / "x.html")])
    assert stop.value.code == 0
    assert "features seen" in capsys.readouterr().out
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")
    assert "local alpha1" in (tmp_path / "x.html").read_text()


def test_a_notebook_shows_it(found):
    assert "features seen" in found._repr_html_()
    assert len(found.to_frame()) == len(found.curve)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha1", "alpha2"), [(1.0, 0.3), (0.5, 0.5)])
def test_intervals_hold_in_200_data_sets(alpha1, alpha2):
    """alpha1 inside its interval in 90 to 99 % of 200 data sets; K and U within 95 % as often."""
    inputs = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)
    inside = {"alpha1": 0, "K": 0, "unseen": 0, "wrong": 0}
    for seed in range(200):
        found = sl.measure(drawn(alpha1, alpha2, 20_000, 100 + seed))
        inside["alpha1"] += found.alpha1 is not None and found.alpha1.contains(alpha1)
        inside["wrong"] += found.alpha1 is not None and found.alpha1.contains(alpha1 + 0.5)
        at = found.curve[-2]
        inside["K"] += at.K.contains(inputs.expected_seen(at.D))
        inside["unseen"] += at.unseen.contains(inputs.expected_unseen(at.D) / inputs.tail_variance(0))
    print(inside)
    assert 180 <= inside["alpha1"] <= 198
    assert 175 <= inside["K"]
    assert 175 <= inside["unseen"]
    assert inside["wrong"] < 100
