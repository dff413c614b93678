"""Loss curves on the page: a log is read, its end follows the schedule, bad logs are refused in one line."""

import io
import threading

import pandas as pd
import pytest

from conftest import check_sound
from sparselaw.curves import fit_curves
from sparselaw.explore.session import Session
from sparselaw.explore.views.curves_view import sample_csv

DESK = {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture(scope="module")
def session():
    with Session() as made:
        yield made


def lines(session, given, body=b""):
    return list(session.lines("curves/read", given, body, threading.Event()))


@pytest.fixture(scope="module")
def log(session):
    found, end = lines(session, {"sample": "1"})
    assert end == {"end": "done"}
    return found


def test_a_log_is_read(log):
    assert [c["run"] for c in log["curves"]] == ["constant", "cosine"]
    assert log["steps"] == 20_000
    assert log["status"] == "ok"


def test_the_code_is_for_the_size_that_is_shown(session, tmp_path):
    """The last run's; it need not be the smallest one."""
    one = pd.read_csv(io.BytesIO(sample_csv()))
    small = one.assign(run="small " + one["run"], loss=one["loss"] + 0.3, N=2e7)
    file = tmp_path / "sizes.csv"
    pd.concat([small, one.assign(N=8e7)]).to_csv(file, index=False)
    read, _ = lines(session, {"file_name": "sizes.csv"}, file.read_bytes())
    found = session.values("curves/end", {"upload": read["upload"], "file_name": "sizes.csv"})
    assert f'print(found.predict("{found["schedule"]}", N=80000000))' in found["code"]["python"]
    assert found["code"]["shell"].endswith(" -N 80000000")
    assert found["final"] == fit_curves(file).predict(found["schedule"], N=8e7).as_dict()


def test_the_end_is_that_of_the_library_and_moves_with_the_schedule(session, log, tmp_path):
    file = tmp_path / "sample.csv"
    file.write_bytes(sample_csv())
    given = {"upload": log["upload"], "file_name": "sample.csv"}
    short, long = (session.values("curves/end", {**given, "curve_decay": d}) for d in ("0.05", "0.5"))
    assert short["schedule"] == "wsd:19000,20000,end=3e-05"
    assert short["final"] == fit_curves(file).predict(short["schedule"]).as_dict()
    assert short["final"]["best"] != long["final"]["best"]
    names = [s["label"] for s in short["chart"]["series"]]
    assert names[:2] == ["constant", "cosine"]
    assert f"{short['schedule']}, 95 %" in names
    assert "curve sample.csv --schedule wsd:19000" in short["code"]["shell"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"curve_decay": "0"}, "must be positive"),
        ({"curve_end": "-1"}, "must not be negative"),
        ({"curve_steps": "x"}, "is not a number"),
        ({"upload": "gone"}, "is no longer here"),
    ],
)
def test_what_cannot_be_is_refused(session, log, given, words):
    found = session.values("curves/end", {"upload": log["upload"], "file_name": "a.csv", **given})
    assert words in found["refused"]


def test_a_log_without_rates_is_refused(session):
    (end,) = lines(session, {"file_name": "mine.csv"}, b"step,loss\n1,3.0\n2,2.9\n")
    assert "without the schedule nothing can be said" in str(end)


def test_on_the_page(watch):
    watched = watch(**DESK)
    page = watched.page
    page.goto(f"{watched._url}?view=curves")
    page.get_by_role("button", name="Use the sample log").click()
    page.wait_for_selector("[data-view=curves][data-state=done] p.lead:has-text('wsd:16000,20000')")
    before = page.inner_text("[data-view=curves] p.lead >> nth=0")
    page.locator("[data-control=curve_decay] input[type=range]").fill("0.6")
    page.wait_for_selector("[data-view=curves] p.lead:has-text('wsd:8000,20000')")
    assert page.inner_text("[data-view=curves] p.lead >> nth=0") != before
    check_sound(page)
