"""The paper in ten claims, each decided by one measured number.

A claim names the row of the reproduction that decides it and the range it must be in. The verdict is computed
from the row's interval: ``holds``, ``does not hold``, ``undecided`` where the interval is too wide to tell (a
quick run), or ``not measured`` where the item was not made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sparselaw.experiments.paper.item import Row
from sparselaw.interval import Interval

Word = Literal["holds", "does not hold", "undecided", "not measured"]

TELLING = 3.0  # times the range: an interval wider than that decides nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What the number must be, as a range that its interval has to meet, or to lie in."""

    low: float
    high: float
    words: str
    whole: bool = False  # the whole interval, not just a part of it

    def obeyed_by(self, measured: Interval) -> bool:
        if self.whole:
            return self.low < measured.low and measured.high < self.high
        return self._touches(measured)

    def verdict(self, measured: Interval) -> Word:
        """An interval that is much wider than the range touches it and says little."""
        if not self._touches(measured):
            return "does not hold"
        wide = measured.high - measured.low > TELLING * (self.high - self.low)
        return "holds" if self.obeyed_by(measured) and not wide else "undecided"

    def _touches(self, measured: Interval) -> bool:
        return measured.low <= self.high and measured.high >= self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement of the paper in words, its label there, and the number that decides it."""

    words: str
    label: str
    item: str
    quantity: str  # how the row's own name begins
    must: Range

    def judged(self, rows: Iterable[Row]) -> Judged:
        for row in rows:
            if row["name"] == self.item and row["quantity"].startswith(self.quantity) and row["measured"]:
                measured = Interval(**row["measured"])
                word = self.must.verdict(measured)
                return Judged(claim=self, quantity=row["quantity"], measured=measured, verdict=word)
        return Judged(claim=self, quantity=self.quantity, measured=None, verdict="not measured")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A claim with the number that decided it."""

    claim: Claim
    quantity: str
    measured: Interval | None
    verdict: Word

    def as_dict(self) -> dict[str, object]:
        return {
            "claim": self.claim.words,
            "label": self.claim.label,
            "item": self.claim.item,
            "quantity": self.quantity,
            "measured": None if self.measured is None else self.measured.as_dict(),
            "must_be": self.claim.must.words,
            "verdict": self.verdict,
        }


def near(value: float, share: float, why: str = "finite sizes") -> Range:
    """About ``value``, up to a share of it that is given away for ``why``.

    >>> near(2.0, 0.05).obeyed_by(Interval(2.05, 2.08, 2.11))
    True
    >>> near(2.0, 0.05).obeyed_by(Interval(2.15, 2.18, 2.21))
    False
    """
    words = f"{value:.4g}, give or take {share:.0%} for {why}"
    return Range(low=value * (1.0 - share), high=value * (1.0 + share), words=words)


def above(value: float) -> Range:
    return Range(low=value, high=float("inf"), words=f"above {value:g}", whole=True)


def below(value: float) -> Range:
    return Range(low=-float("inf"), high=value, words=f"below {value:g}", whole=True)


CLAIMS = (
    Claim(
        words="The loss falls with the size of the model as N^-(alpha1+alpha2+1).",
        label="prop:underparam",
        item="checks",
        quantity="alpha_N beyond the paper's sizes",
        must=near(2.3, 0.03),
    ),
    Claim(
        words="With the data it falls only as D^-(alpha1+alpha2+1)/(alpha1+1): the unseen is in the way.",
        label="thm:over-scaling",
        item="checks",
        quantity="alpha_D beyond the paper's sizes",
        must=near(1.15, 0.01),
    ),
    Claim(
        words="So the two exponents differ: model size has the larger one.",
        label="cor:asymmetry",
        item="figure-5",
        quantity="ratio of the two",
        must=above(1.0),
    ),
    Claim(
        words="Without sparsity (alpha1 <= 0) they are the same.",
        label="app:weak-sparsity",
        item="checks",
        quantity="alpha_N - alpha_D at alpha1 =",
        must=Range(low=-0.05, high=0.05, words="0, give or take 0.05 for finite sizes"),
    ),
    Claim(
        words="The loss has a double-descent peak where N meets the number of coordinates seen.",
        label="eq:K-of-D",
        item="figure-2",
        quantity="place of the peak, xi",
        must=near(0.5642, 0.05),
    ),
    Claim(
        words="Rescaled, the losses of all sizes fall on one curve.",
        label="fig:scaling-collapse",
        item="figure-2",
        quantity="median |loss N^alpha_N / S(xi) - 1|",
        must=below(0.05),
    ),
    Claim(
        words="The best loss for a budget falls as C^-(alpha1+alpha2+1)/(alpha1+3).",
        label="prop:compute-optimal",
        item="figure-3",
        quantity="alpha_C, from the lower envelope",
        must=near(0.575, 0.03),
    ),
    Claim(
        words="The asymmetry stays with ReLU features.",
        label="fig:minNormReLU",
        item="figure-6",
        quantity="ratio of the two",
        must=above(1.0),
    ),
    Claim(
        words="The condition number above the peak grows as D^(1+(alpha2+1)/(alpha1+1)).",
        label="tab:threeRegimes",
        item="table-3",
        quantity="condition number, N > D",
        must=near(1.65, 0.03),
    ),
    Claim(
        words="Gradient descent with a fixed step diverges by a rare spike with probability D^-nu.",
        label="thm:gd_failure_scaling",
        item="table-4",
        quantity="exponent at (alpha1, alpha2) =",
        must=near(0.5, 0.05),
    ),
)


def judged(rows: Iterable[Row]) -> list[Judged]:
    """The ten claims, each with its verdict; ``rows`` are those of summary.json."""
    rows = list(rows)
    return [claim.judged(rows) for claim in CLAIMS]
