"""Your runs: tables good and bad, columns to choose, the fit and its draws, what follows, the report."""

import json
import threading

import numpy as np
import pytest

import sparselaw as sl
from conftest import check_sound
from sparselaw.explore.call import Call
from sparselaw.explore.session import Session
from sparselaw.explore.views.runs_view import LAW, sample_csv

DESK = {"viewport": {"width": 1280, "height": 900}}
GOOD = sample_csv()
BAD = {
    "empty.csv": (b"", "is empty"),
    "words.csv": (b"hello\nworld\n", "no column for loss"),
    "broken.json": (b"{not json", "is not readable"),
    "picture.xlsx": (b"\x89PNG\r\n\x1a\n" + bytes(64), "is not readable"),
    "two.csv": (b"params,N_params,tokens,loss\n1e7,1e7,1e8,3\n1e8,1e8,1e9,2\n", "could each be N"),
}
FEW = b"N,D,loss\n1e7,1e8,3.0\n1e8,1e9,2.5\n"


@pytest.fixture(scope="module")
def session():
    with Session() as made:
        yield made


def lines(session, name, given, body=b""):
    return list(session.lines(name, given, body, threading.Event()))


def upload(session, body=GOOD, name="mine.csv"):
    first, end = lines(session, "runs/read", {"file_name": name}, body)
    assert end == {"end": "done"}
    return first


def test_a_table_is_read_and_shown(session):
    found = upload(session)
    assert found["rows"] == 49
    assert found["roles"] == {"N": "params", "D": "tokens", "loss": "val_loss"}
    assert found["preview"][0] == ["1e+07", "3e+07", "7.09804"]
    assert "choose" not in found


def test_two_candidates_must_be_chosen_from_menus(session):
    found = upload(session, BAD["two.csv"][0])
    assert "could each be N" in found["why"]
    assert found["choose"]["N"][:2] == ["params", "N_params"]
    again = session.values("runs/columns", {"upload": found["upload"], "col_N": "params"})
    assert "choose" not in again
    assert again["roles"]["N"] == "params"
    wrong = session.values("runs/columns", {"upload": found["upload"], "col_N": "no such"})
    assert "is not in the table" in wrong["why"]


@pytest.mark.parametrize("name", ["empty.csv", "broken.json", "picture.xlsx"])
def test_what_cannot_be_read_is_refused_by_the_person_s_name(session, name):
    (end,) = lines(session, "runs/read", {"file_name": f"../../{name}"}, BAD[name][0])
    assert end["end"] == "refused"
    assert BAD[name][1] in end["refused"]
    assert name in end["refused"]
    assert "sparselaw-explore" not in end["refused"]


def test_a_key_of_nobody_is_refused(session):
    (end,) = lines(session, "runs/fit", {"upload": "../../etc/passwd"})
    assert "drop the file again" in end["refused"]
    assert "drop the file again" in lines(session, "runs/report", {"upload": "x"})[0]["refused"]
    assert "no table is here yet" in session.values("budget", {"from": "runs"})["refused"]


def test_too_few_rows_are_refused(session):
    found = upload(session, FEW, "few.csv")
    said = lines(session, "runs/fit", {"upload": found["upload"], "file_name": "few.csv"})
    assert said[0]["used"] == 2
    assert said[-1]["end"] == "refused"
    assert "usable rows" in said[-1]["refused"]


def test_the_fit_comes_at_once_and_its_draws_after(session, monkeypatch):
    from sparselaw.explore.views import runs_view

    monkeypatch.setattr(runs_view, "DRAWS", (20, 40))
    for name in ("_ahead", "_laws", "_sparsity"):
        monkeypatch.setattr(runs_view, name, lambda *_, name=name: {name: True})
    given = {"upload": upload(session)["upload"], "file_name": "mine.csv"}
    said = lines(session, "runs/fit", given)
    assert said[0]["dropped"] == {"loss missing": 1}
    assert [line["draws"] for line in said if "draws" in line] == [0, 20, 40]
    assert said[1]["fit"]["params"]["alpha"]["low"] is None
    last = [line["fit"] for line in said if "fit" in line][-1]["params"]["alpha"]
    assert last["low"] < LAW.alpha < last["high"]
    assert last["best"] == pytest.approx(said[1]["fit"]["params"]["alpha"]["best"], rel=1e-9)
    for name in ("picture", "residuals"):
        (runs,) = [one for one in said[1]["charts"][name]["series"] if one["kind"] == "points"]
        assert len(runs["x"]) == 48
    assert "valleys" not in said[1]["charts"]  # the runs of the sample have no budgets
    assert said[1]["code"]["shell"] == "sparselaw fit --law chinchilla mine.csv"


def test_the_budget_of_runs_is_the_library_s_plan_with_its_intervals(session, tmp_path):
    given = {"upload": upload(session)["upload"], "file_name": "mine.csv", "from": "runs"}
    found = session.values("budget", {**given, "budget": "1e21"})
    path = tmp_path / "mine.csv"
    path.write_bytes(GOOD)
    own = sl.plan(path, budget=1e21, cost="6nd")
    assert found["plan"] == json.loads(json.dumps(own.as_dict(), allow_nan=False))
    assert [mark["at"] for mark in found["chart"]["marks"]] == [own.N.low, own.N.high]
    assert found["code"]["shell"] == "sparselaw plan --budget 1e+21 --cost 6nd mine.csv"
    assert found["code"]["python"].endswith("sl.plan('mine.csv', budget=1e+21, cost=\"6nd\")")
    usual = session.values("budget", given)["plan"]["budget"]
    assert usual == pytest.approx(10 * 6 * 3e9 * 160 * 3e9)


