"""README and docs quote figures as the files of ``docs/results`` have them, so that no two pages disagree."""

import json
import re
import sys
from pathlib import Path

import pytest

from sparselaw.experiments.paper.claims import CLAIMS

DOCS = Path(__file__).parent.parent / "docs"
sys.path.insert(0, str(DOCS))
import kept_tables  # noqa: E402
import quote_results as quote  # noqa: E402

RESULTS = json.loads(quote.RESULTS.read_text("utf-8"))
FIGURE = re.compile(r"[-+(]?\d[^a-z]*(%|s|ms|GiB|e-?\d+)?|")  # a cell that is a number, or empty
# Tables of figures without marks, by their head: tests/test_measured_tables.py holds those of findings.md.
HELD_ELSEWHERE = ("| N | layers | loss |", "| (1, 0.3) | N slope", "| (1.5, 0.3) | N slope")


@pytest.mark.parametrize("page", quote.PAGES, ids=lambda page: page.stem)
def test_a_page_quotes_what_the_results_say(page):
    """`python docs/quote_results.py` mends a page that fails here."""
    text = page.read_text("utf-8")
    assert quote.filled(text, RESULTS) == text
    marks = text.count("<!--") - 2 * len(quote.TABLE.findall(text))
    assert marks == len(quote.NUMBER.findall(text)), "a mark that no number stands before"


@pytest.mark.parametrize("name", ["README.md", "docs/findings.md"])
def test_no_number_of_the_reproduction_stands_there_without_a_mark(name):
    text = quote.TABLE.sub("", (DOCS.parent / name).read_text("utf-8"))
    known = {quote.quoted(key, None, RESULTS) for key in RESULTS["rows"]}
    loose = [found for found in re.findall(r"-?[\d.]+ \[[^\[\]]*\](?!<!--)", text) if found in known]
    assert not loose


def bare_tables(text):
    """Head and cells of the Markdown tables that no command writes."""
    found = []
    for block in re.split(r"\n(?!\|)", quote.TABLE.sub("", text)):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        if len(lines) > 2 and kept_tables.RULE.fullmatch(lines[1]):
            ((_, rows),) = kept_tables.printed_tables("\n".join(lines))
            found.append((lines[0], [cell for row in rows for cell in row[1:]]))
    return found


@pytest.mark.parametrize("page", quote.PAGES, ids=lambda page: page.stem)
def test_every_table_of_figures_is_written_by_a_command(page):
    for head, cells in bare_tables(page.read_text("utf-8")):
        figures = sum(FIGURE.fullmatch(cell) is not None for cell in cells)
        assert figures < 0.4 * len(cells) or head.startswith(HELD_ELSEWHERE), head


def test_a_table_of_figures_typed_by_hand_is_noticed():
    typed = "Times:\n\n| what | s |\n|---|---|\n| a | 1.5 |\n| b | 2 ms |\n\nEnd.\n"
    ((head, cells),) = bare_tables(typed)
    assert head == "| what | s |"
    assert [FIGURE.fullmatch(cell) is not None for cell in cells] == [True, True]
    assert bare_tables(f"<!--table x-->\n{typed[8:48]}\n<!--end-->\n") == []


def test_every_kept_table_is_shown_or_quoted():
    pages = "".join(page.read_text("utf-8") for page in quote.PAGES)
    for file in kept_tables.KEPT.glob("*.csv"):
        assert f"<!--table {file.stem}-->" in pages, file.name


def test_printed_tables_are_kept_cell_by_cell(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_tables, "KEPT", tmp_path)
    printed = "warm-up\n| a | b |\n|---|---|\n| 1 | x \\| y |\nsays\n| 2 |  |\n\n| c |\n|---|\n| 3 |\n"
    kept_tables.keep(["one", "two"], printed)
    assert kept_tables.kept("one") == (["a", "b"], [["1", r"x \| y"], ["2", ""]])
    assert kept_tables.kept("two") == (["c"], [["3"]])
    assert kept_tables.markdown(kept_tables.kept("one")).splitlines()[2] == r"| 1 | x \| y |"
    kept_tables.keep(["one"], ".| 7 | 8 |\n.| 9 | 10 |\n2 passed\n")  # rows of slow tests have no head
    assert kept_tables.kept("one") == (["a", "b"], [["7", "8"], ["9", "10"]])
    for names, text in ((["one"], printed), (["one"], "nothing"), (["one"], "| 1 | 2 | 3 |\n")):
        with pytest.raises(SystemExit, match="nothing is kept"):
            kept_tables.keep(names, text)
    assert kept_tables.kept("one")[1] == [["7", "8"], ["9", "10"]]


def test_times_of_a_reproduction_are_summed_by_what_they_belong_to():
    names = {"figure-1": 10.0, "table-4": 20.0, "checks": 5.0, "beyond-passes": 7.0}
    times = {name: {"seconds": clock, "processor_seconds": 2.0 * clock} for name, clock in names.items()}
    rows = {row[0]: row[1:] for row in quote.spent_times({"times": times, "seconds": 44.0})}
    assert rows["figures and tables of the paper"] == ["30", "60"]
    assert rows["the same with the checks"] == ["35", "70"]
    assert rows["the whole"] == ["44", "84"]


def test_a_wrong_number_and_a_wrong_mark_are_noticed():
    key = "figure-5/exponent-of-the-sparse"
    right = quote.filled(f"It is 9 [8, 10]<!--{key}--> here.", RESULTS)
    assert right == f"It is {quote.quoted(key, None, RESULTS)}<!--{key}--> here."
    assert quote.filled(right, RESULTS) == right
    altered = json.loads(json.dumps(RESULTS))
    for row in altered["rows"].values():
        row["measured"]["best"] += 1.0
    assert quote.filled(right, altered) != right
    with pytest.raises(KeyError, match="beginning of 0 rows"):
        quote.filled("1<!--figure-9/nothing-->", RESULTS)
    with pytest.raises(KeyError, match="rows: table-4"):
        quote.filled("1<!--table-4/p-diverge-->", RESULTS)
    assert quote.filled("1 %<!--forecast-summary/by-case-->", RESULTS).startswith("98 %<!--")
    with pytest.raises(KeyError, match="beginning of 2 rows"):
        quote.filled("1<!--forecast-summary/l-->", RESULTS)
    with pytest.raises(KeyError, match="seconds of 0 columns"):
        quote.filled("1<!--reproduction-times/table-4 seconds-->", RESULTS)


def test_the_results_are_those_of_a_full_reproduction():
    assert len(RESULTS["claims"]) == len(CLAIMS)
    assert all(claim["verdict"] in {"holds", "touches", "does not hold"} for claim in RESULTS["claims"])
    assert all(claim["measured"] is not None for claim in RESULTS["claims"])
    quick = {"claims": [], "items": [], "times": {"figure-1": {"quick": True}}}
    assert "pages quote full runs" in quote.refused(quick, "folder")
    partial = quick | {"claims": [{"item": "figure-6", "measured": None}]}
    assert "no number of figure-6" in quote.refused(partial, "folder")
