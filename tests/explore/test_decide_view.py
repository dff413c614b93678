"""Next runs and two recipes: what the page shows is what Python gives; every run of a chart is drawn."""

import json
import threading

import numpy as np
import pytest

import sparselaw as sl
from conftest import check_sound
from sparselaw.explore.session import Session
from sparselaw.explore.views.runs_view import LAW, SAMPLES, sample_csv

DESK = {"viewport": {"width": 1280, "height": 900}}
COUNT = """
  window.arcs = [];
  const arc = CanvasRenderingContext2D.prototype.arc;
  CanvasRenderingContext2D.prototype.arc = function (x, y, ...rest) {
    window.arcs.push([this.canvas, x, y]);
    return arc.call(this, x, y, ...rest);
  };
"""
DRAWN = """(label) => {
  const canvas = document.querySelector(`[aria-label="${label}"] canvas`);
  const places = arcs.filter((one) => one[0] === canvas).map(([, x, y]) => x.toFixed(3) + "," + y.toFixed(3));
  return new Set(places).size;
}"""


@pytest.fixture(scope="module")
def session():
    with Session() as made:
        yield made


def upload(session, sample):
    found, end = session.lines("runs/read", {"sample": sample}, b"", threading.Event())
    assert end == {"end": "done"}
    return found


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    paths = []
    for name, law, seed in SAMPLES.values():
        paths.append(folder / name)
        paths[-1].write_bytes(sample_csv(law, seed))
    return paths


def plain(result):
    return json.loads(json.dumps(result.as_dict(), allow_nan=False))


def test_next_runs_are_those_of_python_and_lie_among_the_budgets(session, tables):
    given = {"upload": upload(session, "1")["upload"], "file_name": "sample.csv"}
    found = session.values(
        "runs/next", given | {"next_budget": "1e23", "next_spend": "1e22", "next_runs": "2"}
    )
    own = sl.next_runs(tables[0], budget=1e23, spend=1e22, most=2)
    assert found["next"] == plain(own)
    assert found["code"]["shell"] == "sparselaw next --budget 1e+23 --spend 1e+22 --runs 2 sample.csv"
    usual = session.values("runs/next", given | {"next_budget": "1e23"})
    assert usual["next"] == plain(sl.next_runs(tables[0], budget=1e23, most=4))
    assert usual["code"]["shell"] == "sparselaw next --budget 1e+23 --runs 4 sample.csv"
    *_, runs, target = found["chart"]["series"]
    assert runs["x"] == [run.N for run in own.runs]
    expected = sl.forecast(tables[0], at=[(run.N, run.D) for run in own.runs]).points
    assert runs["y"] == pytest.approx([point.loss.best for point in expected], rel=1e-9)
    assert target["x"] == [own.targets[0][0]]


def test_two_tables_are_compared_as_python_does(session, tables):
    one, other = upload(session, "1"), upload(session, "2")
    given = {
        "upload_a": one["upload"],
        "name_a": "sample.csv",
        "upload_b": other["upload"],
        "name_b": "other.csv",
    }
    found = session.values("runs/compare", given | {"compare_budget": "1e22"})
    own = sl.compare(*tables, budget=1e22)
    assert found["compared"] == plain(own)
    assert found["code"]["shell"] == "sparselaw compare sample.csv other.csv --budget 1e+22"
    bands = [one for one in found["charts"]["frontiers"]["series"] if one["kind"] == "line"]
    assert [one["label"] for one in bands] == ["sample, 95 %", "other, 95 %"]
    for band, side in zip(bands, "AB", strict=True):
        assert band["low"] == own.contests[0].curve[side][0].tolist()
    (curve, _) = found["charts"]["multiplier"]["series"]
    assert all(
        low <= best <= high for low, best, high in zip(curve["low"], curve["y"], curve["high"], strict=True)
    )


def test_what_cannot_be_compared_is_refused_in_a_line(session):
    one, again = upload(session, "1"), upload(session, "1")
    assert "no table is here yet" in session.values("runs/compare", {"upload_a": one["upload"]})["refused"]
    both = {"upload_a": one["upload"], "upload_b": again["upload"]}
    assert "same runs" in session.values("runs/compare", both)["refused"]
    low = session.values("runs/next", {"upload": one["upload"], "next_spend": "1"})
    assert "refused" in low


def test_every_run_is_drawn_also_where_runs_share_their_compute(watch, tmp_path, monkeypatch):
    """Three budgets of six runs each: a chart that keeps one point for each compute draws three."""
    from sparselaw.explore.views import runs_view

    monkeypatch.setattr(runs_view, "DRAWS", (20,))
    for name in ("_ahead", "_laws", "_sparsity"):
        monkeypatch.setattr(runs_view, name, lambda *_, **__: {})
    rng = np.random.default_rng(0)
    sizes = [(N, C / (6 * N)) for C in (1e19, 1e20, 1e21) for N in np.geomspace(1e8, 3e9, 6)]
    rows = [f"{N:.17g},{D:.17g},{LAW.loss(N, D) * np.exp(0.01 * rng.standard_normal())}" for N, D in sizes]
    file = tmp_path / "isoflop.csv"
    file.write_text("\n".join(["N,D,loss", *rows]), encoding="ascii")
    watched = watch(**DESK)
    page = watched.page
    page.add_init_script(COUNT)
    page.goto(f"{watched._url}?view=runs")
    page.set_input_files("#runs-file", file)
    page.wait_for_selector("[data-view=runs][data-fit=done]")
    for chart in ("Residuals", "The runs, the law and the forecast", "Loss along each budget"):
        assert page.evaluate(DRAWN, chart) == 18, chart


def test_the_tabs_on_the_page(watch, tmp_path, monkeypatch):
    from sparselaw.explore.views import runs_view

    monkeypatch.setattr(runs_view, "DRAWS", (20,))
    for name in ("_ahead", "_laws", "_sparsity"):
        monkeypatch.setattr(runs_view, name, lambda *_, **__: {})
    watched = watch(**DESK)
    page = watched.page
    page.goto(f"{watched._url}?view=runs&runs_tab=next")
    page.get_by_role("button", name="Use the sample table").click()
    page.wait_for_selector("[aria-label='Runs to make next'] td:has-text('B')")
    check_sound(page)
    page.get_by_role("radio", name="two recipes").check(force=True)
    bad = tmp_path / "bad.csv"
    bad.write_text("", encoding="ascii")
    page.set_input_files("#compare-a", bad)
    page.wait_for_selector(".said:has-text('bad.csv: is empty')")
    page.get_by_role("button", name="Use two sample tables").click()
    page.wait_for_selector("[aria-label='Which is better'] td:has-text('to')")
    assert "other is" in page.inner_text("[aria-label='Which is better'] .story")
    check_sound(page)
