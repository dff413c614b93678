"""Nonlinear features in the Loss surface: curves from a worker, trials, and what has no theory."""

import math
import shlex
import threading

import pytest

import sparselaw as sl
from sparselaw.explore.session import Session
from sparselaw.explore.views.surface_view import one_curve

DESK = {"viewport": {"width": 1280, "height": 900}}
POINT = {"alpha1": "1", "alpha2": "0.3"}


@pytest.fixture(scope="module")
def session():
    with Session() as made:
        made.bench.workers = 1
        yield made


def lines(session, **given):
    return list(session.lines("surface/features", POINT | given, b"", threading.Event()))


def test_curves_come_one_by_one_and_are_the_library_s(session, monkeypatch):
    """The worker's part is played here: a worker takes seconds to import."""
    asked = []

    def curve(item):
        asked.append(item)
        return [0.1 * n**-0.5 for n in item[3]], *2 * ([""] * len(item[3]),)

    monkeypatch.setattr(session.bench, "map", lambda _stop, _work, items: ((i, curve(i)) for i in items))
    first, one, two, end = lines(session, features="relu", D="300,3000", low="8", high="64")
    assert first["curves"] == 2
    assert end == {"end": "done"}
    assert [line["series"]["label"] for line in (one, two)] == ["relu, D = 300", "relu, D = 3,000"]
    assert asked[0][:3] == (sl.SparseInputs(alpha1=1.0, alpha2=0.3), "relu", "N")
    words = shlex.split(first["code"]["shell"])
    assert words[words.index("--features") + 1] == "relu"
    assert 'features="relu"' in first["code"]["python"]


@pytest.mark.slow
def test_a_worker_gives_what_predict_gives():
    model = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    losses, doubts, _ = one_curve((model, "relu", "N", [16, 32], 300))
    own = [sl.predict(model, N=n, D=300, features="relu") for n in (16, 32)]
    assert losses == [point.loss for point in own]
    assert doubts == [point.caution for point in own]


def test_every_activation_has_its_curve(session, monkeypatch):
    """abs is found at once; the others ask for theirs in the same way."""
    monkeypatch.setattr(session.bench, "map", lambda _stop, work, items: ((i, work(i)) for i in items))
    _, curve, end = lines(session, features="abs", D="200", low="4", high="20")
    assert end == {"end": "done"}
    assert all(y > 1.0 for y in curve["series"]["y"])
    asked = []
    monkeypatch.setattr(session.bench, "map", lambda _stop, _work, items: asked.append(items) or ())
    for name in ("relu", "leaky-relu", "gelu", "tanh", "erf", "sign"):
        assert lines(session, features=name, D="200", low="4", high="20")[-1] == {"end": "done"}
        assert asked[-1][0][1] == name


def test_a_gap_has_its_reason(session, monkeypatch):
    reasons = ["no number: there is none", *[""] * 8]
    found = [math.nan, *[1.0] * 8], ["both sizes matter", *[""] * 8], reasons
    monkeypatch.setattr(session.bench, "map", lambda _stop, _work, items: ((i, found) for i in items))
    _, curve, _ = lines(session, features="sign", D="200", low="4", high="20")
    assert curve["series"]["y"][0] is None
    assert curve["series"]["reason"] == reasons
    assert curve["notes"][0].startswith("gap: no number: there is none")


def test_momentum_that_still_swings_is_a_gap_with_its_reason(session):
    training = {"solver": "gd", "steps": "5000", "momentum": "0.9999"}
    found = session.values("surface", POINT | training | {"D": "500", "low": "8", "high": "40"})
    (curve, *_) = found["chart"]["series"]
    assert None in curve["y"]
    assert all(bool(y is None) == bool(words) for y, words in zip(curve["y"], curve["reason"], strict=True))
    assert any(note.startswith("gap: no number: momentum") for note in found["chart"]["notes"])


def test_a_refusal_of_a_worker_is_handed_back():
    assert isinstance(
        one_curve((sl.SparseInputs(alpha1=1.5, alpha2=-2.0), "relu", "N", [8], 30)), sl.InputError
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"features": "trained"}, "have no closed form"),
        ({"features": "magic"}, "features=magic"),
        ({"features": "relu", "along": "xi"}, "choose N or D"),
        ({"features": "relu", "ridge": "1"}, "has no closed form with nonlinear features"),
        ({"features": "relu", "solver": "sgd"}, "needs linear features"),
        ({"features": "relu", "alpha2": "-1.5"}, "have no theory"),
    ],
)
def test_what_has_no_curve_is_refused(session, given, words):
    (last,) = lines(session, **given)
    assert words in last["refused"]


def test_trials_of_the_features(session):
    sizes = {"sim_N": "4", "sim_D": "50", "seeds": "2", "features": "tanh"}
    found = session.values("surface/estimate", POINT | sizes)
    assert "--features tanh" in found["code"]["shell"]
    assert 'features="tanh"' in found["code"]["python"]


def test_features_on_the_page(watch, served, monkeypatch):
    """The server is in this process: its worker's part is played here."""

    def curve(item):
        return [float(n) ** -1.5 for n in item[3]], *2 * ([""] * len(item[3]),)

    monkeypatch.setattr(
        served.session.bench, "map", lambda _stop, _work, items: ((i, curve(i)) for i in items)
    )
    watched = watch(**DESK)
    page = watched.open("?view=surface&D=300&low=8&high=64&surface=leading&features=relu")
    page.wait_for_selector("[data-features=done]", state="attached")
    legend = page.inner_text(".legend")
    assert "relu, D = 300" in legend
    assert "linear, D = 300" in legend
    page.select_option("#menu-features", "tanh")
    page.wait_for_selector(".legend:has-text('tanh, D = 300')")
    page.select_option("#menu-features", "linear")
    page.wait_for_selector("[data-features=idle]", state="attached")
    watched.settled()
    assert "relu" not in page.inner_text(".legend")
