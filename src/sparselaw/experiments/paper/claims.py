"""What the paper claims, each claim decided by one measured number.

A claim names the row of the reproduction that decides it and the range it must be in. The verdict is computed
from the row's interval: ``holds`` where all of it lies in the range, ``touches`` where a part of it does,
``does not hold`` where none does, ``undecided`` where the interval is too wide to tell (a quick run), and
``not measured`` where the item was not made. A number that the paper prints is compared with what it prints,
and is undecided where it agrees only because its interval is so much wider than the paper's own error.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from sparselaw.experiments.paper.item import Row
from sparselaw.interval import Interval

TELLING = 3.0  # times the range: an interval wider than that decides nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What the number must be: a range that its interval has to lie in."""

    low: float
    high: float
    words: str

    def verdict(self, measured: Interval) -> str:
        """``holds`` where the whole interval lies in the range."""
        if measured.low > self.high or measured.high < self.low:
            return "does not hold"
        if self.low <= measured.low and measured.high <= self.high:
            return "holds"
        wide = measured.high - measured.low > TELLING * (self.high - self.low)
        one_sided = self.low == -float("inf") or self.high == float("inf")
        return "undecided" if wide or one_sided else "touches"


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper and the number that decides it."""

    words: str
    formula: str  # as ``mathml`` reads it
    label: str  # in the paper's source
    number: str  # what is measured, as the subject of a sentence
    item: str
    quantity: str  # how the name of its row begins
    must: Range | None = None  # None: what the paper prints

    def judged(self, rows: Iterable[Row]) -> Row:
        """The claim with its verdict, for summary.json, whose ``rows`` these are; the first one decides."""
        decisive = (
            row
            for row in rows
            if row["name"] == self.item and row["quantity"].startswith(self.quantity) and row["measured"]
        )
        row = next(decisive, None)
        verdict, sentence, compared, printed = "not measured", f"Not measured: make {self.item}.", "", None
        must_be = "what the paper prints" if self.must is None else self.must.words
        if row is not None:
            words = {"agrees": "agrees with", "differs": "differs from"}.get(row["verdict"])
            if words:  # how ours compares with the printed number: the distance, and what both errors allow
                printed, apart = row["paper"], row["reason"].split(" (")[0]
                compared = f"{words} the printed {printed:.4g} ({apart})"
            measured = Interval(**row["measured"])
            if self.must is not None:
                verdict = self.must.verdict(measured)
            else:
                within = row.get("paper_within") or math.inf  # kept rows of earlier versions have none
                wide = measured.high - measured.low > TELLING * 2.0 * within
                agreed = "undecided" if wide else "holds"
                verdict = agreed if row["verdict"] == "agrees" else "does not hold"
                digits = len(self.formula.rpartition(".")[2])  # as many as the paper has
                must_be = f"{printed:.{digits}f}, as printed" if compared else must_be
            beside = f"; it {compared}" if compared and self.must is not None else ""
            sentence = f"The {self.number} is {shown(row)} and must be {must_be}{beside}."
        row = row or {"quantity": self.quantity, "measured": None}
        return {
            "claim": self.words,
            "formula": self.formula,
            "label": self.label,
            "item": self.item,
            "quantity": row["quantity"],
            "measured": row["measured"],
            "interval": row.get("interval", "95 %"),
            "must_be": must_be,
            "printed": printed,
            "compared": compared,
            "verdict": verdict,
            "sentence": sentence,
            "why": "" if verdict == "holds" else row.get("why", ""),  # what stands behind the number
        }


def shown(row: Row) -> str:
    """The measured number of a row with its interval, and what the ends are where they are not 95 %."""
    if row["measured"] is None:
        return "-"
    kind = row.get("interval", "95 %")
    return f"{Interval(**row['measured'])}" + ("" if kind == "95 %" else f" ({kind})")


def judged(rows: Iterable[Row]) -> list[Row]:
    """The claims, each with its verdict; ``rows`` are those of summary.json."""
    rows = list(rows)
    return [claim.judged(rows) for claim in CLAIMS]


def counted(claims: Iterable[Row]) -> str:
    """How many claims there are of each verdict, in words."""
    found = Counter(claim["verdict"] for claim in claims)
    plural = {"holds": "hold", "touches": "touch", "does not hold": "do not hold"}
    words = (*plural, "undecided", "not measured")
    counts = ((found[word], plural.get(word, word) if found[word] > 1 else word) for word in words)
    return ", ".join(f"{count} {word}" for count, word in counts if count)


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


def mathml(formula: str) -> str:
    """The inside of a ``math`` element: letters, their indices, and powers in parentheses.

    >>> mathml("L ∝ N^(-α1)")
    '<mi>L</mi><mo>∝</mo><msup><mi>N</mi><mrow><mo>−</mo><msub><mi>α</mi><mn>1</mn></msub></mrow></msup>'
    """
    tokens = deque(re.findall(r"\d+\.?\d*|\S", re.sub(r"(?<=α)(?=\d)", "_", formula)))

    def row(end: str) -> str:
        parts: list[str] = []
        while tokens and tokens[0] != end:
            token = tokens.popleft()
            if token in "^_":
                kind = "msup" if token == "^" else "msub"
                parts.append(f"<{kind}>{parts.pop()}{one(tokens.popleft(), brackets=False)}</{kind}>")
            else:
                parts.append(one(token))
        return "".join(parts)

    def one(token: str, brackets: bool = True) -> str:
        if token == "(":
            inside = row(")")
            tokens.popleft()
            return f"<mrow>{f'<mo>(</mo>{inside}<mo>)</mo>' if brackets else inside}</mrow>"
        kind = "mn" if token[0].isdigit() else "mi" if token.isalpha() else "mo"
        return f"<{kind}>{escape(token.replace('-', '−'))}</{kind}>"

    return row("")


_JOINT = "joint exponent (sparse N, dense N, dense D)"
_POWER = "D^(1+(α2+1)/(α1+1))"

# fmt: off
CLAIMS = (
    Claim("As the model grows, the loss falls with its size as a power.",
          "L ∝ N^(-(α1+α2+1))", "prop:underparam",
          "exponent of N", "checks", "alpha_N beyond the paper's sizes", near(2.3, 0.03)),
    Claim("With the data it falls by a smaller power: rare coordinates stay unseen.",
          "L ∝ D^(-(α1+α2+1)/(α1+1))", "thm:over-scaling",
          "exponent of D", "checks", "alpha_D beyond the paper's sizes", near(1.15, 0.01)),
    Claim("So the two exponents differ: model size has the larger one.",
          "α_N > α_D", "cor:asymmetry",
          "first exponent over the second", "figure-5", "ratio of the two", above(1.0)),
    Claim("At the paper's sizes the loss falls by one power wherever sparse data are not the limit: with N, "
          "and on dense inputs with D.",
          "α_N = 2.0", "fig:minNormLinear",
          "shared exponent", "figure-5", _JOINT),
    Claim("Where inputs are hardly sparse, the two exponents are the same.",
          "α1 ≤ 0 ⇒ α_N = α_D", "app:weak-sparsity",
          "difference of the two", "checks", "alpha_N - alpha_D at alpha1 =",
          Range(low=-0.05, high=0.05, words="0, give or take 0.05 for finite sizes")),
    Claim("The loss has a peak (double descent) where N just meets the number of coordinates seen.",
          "N ≈ K(D)", "eq:K-of-D",
          "place of the peak in ξ", "figure-2", "place of the peak, xi", near(0.5642, 0.05)),
    Claim("Rescaled, the losses of all sizes fall on one curve.",
          "L N^(α_N) = S(ξ)", "fig:scaling-collapse",
          "typical distance from the curve, as a share of it,",
          "figure-2", "median |loss N^alpha_N / S(xi) - 1|", below(0.05)),
    Claim("The best loss for a budget of compute falls as a power of it.",
          "L ∝ C^(-(α1+α2+1)/(α1+3))", "prop:compute-optimal",
          "exponent of C", "figure-3", "alpha_C, from the lower envelope", near(0.575, 0.03)),
    Claim("The two exponents differ with ReLU features too.",
          "α_N > α_D", "fig:minNormReLU",
          "first exponent over the second", "figure-6", "ratio of the two", above(1.0)),
    Claim("With ReLU features, too, the loss falls by one power wherever sparse data are not the limit.",
          "α_N = 1.25", "fig:minNormReLU",
          "shared exponent", "figure-6", _JOINT),
    Claim("Training gets harder with the data: the condition number, by the smallest eigenvalue, grows as a "
          "power of D.",
          f"κ ∝ {_POWER}", "tab:threeRegimes",
          "exponent of D", "table-3", "condition number at the paper's own M", near(1.65, 0.03)),
    Claim("The condition number of the K(D) directions that matter, by the middle one, grows as that power.",
          f"κ_K ∝ {_POWER}", "tab:threeRegimes",
          "exponent of D", "table-3", "effective condition number at the paper's own M", near(1.65, 0.03)),
    Claim("The steps of gradient descent to the final loss grow as that power.",
          f"T ∝ {_POWER}", "tab:threeRegimes",
          "exponent of D", "table-3", "gradient descent to the loss, N > D", near(1.65, 0.03)),
    Claim("Gradient descent with a fixed step diverges where a rare, large coordinate is seen; the "
          "probability falls with the data as a power.",
          "P ∝ D^(-ν)", "thm:gd_failure_scaling",
          "exponent of D at α1 = 1.5, α2 = -2",
          "table-4", "exponent at (alpha1, alpha2) =", near(0.5, 0.05)),
)
# fmt: on
