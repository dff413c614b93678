"""What the paper claims, each claim decided by one measured number.

A claim names the row of the reproduction that decides it and the range it must be in. The verdict is computed
from the row's interval: ``holds`` where all of it lies in the range, ``touches`` where a part of it does,
``does not hold`` where none does, ``undecided`` where the interval is too wide to tell (a quick run), and
``not measured`` where the item was not made. A number that the paper prints is compared with what it prints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sparselaw.experiments.paper.item import Row
from sparselaw.interval import Interval

Word = Literal["holds", "touches", "does not hold", "undecided", "not measured"]

TELLING = 3.0  # times the range: an interval wider than that decides nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What the number must be: a range that its interval has to lie in."""

    low: float
    high: float
    words: str

    def verdict(self, measured: Interval) -> Word:
        """``holds`` where the whole interval lies in the range."""
        if measured.low > self.high or measured.high < self.low:
            return "does not hold"
        if self.low <= measured.low and measured.high <= self.high:
            return "holds"
        wide = measured.high - measured.low > TELLING * (self.high - self.low)
        one_sided = self.low == -float("inf") or self.high == float("inf")
        return "undecided" if wide or one_sided else "touches"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement of the paper in words and as a formula, its label there, and the number that decides it."""

    words: str
    formula: str  # MathML, without the outer element
    label: str
    item: str
    quantity: str  # how the row's own name begins
    must: Range | None  # None: what the paper prints

    def judged(self, rows: Iterable[Row]) -> Judged:
        for row in rows:
            if row["name"] == self.item and row["quantity"].startswith(self.quantity) and row["measured"]:
                return self._judged(row)
        return Judged(claim=self, quantity=self.quantity, measured=None, verdict="not measured")

    def _judged(self, row: Row) -> Judged:
        measured = Interval(**row["measured"])
        compared = {"agrees": "agrees with", "differs": "differs from"}.get(row["verdict"])
        printed = row["paper"] if compared else None
        if self.must is not None:
            word = self.must.verdict(measured)
        else:
            word = "holds" if row["verdict"] == "agrees" else "does not hold"
        return Judged(
            claim=self,
            quantity=row["quantity"],
            measured=measured,
            verdict=word,
            interval=row.get("interval", "95 %"),
            printed=printed,
            compared="" if printed is None else _compared(row, compared or ""),
        )


def _compared(row: Row, word: str) -> str:
    """How ours compares with the printed number, with the distance and what both errors allow."""
    apart = row["reason"].split(" (")[0]
    return f"{word} the printed {row['paper']:.4g} ({apart})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A claim with the number that decided it."""

    claim: Claim
    quantity: str
    measured: Interval | None
    verdict: Word
    interval: str = "95 %"  # what the ends of ``measured`` are
    printed: float | None = None  # the paper's own number, where it prints one
    compared: str = ""  # how ours compares with it, in words

    @property
    def must_be(self) -> str:
        if self.claim.must is not None:
            return self.claim.must.words
        return "what the paper prints" if self.printed is None else f"{self.printed:.4g}, as printed"

    @property
    def shown(self) -> str:
        """The number with its interval, and what the ends are where they are not 95 %."""
        if self.measured is None:
            return "-"
        return f"{self.measured}" + ("" if self.interval == "95 %" else f" ({self.interval})")

    @property
    def sentence(self) -> str:
        """What decides the claim, in one sentence."""
        if self.measured is None:
            return f"Not measured: make {self.claim.item}."
        beside = f"; it {self.compared}" if self.compared and self.claim.must is not None else ""
        return f"Measured {self.shown}, must be {self.must_be}{beside}."

    def as_dict(self) -> dict[str, object]:
        return {
            "claim": self.claim.words,
            "label": self.claim.label,
            "item": self.claim.item,
            "quantity": self.quantity,
            "measured": None if self.measured is None else self.measured.as_dict(),
            "interval": self.interval,
            "must_be": self.must_be,
            "printed": self.printed,
            "compared": self.compared,
            "verdict": self.verdict,
        }


def near(value: float, share: float, why: str = "finite sizes") -> Range:
    """A range around ``value``: a share of it either way is allowed for ``why``.

    >>> near(2.0, 0.05).verdict(Interval(2.05, 2.08, 2.09))
    'holds'
    >>> near(2.0, 0.05).verdict(Interval(2.05, 2.08, 2.11))
    'touches'
    """
    words = f"{value:.4g}, give or take {share:.0%} for {why}"
    return Range(low=value * (1.0 - share), high=value * (1.0 + share), words=words)


def above(value: float) -> Range:
    return Range(low=value, high=float("inf"), words=f"above {value:g}")


def below(value: float) -> Range:
    return Range(low=-float("inf"), high=value, words=f"below {value:g}")


def judged(rows: Iterable[Row]) -> list[Judged]:
    """The claims, each with its verdict; ``rows`` are those of summary.json."""
    rows = list(rows)
    return [claim.judged(rows) for claim in CLAIMS]


def _sub(name: str, below: str) -> str:
    return f"<msub><mi>{name}</mi><mn>{below}</mn></msub>"


def _power(base: str, exponent: str) -> str:
    return f"<msup>{base}<mrow>{exponent}</mrow></msup>"


def _fraction(top: str, bottom: str) -> str:
    return f"<mfrac><mrow>{top}</mrow><mrow>{bottom}</mrow></mfrac>"