def test_budgets_of_a_table_are_drawn_as_valleys(session):
    rows = [
        (N, C / (6 * N)) for C in (1e19, 1e20, 1e21) for N in np.geomspace(1e8, 3e9, 6) * (C / 1e20) ** 0.5
    ]
    table = "N,D,loss\n" + "".join(f"{N},{D},{LAW.loss(N, D)}\n" for N, D in rows)
    found = upload(session, table.encode())
    said = session.lines("runs/fit", {"upload": found["upload"]}, b"", threading.Event())
    charts = next(line["charts"] for line in said if "charts" in line)
    curves = [one for one in charts["valleys"]["series"] if one["kind"] == "line"]
    runs = [one for one in charts["valleys"]["series"] if one["kind"] == "points"]
    assert [one["label"] for one in curves] == [f"C = 1.0×10^{{{power}}}" for power in (19, 20, 21)]
    assert [len(one["x"]) for one in runs] == [6, 6, 6]
    for curve, points in zip(curves, runs, strict=True):
        law = np.interp(np.log(points["x"]), np.log(curve["x"]), curve["y"])
        assert law == pytest.approx(points["y"], rel=2e-3)


def test_laws_side_by_side_and_the_sparsity_are_the_library_s(session, tmp_path, monkeypatch):
    from sparselaw.explore.views import runs_view

    monkeypatch.setattr(runs_view, "DRAWS", (20,))
    call = Call(given={"upload": upload(session)["upload"]}, session=session)
    path = tmp_path / "runs.csv"
    path.write_bytes(GOOD)
    laws = runs_view._laws(call)["laws"]
    own = sl.compare_laws(path).laws
    assert [one["law"] for one in laws] == [one.fitted.name for one in own]
    errors = [one.out_of_sample_error for one in own]
    assert [one["out_of_sample_error"] for one in laws] == pytest.approx(errors, rel=1e-9)
    found = runs_view._sparsity(call)
    assert {one["law"] for one in found["sparsity"]} == {"chinchilla", "coupled"}
    assert found["words"]


@pytest.mark.slow
def test_everything_to_the_report(session):
    given = {"upload": upload(session)["upload"], "file_name": "mine.csv"}
    said = lines(session, "runs/fit", given)
    keys = {key for line in said for key in line}
    assert {"forecast", "plans", "laws", "sparsity"} <= keys
    assert said[-1] == {"end": "done"}
    (page, end) = lines(session, "runs/report", given)
    assert page["html"].startswith("<!doctype html>")
    assert "sparselaw fit --law chinchilla mine.csv" in page["html"]
    assert end == {"end": "done"}


def test_what_follows_from_a_fit_is_what_python_gives(session, tmp_path):
    from sparselaw.explore.views import runs_view

    call = Call(given={"upload": upload(session)["upload"]}, session=session)
    found = runs_view.fit_of(call)
    ahead = runs_view._ahead(call, found)
    path = tmp_path / "runs.csv"
    path.write_bytes(GOOD)
    for budget, point, plan in zip(
        ahead["budgets"], ahead["forecast"]["points"], ahead["plans"], strict=True
    ):
        own = sl.forecast(path, budget=budget).points[0]
        assert point["loss"] == pytest.approx(own.loss.as_dict(), rel=1e-9)
        assert plan["N"] == pytest.approx(sl.plan(path, budget=budget).N.as_dict(), rel=1e-9)
    band = ahead["charts"]["picture"]["series"][0]
    assert band["label"].startswith("forecast")
    assert all(
        low < best < high for low, best, high in zip(band["low"], band["y"], band["high"], strict=True)
    )
    assert band["x"][-1] == pytest.approx(ahead["budgets"][-1])


def test_good_and_bad_tables_on_the_page(watch, tmp_path, monkeypatch):
    from sparselaw.explore.views import runs_view

    def until_cancelled(call, *_):
        assert call.stop.wait(60)
        return {}

    monkeypatch.setattr(runs_view, "DRAWS", (20, 100))
    monkeypatch.setattr(runs_view, "_laws", until_cancelled)
    watched = watch(**DESK)
    page = watched.page
    page.goto(f"{watched._url}?view=runs")
    for name, (content, words) in BAD.items():
        file = tmp_path / name
        file.write_bytes(content)
        page.set_input_files("#runs-file", file)
        page.wait_for_selector(
            f"[data-view=runs]:is([data-state=refused], [data-state=choose]) > .said:has-text('{words}')"
        )
    page.select_option("#column-N", "params")
    page.wait_for_selector("[data-view=runs][data-fit=refused] > .said:has-text('usable rows')")
    good = tmp_path / "good.csv"
    good.write_bytes(GOOD)
    page.set_input_files("#runs-file", good)
    page.wait_for_selector("[data-view=runs][data-draws]")
    assert "48 rows used, 1 row dropped: loss missing" in page.inner_text("[data-view=runs] .about")
    assert page.locator(".controls").is_hidden()
    first = page.locator("[data-view=runs] .results > .card:visible").first
    assert first.get_attribute("aria-label") == "The runs, the law and the forecast"
    page.wait_for_selector("[data-view=runs][data-draws='100']")
    assert "Intervals from 100 of 100 draws." in page.inner_text(".draws")
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("[data-view=runs][data-fit=cancelled]")
    assert page.get_by_role("button", name="Download the report").is_enabled()
    check_sound(page)
