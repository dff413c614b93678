"""Measured inputs beside the views: a measurement dropped on the page is the library's table."""

import json
import shlex
import threading

import numpy as np
import pytest

import sparselaw as sl
from conftest import check_sound
from sparselaw.cli import main
from sparselaw.explore.session import Session

DESK = {"viewport": {"width": 1280, "height": 900}}
J = np.arange(1.0, 301.0)
TABLE = json.dumps({"probabilities": (0.9 * J**-1.8).tolist(), "amplitudes": (J**-1.2).tolist()})
DROP = """([zone, text]) => {
  const given = new DataTransfer();
  given.items.add(new File([text], "words.json", { type: "application/json" }));
  for (const name of ["dragover", "drop"]) {
    document.querySelector(zone).dispatchEvent(new DragEvent(name, { dataTransfer: given, bubbles: true }));
  }
}"""


@pytest.fixture(scope="module")
def session():
    with Session() as made:
        made.bench.workers = 1
        yield made


def dropped(session, body=TABLE, name="words.json"):
    return list(session.lines("inputs/measured", {"file_name": name}, body.encode(), threading.Event()))


def state(session, **further):
    kept, _ = dropped(session)
    return {"inputs": "measured", "table": kept["table"], "table_name": kept["name"]} | further


def test_a_measurement_is_kept_and_described(session):
    kept, end = dropped(session, name="C:\\data\\words.json")
    assert end == {"end": "done"}
    assert (kept["name"], kept["coordinates"]) == ("words.json", 300)
    assert kept["active"] == pytest.approx(float(np.sum(0.9 * J**-1.8)))


def test_curves_and_plans_of_a_measurement_come_again_by_its_code(session, tmp_path, monkeypatch, capsys):
    (tmp_path / "words.json").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    found = session.values("surface", state(session, D="200", low="4", high="20", surface="leading"))
    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(found["code"]["shell"])[1:], "--json"])
    assert ended.value.code == 0
    printed = {point["N"]: point["loss"] for point in json.loads(capsys.readouterr().out)["points"]}
    curve = found["chart"]["series"][0]
    assert printed == pytest.approx(dict(zip(curve["x"], curve["y"], strict=True)), rel=1e-9)
    space = {}
    exec(found["code"]["python"], space)
    assert space["found"]["loss"].tolist() == pytest.approx(curve["y"], rel=1e-9)
    plan = session.values("budget", state(session, budget="1e6", surface="leading"))
    assert plan["code"]["shell"].startswith("sparselaw plan --inputs words.json --surface leading")
    own = sl.plan(sl.TabulatedInputs.from_file("words.json"), budget=1e6, surface="leading")
    assert plan["plan"]["N"]["best"] == pytest.approx(own.N.best)


def test_views_that_need_a_power_law_say_so(session):
    for question in ("phase", "failure"):
        assert "power law" in session.values(question, state(session))["refused"]
    assert "power law" in session.values("surface", state(session, along="xi"))["refused"]
    frontier = session.values("budget/frontier", state(session, budget="1e6", surface="leading"))
    assert "no power law" in frontier["chart"]["notes"][0]
    (own,) = frontier["chart"]["series"]
    assert own["y"][0] > own["y"][-1] > 0.0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "is empty"),
        ("[1", "is no JSON"),
        ("5", "is no measurement"),
        ('{"probabilities": [2], "amplitudes": [1]}', "must lie above 0"),
        ('{"probabilities": [NaN], "amplitudes": [1]}', "must lie above 0"),
        ('{"table": {"count": [1], "energy": [1], "features": [1000000000000], "rows": 3}}', "give at most"),
        ('{"table": {"count": [1], "energy": [1], "features": [-1], "rows": 3}}', "is no measurement"),
    ],
)
def test_what_is_no_measurement_is_refused_without_a_path(session, body, words):
    (last,) = dropped(session, body)
    assert last["end"] == "refused"
    assert words in last["refused"]
    assert "/" not in last["refused"]


def test_no_path_is_opened(session):
    for key in ("../../etc/passwd", "/etc/passwd", "unknown"):
        given = {"inputs": "measured", "table": key, "table_name": "x"}
        assert "is no longer here" in session.values("surface", given)["refused"]
    assert "needs a measurement" in session.values("surface", {"inputs": "measured"})["refused"]


def test_a_measurement_dropped_on_the_page(watch):
    watched = watch(**DESK)
    page = watched.open("?view=surface&inputs=measured&D=200&low=4&high=30&surface=leading")
    assert "needs a measurement" in page.inner_text(".card[data-state=refused] .said")
    page.evaluate(DROP, ["[data-control=table]", "no JSON"])
    page.wait_for_selector("[data-control=table][data-state=refused]:has-text('is no JSON')")
    page.evaluate(DROP, ["[data-control=table]", TABLE])
    page.wait_for_selector("[data-control=table][data-state=done]:has-text('300 coordinates')")
    page.wait_for_selector(".card[data-drawn*='table_name=words.json'][data-state=done]")
    assert "D = 200" in page.inner_text(".legend")
    assert page.is_hidden("[data-control=alpha1]")
    assert "table" not in page.url
    check_sound(page)
    page.click("[data-control=inputs] label:has-text('sparse')")
    page.wait_for_selector(".card[data-drawn*='alpha1=1'][data-state=done]")
    assert page.is_visible("[data-control=alpha1]")