_A1, _A2 = _sub("α", "1"), _sub("α", "2")
_SUM = f"{_A1}<mo>+</mo>{_A2}<mo>+</mo><mn>1</mn>"
_FALLS = "<mi>L</mi><mo>∝</mo>"
_MINUS, _IS, _ABOVE = "<mo>−</mo>", "<mo>=</mo>", "<mo>&gt;</mo>"
_AN, _AD, _AC = (f"<msub><mi>α</mi><mi>{size}</mi></msub>" for size in "NDC")
_KAPPA = _power(
    "<mi>D</mi>",
    f"<mn>1</mn><mo>+</mo>{_fraction(f'{_A2}<mo>+</mo><mn>1</mn>', f'{_A1}<mo>+</mo><mn>1</mn>')}",
)

CLAIMS = (
    Claim(
        words="The loss falls with the size of the model as N^-(alpha1+alpha2+1).",
        formula=f"{_FALLS}{_power('<mi>N</mi>', f'{_MINUS}<mo>(</mo>{_SUM}<mo>)</mo>')}",
        label="prop:underparam",
        item="checks",
        quantity="alpha_N beyond the paper's sizes",
        must=near(2.3, 0.03),
    ),
    Claim(
        words="With the data it falls only as D^-(alpha1+alpha2+1)/(alpha1+1): rare coordinates stay unseen.",
        formula=f"{_FALLS}{_power('<mi>D</mi>', _MINUS + _fraction(_SUM, f'{_A1}<mo>+</mo><mn>1</mn>'))}",
        label="thm:over-scaling",
        item="checks",
        quantity="alpha_D beyond the paper's sizes",
        must=near(1.15, 0.01),
    ),
    Claim(
        words="So the two exponents differ: model size has the larger one.",
        formula=f"{_AN}{_ABOVE}{_AD}",
        label="cor:asymmetry",
        item="figure-5",
        quantity="ratio of the two",
        must=above(1.0),
    ),
    Claim(
        words="Trained in closed form, the sweeps that are not limited by sparse data share one exponent.",
        formula=f"{_AN}{_IS}<mn>2.0</mn>",
        label="fig:minNormLinear",
        item="figure-5",
        quantity="joint exponent (sparse N, dense N, dense D)",
        must=None,
    ),
    Claim(
        words="Without sparsity (alpha1 <= 0) they are the same.",
        formula=f"{_A1}<mo>≤</mo><mn>0</mn><mo>⇒</mo>{_AN}{_IS}{_AD}",
        label="app:weak-sparsity",
        item="checks",
        quantity="alpha_N - alpha_D at alpha1 =",
        must=Range(low=-0.05, high=0.05, words="0, give or take 0.05 for finite sizes"),
    ),
    Claim(
        words="The loss has a double-descent peak where N meets the number of coordinates seen.",
        formula="<mi>N</mi><mo>≈</mo><mi>K</mi><mo>(</mo><mi>D</mi><mo>)</mo>",
        label="eq:K-of-D",
        item="figure-2",
        quantity="place of the peak, xi",
        must=near(0.5642, 0.05),
    ),
    Claim(
        words="Rescaled, the losses of all sizes fall on one curve.",
        formula=f"<mi>L</mi>{_power('<mi>N</mi>', _AN)}{_IS}<mi>S</mi><mo>(</mo><mi>ξ</mi><mo>)</mo>",
        label="fig:scaling-collapse",
        item="figure-2",
        quantity="median |loss N^alpha_N / S(xi) - 1|",
        must=below(0.05),
    ),
    Claim(
        words="The best loss for a budget falls as C^-(alpha1+alpha2+1)/(alpha1+3).",
        formula=f"{_FALLS}{_power('<mi>C</mi>', _MINUS + _fraction(_SUM, f'{_A1}<mo>+</mo><mn>3</mn>'))}",
        label="prop:compute-optimal",
        item="figure-3",
        quantity="alpha_C, from the lower envelope",
        must=near(0.575, 0.03),
    ),
    Claim(
        words="The asymmetry stays with ReLU features.",
        formula=f"{_AN}{_ABOVE}{_AD}",
        label="fig:minNormReLU",
        item="figure-6",
        quantity="ratio of the two",
        must=above(1.0),
    ),
    Claim(
        words="With ReLU features the sweeps that are not limited by sparse data share one exponent.",
        formula=f"{_AN}{_IS}<mn>1.25</mn>",
        label="fig:minNormReLU",
        item="figure-6",
        quantity="joint exponent (sparse N, dense N, dense D)",
        must=None,
    ),
    Claim(
        words="The condition number above the peak, by the smallest eigenvalue, grows as "
        "D^(1+(alpha2+1)/(alpha1+1)).",
        formula=f"<mi>κ</mi><mo>∝</mo>{_KAPPA}",
        label="tab:threeRegimes",
        item="table-3",
        quantity="condition number at the paper's own M",
        must=near(1.65, 0.03),
    ),
    Claim(
        words="The effective condition number, by the middle of the K(D) directions, grows as that power.",
        formula=f"<msub><mi>κ</mi><mi>K</mi></msub><mo>∝</mo>{_KAPPA}",
        label="tab:threeRegimes",
        item="table-3",
        quantity="effective condition number at the paper's own M",
        must=near(1.65, 0.03),
    ),
    Claim(
        words="Iterations of gradient descent to the final loss grow as D^(1+(alpha2+1)/(alpha1+1)).",
        formula=f"<mi>T</mi><mo>∝</mo>{_KAPPA}",
        label="tab:threeRegimes",
        item="table-3",
        quantity="gradient descent to the loss, N > D",
        must=near(1.65, 0.03),
    ),
    Claim(
        words="Gradient descent with a fixed step diverges by a rare spike with probability D^-nu.",
        formula=f"<mi>P</mi><mo>∝</mo>{_power('<mi>D</mi>', _MINUS + '<mi>ν</mi>')}",
        label="thm:gd_failure_scaling",
        item="table-4",
        quantity="exponent at (alpha1, alpha2) =",
        must=near(0.5, 0.05),
    ),
)
