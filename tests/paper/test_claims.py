"""Each claim is decided by its own number, and by nothing else."""

import math
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from sparselaw.experiments.dynamics.iterations import Row as IterationRow
from sparselaw.experiments.paper import tables
from sparselaw.experiments.paper.claims import CLAIMS, above, below, counted, judged, mathml, near
from sparselaw.experiments.paper.item import NAMES, Printed, Quantity
from sparselaw.interval import Interval


def row(claim, low, high, **other):
    measured = {"low": low, "best": (low + high) / 2, "high": high}
    name = f"{claim.quantity} and more"
    return {
        "name": claim.item,
        "quantity": name,
        "measured": measured,
        "paper": None,
        "verdict": "not comparable",
        "reason": "0.19 apart, 0.1 allowed (paper ±0.05, ours ±0.09)",
    } | other


def inside(claim):
    """An interval that lies in what the claim asks for."""
    low, high = max(claim.must.low, -10.0), min(claim.must.high, 10.0)
    return low + 0.4 * (high - low), low + 0.6 * (high - low)


RANGED = [claim for claim in CLAIMS if claim.must is not None]
PRINTED = [claim for claim in CLAIMS if claim.must is None]


def test_each_has_an_item_that_exists_and_a_row_of_its_own():
    assert {claim.item for claim in CLAIMS} <= set(NAMES)
    assert len({(claim.item, claim.quantity) for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.words[:40])
def test_formulas_are_well_formed(claim):
    ElementTree.fromstring(f"<math>{mathml(claim.formula)}</math>")


@pytest.mark.parametrize("claim", RANGED, ids=lambda claim: claim.words[:40])
def test_the_verdict_follows_the_number(claim):
    (found,) = [one for one in judged([row(claim, *inside(claim))]) if one["verdict"] != "not measured"]
    assert (found["claim"], found["verdict"]) == (claim.words, "holds")
    outside = (claim.must.low - 2.0, claim.must.low - 1.0)
    if math.isinf(claim.must.low):
        outside = (claim.must.high + 1.0, claim.must.high + 2.0)
    assert claim.judged([row(claim, *outside)])["verdict"] == "does not hold"
    missing = claim.judged([row(claim, *inside(claim), measured=None)])
    assert missing["verdict"] == "not measured"
    assert claim.item in missing["sentence"]
    assert claim.judged([row(claim, *inside(claim), name="another")])["measured"] is None


@pytest.mark.parametrize("claim", PRINTED, ids=lambda claim: claim.words[:40])
def test_a_printed_number_decides_where_there_is_no_range(claim):
    agreed = claim.judged([row(claim, 1.9, 2.1, paper=2.0, verdict="agrees", paper_within=0.05)])
    differs = claim.judged([row(claim, 1.9, 2.0, paper=2.5, verdict="differs")])
    assert (agreed["verdict"], differs["verdict"]) == ("holds", "does not hold")
    digits = len(claim.formula.rpartition(".")[2])
    assert f"{2.5:.{digits}f}, as printed" in differs["sentence"]
    wide = claim.judged([row(claim, 1.0, 3.0, paper=2.0, verdict="agrees", paper_within=0.05)])
    assert wide["verdict"] == "undecided"  # an interval that wide agrees with much


def test_a_claim_that_holds_says_that_the_printed_number_differs():
    (claim,) = [c for c in RANGED if c.item == "figure-6"]
    found = claim.judged([row(claim, 1.2, 1.4, paper=1.13, verdict="differs")])
    assert found["verdict"] == "holds"
    assert "differs from the printed 1.13 (0.19 apart, 0.1 allowed)" in found["sentence"]


def test_the_kind_of_an_interval_is_said():
    (claim,) = [c for c in CLAIMS if c.quantity.startswith("place of the peak")]
    assert "(range)" in claim.judged([row(claim, *inside(claim), interval="range")])["sentence"]
    assert "(" not in claim.judged([row(claim, *inside(claim))])["sentence"]


def test_numbers_have_four_digits():
    (claim,) = [c for c in CLAIMS if c.quantity.startswith("alpha_N beyond")]
    assert "is 2.3 [2.267, 2.333] and must be 2.3" in claim.judged([row(claim, 34 / 15, 7 / 3)])["sentence"]


def test_ranges():
    middle = Interval(0.9, 1.0, 1.1)
    assert (
        near(1.0, 0.2).verdict(middle) == above(0.8).verdict(middle) == below(1.2).verdict(middle) == "holds"
    )
    assert near(1.2, 0.1).verdict(middle) == near(1.0, 0.1).verdict(Interval(0.8, 1.0, 1.3)) == "touches"
    assert above(1.0).verdict(middle) == below(1.0).verdict(middle) == "undecided"
    assert near(1.0, 0.1).verdict(Interval(0.5, 1.0, 1.5)) == "undecided"
    assert above(1.2).verdict(middle) == near(1.5, 0.1).verdict(middle) == "does not hold"


def test_verdicts_are_counted_in_words_and_only_what_does_not_hold_is_explained():
    held = row(CLAIMS[0], *inside(CLAIMS[0]), why="because")
    missed = row(CLAIMS[1], 5.0, 6.0, why="because")
    found = judged([held, missed])
    assert [claim["why"] for claim in found[:2]] == ["", "because"]
    assert counted(found) == f"1 holds, 1 does not hold, {len(CLAIMS) - 2} not measured"
    assert counted([found[0]] * 2 + [found[1]] * 2) == "2 hold, 2 do not hold"


def test_the_picture_of_table_3_has_every_number_that_decides_a_claim(monkeypatch):
    found = Interval(1.5, 1.6, 1.7)
    row = IterationRow("over", "gd", "loss", "D", found, 1.65, 2.3, "paper", 1.6)
    decisive = [claim.quantity for claim in CLAIMS if claim.item == "table-3"]
    conditions = [Quantity(name, found, Printed(1.65, 0.005), 2.3) for name in decisive]
    monkeypatch.setattr(tables, "_conditions", lambda *_: conditions)
    monkeypatch.setattr(tables, "cost_table", lambda *_, **__: [row])
    made = tables.table_3(SimpleNamespace(quick=True, remember=print))
    made.draw(figure := Figure())
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == [quantity.quantity for quantity in made.quantities]
    assert set(decisive) <= set(labels)
    assert [line["method"] for line in made.rows] == ["gd", *decisive]
