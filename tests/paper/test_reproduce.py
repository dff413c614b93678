import json
import re
import shutil

import pytest

from sparselaw.cli import main
from sparselaw.errors import InputError
from sparselaw.experiments.paper import reproduce
from sparselaw.experiments.paper.item import NAMES, Item, Printed, Quantity, Result, item
from sparselaw.experiments.paper.reproduce import load_items
from sparselaw.interval import Interval


def item_with(best):
    """An item that measures ``best`` where the paper prints 2.0."""

    def make(context):
        (value,) = context.remember("value", float, [best])
        return Result(
            quantities=[
                Quantity(
                    "an exponent <with marks>",
                    Interval(value - 0.1, value, value + 0.1),
                    Printed(2.0, 0.05),
                    2.3,
                    "made for a test",
                )
            ],
            rows=[{"N": 4, "D": 5, "loss": 0.1, "status": "ok"}],
            caption="A caption.",
            draw=lambda figure: figure.subplots().plot([1, 2], [1, 2]),
        )

    return Item("figure-5", "Made for a test", make)


MADE = {"figure-5": item_with(2.05), "figure-1": item("figure-1")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that has ended, and its folder."""
    folder = tmp_path_factory.mktemp("finished") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduce, "item", MADE.__getitem__)
        return reproduce.reproduce(list(MADE), out=folder), folder


@pytest.fixture
def folder(finished, tmp_path, monkeypatch):
    """A copy of that folder, to go on with."""
    monkeypatch.setattr(reproduce, "item", MADE.__getitem__)
    return shutil.copytree(finished[1], tmp_path / "out")


def measure_again(folder, monkeypatch, best, **options):
    monkeypatch.setattr(reproduce, "item", {"figure-5": item_with(best)}.__getitem__)
    return reproduce.reproduce(["figure-5"], out=folder, **options)


def test_everything_is_written_and_the_summary_has_the_contract_keys(folder):
    for name in ("figure-1", "figure-5"):
        for ending in ("svg", "png", "csv"):
            assert (folder / f"{name}.{ending}").stat().st_size > 0
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["seconds"] > 0
    row = summary["items"][-1]
    assert {"name", "quantity", "paper", "measured", "theory", "verdict"} <= set(row)
    assert row["measured"] == pytest.approx({"low": 1.95, "best": 2.05, "high": 2.15})
    assert row["verdict"] == "agrees"
    page = (folder / "report.html").read_text()
    assert "an exponent &lt;with marks&gt;" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "sparselaw reproduce figure-5" in page


def test_an_altered_value_changes_the_verdict_in_summary_and_page(folder, monkeypatch):
    before = (folder / "report.html").read_text()
    measure_again(folder, monkeypatch, 2.6)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["items"][-1]["verdict"] == "differs"
    after = (folder / "report.html").read_text()
    assert 'class="verdict agrees"' in before
    assert 'class="verdict agrees"' not in after


def test_a_quick_run_says_so(tmp_path, monkeypatch):
    measure_again(tmp_path, monkeypatch, 2.05, quick=True)
    assert "Quick run" in (tmp_path / "report.html").read_text()
    assert "quick run" in (tmp_path / "figure-5.svg").read_text()


def test_summary_and_report_list_the_same_items(folder):
    """Also those made before, and those that are a picture with no number."""
    for name in ("figure-1", "figure-5"):
        again = reproduce.reproduce([name], out=folder)
        summary = json.loads((folder / "summary.json").read_text())
        assert [row["name"] for row in summary["items"]] == ["figure-1", "figure-5"]
        assert again.as_dict() == summary
        page = (folder / "report.html").read_text()
        assert re.findall('<section id="(.*?)"', page) == ["figure-1", "figure-5"]
    picture = summary["items"][0]
    assert (picture["measured"], picture["verdict"]) == (None, "not comparable")
    assert {"quantity", "paper", "theory", "measured_reason", "paper_reason"} <= set(picture)


def test_an_item_that_cannot_be_read_is_left_out_and_named(folder, capsys):
    kept = folder / "kept" / "figure-5.json"
    whole = kept.read_text()
    no_verdict = whole.replace('"verdict"', '"word"')
    for content in ("", whole[:-9], "[]", "{}", '{"title": "x"}', "\x00", no_verdict):
        kept.write_text(content)
        made, lost = load_items(folder)
        assert (list(made), lost) == (["figure-1"], ["figure-5"])
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "figure-1", "--out", str(folder), "--json"])
    assert stop.value.code == 0
    out, err = capsys.readouterr()
    assert [row["name"] for row in json.loads(out)["items"]] == ["figure-1"]
    assert "figure-5 cannot be read" in err
    found = reproduce.reproduce(["figure-5"], out=folder)
    assert found.lost == ()
    assert [row["name"] for row in found.items] == ["figure-1", "figure-5"]
    (folder / "figure-1.svg").unlink()
    assert load_items(folder)[1] == ["figure-1"]


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (["title"], 3),
        (["caption"], "\ud800"),
        (["seconds"], float("nan")),
        (["seconds"], 10**400),
        (["quantities"], {}),
        (["quantities", 0, "measured", "low"], "1"),
        (["tables"], [{"title": "a", "columns": ["b"], "rows": [[3]]}]),
    ],
)
def test_a_kept_item_with_a_value_of_another_type_cannot_be_read(folder, place, wrong):
    kept = folder / "kept" / "figure-5.json"
    content = json.loads(kept.read_text())
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = wrong
    kept.write_text(json.dumps(content))
    made, lost = load_items(folder)
    assert (list(made), lost) == (["figure-1"], ["figure-5"])


@pytest.mark.parametrize("quick", [[], ["--quick"]])
def test_the_remedy_for_an_item_that_cannot_be_read_is_the_command_for_it(folder, capsys, quick):
    (folder / "kept" / "figure-5.json").write_text('{"title": "a", "seconds": "x"}')
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "figure-1", "--out", str(folder), "--quiet", *quick])
    assert stop.value.code == 0
    command = " ".join(["sparselaw reproduce figure-5 --out", str(folder), *quick])
    assert capsys.readouterr().err == (
        f"sparselaw: figure-5 cannot be read and is left out: run '{command}' again\n"
    )


def test_a_kept_value_that_cannot_be_read_is_computed_again(finished, folder, monkeypatch):
    (kept,) = (folder / "kept").glob("value-*.json")
    whole = kept.read_text()
    kept.write_text("{")
    assert measure_again(folder, monkeypatch, 2.05).items == finished[0].items
    assert kept.read_text() == whole


@pytest.mark.parametrize("content", [b"of something else", b"SQLite format 3\0", bytes(200)])
def test_a_store_that_cannot_be_used_asks_for_another_folder(folder, capsys, content):
    (folder / "runs.sqlite").write_bytes(content)
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "figure-1", "--out", str(folder)])
    out, err = capsys.readouterr()
    assert (stop.value.code, out) == (2, "")
    assert err.startswith(f"sparselaw: error: store={folder / 'runs.sqlite'}: is ")
    assert err.endswith("name another folder with --out\n")


def test_more_workers_than_the_system_has_files_for(folder, monkeypatch):
    monkeypatch.setattr("sparselaw.sweeps.executors.MOST_WORKERS", 200)  # 2,256 files, where 1,024 are usual
    assert reproduce.reproduce(["figure-1"], out=folder, workers=1_000_000).lost == ()


@pytest.mark.parametrize("workers", [0, -1, 1.5])
def test_a_number_of_workers_that_is_none(folder, workers):
    with pytest.raises(InputError, match="workers"):
        reproduce.reproduce(["figure-1"], out=folder, workers=workers)


def test_no_half_written_file_is_left(folder, monkeypatch):
    def torn(*_):
        raise OSError("no space left")

    before = {path.name: path.read_bytes() for path in (folder / "kept").iterdir()}
    monkeypatch.setattr("os.replace", torn)
    with pytest.raises(OSError, match="no space"):
        measure_again(folder, monkeypatch, 2.6)
    assert {path.name: path.read_bytes() for path in (folder / "kept").iterdir()} == before


def test_the_summary_as_a_table(finished):
    found, _ = finished
    frame = found.to_frame()
    assert frame["name"].tolist() == ["figure-1", "figure-5"]
    assert frame["measured_best"].tolist()[1] == pytest.approx(2.05)
    shown = found._repr_html_()
    assert "an exponent &lt;with marks&gt;" in shown
    assert "2.05 [1.95, 2.15]" in shown


def test_every_named_item_exists():
    for name in NAMES:
        assert item(name).name == name


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
