"""Each claim is decided by its own number, and by nothing else."""

import math

import pytest

from sparselaw.experiments.paper.claims import CLAIMS, above, below, judged, near
from sparselaw.experiments.paper.contents import NAMES
from sparselaw.interval import Interval


def row(claim, low, high, **other):
    measured = {"low": low, "best": (low + high) / 2, "high": high}
    return {"name": claim.item, "quantity": f"{claim.quantity} and more", "measured": measured} | other


def inside(claim):
    """An interval that lies in what the claim asks for."""
    low, high = max(claim.must.low, -10.0), min(claim.must.high, 10.0)
    return low + 0.4 * (high - low), low + 0.6 * (high - low)


def test_there_are_ten_each_with_an_item_that_exists():
    assert len(CLAIMS) == 10
    assert {claim.item for claim in CLAIMS} <= set(NAMES)
    assert len({(claim.item, claim.quantity) for claim in CLAIMS}) == 10


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.label)
def test_the_verdict_follows_the_number(claim):
    (found,) = [one for one in judged([row(claim, *inside(claim))]) if one.verdict != "not measured"]
    assert found.claim is claim
    assert found.verdict == "holds"
    outside = (claim.must.low - 2.0, claim.must.low - 1.0)
    if math.isinf(claim.must.low):
        outside = (claim.must.high + 1.0, claim.must.high + 2.0)
    assert claim.judged([row(claim, *outside)]).verdict == "does not hold"
    assert claim.judged([row(claim, *inside(claim), measured=None)]).verdict == "not measured"
    assert claim.judged([row(claim, *inside(claim), name="another")]).as_dict()["measured"] is None


def test_ranges():
    touching = Interval(0.9, 1.0, 1.1)
    assert near(1.2, 0.1).obeyed_by(touching)
    assert not near(1.5, 0.1).obeyed_by(touching)
    assert not above(1.0).obeyed_by(touching)
    assert above(0.8).obeyed_by(touching)
    assert not below(1.0).obeyed_by(touching)
    assert below(1.2).obeyed_by(touching)
    assert above(1.0).verdict(touching) == below(1.0).verdict(touching) == "undecided"
    assert near(1.0, 0.1).verdict(Interval(0.8, 1.0, 1.3)) == "holds"
    assert near(1.0, 0.1).verdict(Interval(0.5, 1.0, 1.5)) == "undecided"
    assert above(1.2).verdict(touching) == near(1.5, 0.1).verdict(touching) == "does not hold"
