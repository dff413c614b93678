"""README and docs quote the reproduction as the one results file has it, so that no two pages disagree."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
SPEC = importlib.util.spec_from_file_location("quote_results", DOCS / "quote_results.py")
quote = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(quote)
RESULTS = json.loads(quote.RESULTS.read_text("utf-8"))


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


def test_the_results_are_those_of_a_full_reproduction():
    assert len(RESULTS["claims"]) == 10
    assert all(claim["verdict"] in {"holds", "does not hold"} for claim in RESULTS["claims"])
    assert all(claim["measured"] is not None for claim in RESULTS["claims"])
    quick = {"claims": [], "items": [], "times": {"figure-1": {"quick": True}}}
    assert "pages quote full runs" in quote.refused(quick, "folder")
    partial = quick | {"claims": [{"item": "figure-6", "measured": None}]}
    assert "no number of figure-6" in quote.refused(partial, "folder")
