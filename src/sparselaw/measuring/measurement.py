"""What a measurement hands out."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.inputs import TabulatedInputs
from sparselaw.interval import Interval
from sparselaw.measuring.nonzeros import Values
from sparselaw.measuring.rarefaction import BLOCKS_AGREE, Beyond, StepTest
from sparselaw.numbers import short_number
from sparselaw.records import Record, frame, html_table, to_dict

if TYPE_CHECKING:
    import pandas as pd

ALL_SEEN = "every feature has been seen"
SEEN_OFTEN = 5  # rows: below, a frequency is mostly chance
FEW_FEATURES, MANY_FEATURES = 0.5, 2.0  # seen per row: rows outnumber features, features outnumber rows
NOTHING = 1e-6  # an unseen share below which nothing is left to show
TINY = 1e-12  # a share that is not printed
MEANINGS = {
    "unseen": "the loss at this size is mostly in features that the rows never showed",
    "undetermined": "features outnumber rows: what was seen is not determined either",
    "crossover": "features never shown and features not yet determined both count",
    "shown": "the rows have shown every feature, so that sparsity limits nothing here",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint(Record):
    """At ``D`` rows: features seen, unseen share of the variance, local exponents of both."""

    D: float
    K: Interval
    unseen: Interval
    alpha1: Interval | None  # 1/(dlnK/dlnD) - 1
    alpha_D: Interval | None  # -dlnU/dlnD

    def as_dict(self) -> dict[str, Any]:
        why = {n: BLOCKS_AGREE if getattr(self, n) else ALL_SEEN for n in ("alpha1", "alpha_D")}
        why["unseen"] = ALL_SEEN if self.unseen.best <= 0.0 else BLOCKS_AGREE
        counts = {"K_interval": self.K.to_dict(BLOCKS_AGREE), "K_per_D": self.K.best / self.D}
        return {"D": self.D, "K": self.K.best, **counts, **to_dict(self, *sorted(why, reverse=True), **why)}


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowExponent(Record):
    """The exponent of the features active in ``low`` to ``high`` rows."""

    low: int
    high: int
    features: int
    mu: float
    error: float
    alpha1: Interval | None

    def as_dict(self) -> dict[str, Any]:
        why = BLOCKS_AGREE if self.alpha1 else "no power law with alpha1 > 0 in this window"
        return to_dict(self, "low", "high", "features", "alpha1", alpha1=why)


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """How often each feature is active, and the sum of its squares over all rows, of the columns that occur.

    ``column`` are the numbers of those columns, ``names`` the names of all where they have some.
    """

    rows: int
    count: NDArray[np.int64]
    squares: FloatArray
    column: NDArray[np.int64]
    names: Sequence[Hashable] | None = None

    def law(self) -> tuple[FloatArray, FloatArray]:
        """(p, c): frequency and mean square where active, of the features seen, most frequent first."""
        seen = np.flatnonzero((self.count > 0) & (self.squares > 0.0))
        order = seen[np.lexsort((-self.squares[seen], -self.count[seen]))]
        return self.count[order] / self.rows, self.squares[order] / self.count[order]

    def as_dict(self) -> dict[str, Any]:
        """Features of equal count and sum of squares together: ``features`` of them."""
        seen = self.count > 0
        both = np.stack([self.count[seen].astype(np.float64), self.squares[seen]])
        pairs, features = np.unique(both, axis=1, return_counts=True)
        return {
            "rows": self.rows,
            "count": [int(v) for v in pairs[0][::-1]],
            "squares": pairs[1][::-1].tolist(),
            "features": features[::-1].tolist(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement(Record):
    """How sparse a feature matrix is. ``regime`` says which theory to expect at this many rows:

    ``unseen`` (rows outnumber the features seen: what was never shown is most of the loss), ``undetermined``
    (features outnumber rows: what was seen is not determined either), ``crossover``, or ``shown`` (rows
    outnumber features and have shown them all: nothing is unseen, and sparsity limits nothing).
    """

    source: str
    rows: int
    features: int
    seen: int
    nonzeros: int
    variance: float  # of all features together: the mean of |x|^2
    values: Values
    blocks: int
    curve: tuple[CurvePoint, ...]
    windows: tuple[WindowExponent, ...]
    alpha1: Interval | None
    alpha1_reason: str
    eta: Interval | None
    beyond: tuple[Beyond, ...]
    tests: tuple[StepTest, ...]
    table: FeatureTable = field(repr=False)

    @property
    def dead(self) -> int:
        """Features never active."""
        return self.features - self.seen

    @property
    def dead_limit(self) -> float:
        """The frequency that a feature never active in so many rows has at most, at 95 %: 1 - 0.05^(1/n)."""
        return -math.expm1(math.log(0.05) / self.rows)

    @property
    def regime(self) -> str:
        ratio = self.seen / self.rows
        if ratio < FEW_FEATURES:
            return "shown" if self.curve[-1].unseen.best < NOTHING else "unseen"
        return "undetermined" if ratio > MANY_FEATURES else "crossover"

    def meaning(self) -> str:
        """The regime in a sentence."""
        counts = f"{self.seen} features seen in {self.rows} rows, K/D = {self.seen / self.rows:.3g}"
        return f"{counts}: {MEANINGS[self.regime]}"

    @property
    def alpha2(self) -> Interval | None:
        """eta (alpha1 + 1) - 1, where there is an alpha1: the ends from both intervals, added in squares."""
        if self.alpha1 is None or self.eta is None:
            return None
        eta, steep = self.eta, self.alpha1.best + 1.0
        best = eta.best * steep - 1.0
        low, high = (
            math.hypot(steep * (e - eta.best), eta.best * (a - self.alpha1.best))
            for e, a in zip((eta.low, eta.high), (self.alpha1.low, self.alpha1.high), strict=True)
        )
        return Interval(best - low, best, best + high)

    def inputs(self, *, tail: bool = False) -> TabulatedInputs:
        """The measured frequencies and amplitudes as inputs of the theory.

        ``tail``: features active in fewer than five rows, whose frequencies are mostly chance, give way to a
        power law with the local exponent of the rarest window, continued to a thousandth of that frequency.
        """
        p, c = self.table.law()
        if not tail:
            return TabulatedInputs(p, c, source=self.source)
        local = next((w.alpha1 for w in self.windows if w.alpha1 is not None), None)
        frequent = p >= SEEN_OFTEN / self.rows
        if local is None or local.best <= 0.0 or not frequent.any():
            raise InputError("tail", True, "has no exponent to follow", "leave it out")
        head = TabulatedInputs(p[frequent], c[frequent], source=self.source)
        return head.continued(local.best, eta=0.0 if self.eta is None else self.eta.best)

    def sentences(self) -> list[str]:
        """What there is to say, first things first."""
        last = self.curve[-1]
        share = f"{100 * last.unseen.best:.3g}" if last.unseen.best >= TINY else "less than 1e-10"
        said = [
            self.meaning(),
            f"{share} % of the variance is in features that {last.D:.6g} rows do not show",
            f"one alpha1 describes the counts: {self.alpha1}" if self.alpha1 else self.alpha1_reason,
        ]
        if self.dead:
            rarer = f"frequency below {self.dead_limit:.2g} each (95 %)"
            said.append(f"{self.dead} features are never active: {rarer}")
        return said

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, and to be read again by ``--inputs``."""
        too_few = "too few features are active often enough in half of the rows"
        why = {
            "alpha1": BLOCKS_AGREE if self.alpha1 else self.alpha1_reason,
            "eta": BLOCKS_AGREE if self.eta else too_few,
            "alpha2": BLOCKS_AGREE
            if self.alpha2
            else too_few
            if self.alpha1
            else "there is no single alpha1",
        }
        return {
            "kind": "measurement",
            **to_dict(self, "source", "rows", "features", "seen", "dead", "dead_limit", "nonzeros"),
            "nonzeros_per_row": self.nonzeros / self.rows,
            "energy": self.variance,  # its name in version 0.2
            **to_dict(self, "variance", "values", "blocks", "regime"),
            "regime_meaning": self.meaning(),
            **to_dict(self, "curve", "windows", *why, "beyond", **why),
            "beyond_tests": [test.as_dict() for test in self.tests],
            "table": self.table.as_dict(),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row for each D of the curve."""
        none = Interval(math.nan, math.nan, math.nan)
        names = ("K", "unseen", "alpha1", "alpha_D")
        return frame({"D": p.D, **{name: getattr(p, name) or none for name in names}} for p in self.curve)

    def table_rows(self) -> tuple[list[str], list[list[str]]]:
        """The curve for people."""
        columns = ["D", "K", "K/D", "unseen variance", "95 % interval", "local alpha1", "alpha_D of the loss"]
        rows = []
        for p in self.curve:
            shown = [f"{p.D:.6g}", short_number(p.K.best), f"{p.K.best / p.D:.3g}"]
            tiny, ends = p.unseen.best < TINY, p.unseen.ends(lambda v: f"{100 * v:.3g}")
            shown += ["< 1e-10 %", "-"] if tiny else [f"{100 * p.unseen.best:.3g} %", f"{ends} %"]
            shown += [_short(p.alpha1), _short(p.alpha_D)]
            rows.append(shown)
        return columns, rows

    def _repr_html_(self) -> str:
        columns, rows = self.table_rows()
        return html_table(f"Features of {self.source}", columns, rows, self.sentences())


def _short(value: Interval | None) -> str:
    if value is None:
        return "-"
    return f"{value.best:.2f} {value.ends(lambda v: f'{v:.2f}' if abs(v) < 1e4 else '-')}"
