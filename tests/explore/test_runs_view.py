"""Your runs: tables good and bad, columns to choose, the fit and its draws, what follows, the report."""

import threading

import pytest

from conftest import check_sound
from sparselaw.explore.page_fits import LAW, sample_csv
from sparselaw.explore.session import Session
from sparselaw.fitting import fit

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
    assert "no law is fitted yet" in lines(session, "runs/report", {"upload": "x"})[0]["refused"]


def test_too_few_rows_are_refused(session):
    found = upload(session, FEW, "few.csv")
    said = lines(session, "runs/fit", {"upload": found["upload"], "file_name": "few.csv"})
    assert said[0]["used"] == 2
    assert said[-1]["end"] == "refused"
    assert "usable rows" in said[-1]["refused"]


def test_the_fit_comes_at_once_and_its_draws_after(session, monkeypatch):
    from sparselaw.explore.views import runs_view

    monkeypatch.setattr(runs_view, "DRAWS", (20, 40))
    parts = {name: lambda *_, name=name: {name: True} for name in ("_ahead", "_laws", "_sparsity")}
    for name, part in parts.items():
        monkeypatch.setattr(runs_view, name, part)
    given = {"upload": upload(session)["upload"], "file_name": "mine.csv"}
    said = lines(session, "runs/fit", given)
    assert said[0]["dropped"] == {"loss missing": 1}
    assert [line["draws"] for line in said if "draws" in line] == [0, 20, 40]
    assert said[1]["fit"]["params"]["alpha"]["low"] is None
    last = said[3]["fit"]["params"]["alpha"]
    assert last["low"] < LAW.alpha < last["high"]
    assert last["best"] == pytest.approx(said[1]["fit"]["params"]["alpha"]["best"], rel=1e-9)
    chart = said[1]["residuals"]["chart"]
    assert len(chart["series"][0]["x"]) == 48
    assert said[1]["residuals"]["code"]["shell"] == "sparselaw fit --law chinchilla mine.csv"
    budget = session.values("budget", {**given, "from": "runs", "budget": "1e21"})
    assert budget["plan"]["cost"] == "6nd"
    assert budget["plan"]["N"]["low"] < budget["plan"]["N"]["high"]


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


def test_what_follows_from_a_fit(tmp_path):
    from sparselaw.explore.views import runs_view

    path = tmp_path / "runs.csv"
    path.write_bytes(GOOD)
    found = fit(path, bootstrap=0)
    ahead = runs_view._ahead(None, found, None, None)
    assert ahead["budgets"][1] == pytest.approx(10 * ahead["budgets"][0])
    assert len(ahead["plans"]) == 2
    assert ahead["forecast"]["points"][0]["loss"]["low"] < ahead["forecast"]["points"][0]["loss"]["high"]


def test_good_and_bad_tables_on_the_page(watch, tmp_path, monkeypatch):
    from sparselaw.explore.views import runs_view

    def until_cancelled(call, *_):
        assert call.stop.wait(60)
        return {}

    monkeypatch.setattr(runs_view, "DRAWS", (20, 100))
    monkeypatch.setattr(runs_view, "_ahead", until_cancelled)
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
    assert "48 rows used" in page.inner_text("[aria-label='The table'] .notes")
    assert "1 row dropped: loss missing" in page.inner_text("[aria-label='The table'] .notes")
    page.wait_for_selector("[data-view=runs][data-draws='100']")
    assert "Intervals from 100 of 100 draws." in page.inner_text(".draws")
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("[data-view=runs][data-fit=cancelled]")
    assert page.get_by_role("button", name="Download the report").is_enabled()
    check_sound(page)
