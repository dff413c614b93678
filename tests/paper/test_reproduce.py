import json

import pytest

from sparselaw.cli import main
from sparselaw.errors import InputError
from sparselaw.interval import Interval
from sparselaw.paper import figure_1, registry, reproduce
from sparselaw.paper.item import Item, Quantity, Result
from sparselaw.paper.memory import remember
from sparselaw.paper.verdict import Printed


def item_with(best):
    """An item that measures ``best`` where the paper prints 2.0."""

    def make(context):
        value = context.remember("value", {"best": best}, lambda: best)
        return Result(
            quantities=[
                Quantity(
                    quantity="an exponent <with marks>",
                    printed=Printed(value=2.0, rounding=0.05),
                    measured=Interval(value - 0.1, value, value + 0.1),
                    theory=2.3,
                    why="made for a test",
                )
            ],
            rows=[{"N": 4, "D": 5, "loss": 0.1, "status": "ok"}],
            caption="A caption.",
            draw=lambda figure: figure.subplots().plot([1, 2], [1, 2]),
        )

    return Item(name="figure-5", title="Made for a test", make=make)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "out"


def run(folder, monkeypatch, best, **options):
    made = {"figure-5": item_with(best), "figure-1": figure_1.ITEM}
    monkeypatch.setattr(reproduce, "item", made.__getitem__)
    return reproduce.reproduce(["figure-5", "figure-1"], out=folder, **options)


def test_everything_is_written_and_the_summary_has_the_contract_keys(folder, monkeypatch):
    run(folder, monkeypatch, 2.05)
    for name in ("figure-1", "figure-5"):
        for ending in ("svg", "png", "csv"):
            assert (folder / f"{name}.{ending}").stat().st_size > 0
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["seconds"] > 0
    row = summary["items"][0]
    assert {"name", "quantity", "paper", "measured", "theory", "verdict"} <= set(row)
    assert row["measured"] == pytest.approx({"low": 1.95, "best": 2.05, "high": 2.15})
    assert row["verdict"] == "agrees"
    page = (folder / "report.html").read_text()
    assert "an exponent &lt;with marks&gt;" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "sparselaw reproduce figure-5" in page


def test_an_altered_value_changes_the_verdict_in_summary_and_page(folder, monkeypatch):
    run(folder, monkeypatch, 2.05)
    before = (folder / "report.html").read_text()
    run(folder, monkeypatch, 2.6)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["items"][0]["verdict"] == "differs"
    after = (folder / "report.html").read_text()
    assert 'class="verdict agrees"' in before
    assert 'class="verdict agrees"' not in after


def test_one_item_made_again_keeps_the_others(folder, monkeypatch):
    run(folder, monkeypatch, 2.05)
    reproduce.reproduce(["figure-1"], out=folder)
    page = (folder / "report.html").read_text()
    assert 'id="figure-5"' in page
    assert 'id="figure-1"' in page


def test_a_quick_run_says_so(folder, monkeypatch):
    run(folder, monkeypatch, 2.05, quick=True)
    assert "Quick run" in (folder / "report.html").read_text()
    assert "quick run" in (folder / "figure-5.svg").read_text()


def test_results_are_kept_and_taken_from_the_folder(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"x": [1.5, 2]}

    for _ in range(2):
        assert remember(tmp_path, "thing", {"a": 1}, compute) == {"x": [1.5, 2]}
    assert len(calls) == 1
    remember(tmp_path, "thing", {"a": 2}, compute)
    assert len(calls) == 2


def test_every_named_item_exists():
    for name in registry.NAMES:
        assert registry.item(name).name == name


def test_unknown_items_and_bad_folders_are_refused(tmp_path, capsys):
    with pytest.raises(InputError, match="names=figure-9"):
        reproduce.reproduce(["figure-9"], out=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="out="):
        reproduce.reproduce(["figure-1"], out=tmp_path / "file" / "below")
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "nothing", "--out", str(tmp_path)])
    assert stop.value.code == 2
    assert "names=nothing" in capsys.readouterr().err
