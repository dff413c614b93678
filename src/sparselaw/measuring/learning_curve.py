"""The record of a learning curve, and the verdict: which theory describes it, and what limits the loss now.

The error of a theory is the mean of |predicted/measured - 1| over the points of the learning curve, each
counting as the root of its loss: a point where little is left matters less than one where nearly all is.
``unseen`` wins where the unseen variance alone is within a tenth; then ``sparse`` where the cavity prediction
is within 5 %, or nearer than the covariance and within 15 %; then ``covariance`` (Gaussian inputs of the same
eigenvalues) within 15 %; ``none`` where nothing is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sparselaw.interval import Interval
from sparselaw.records import Record, html_table, to_dict

if TYPE_CHECKING:
    import pandas as pd

ONE_DRAW = "one draw of the rows"
THEORIES = ("unseen", "sparse", "cavity", "gaussian")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedPoint(Record):
    """At ``D`` rows, N infinite: shares of the whole variance, measured and predicted.

    ``signs`` and ``shuffled`` are measured on the same rows with random signs, and with random signs and
    every column shuffled on its own.
    """

    D: int
    K: float
    measured: Interval
    unseen: float
    sparse: float
    cavity: float
    gaussian: float
    signs: Interval
    shuffled: Interval
    target: Interval | None = None

    def as_dict(self) -> dict[str, Any]:
        why = dict.fromkeys(("measured", "signs", "shuffled"), ONE_DRAW)
        if self.target is not None:
            why["target"] = ONE_DRAW
        counts = {"D": self.D, "K": self.K, "K_per_D": self.K / self.D}
        return {**counts, **to_dict(self, *THEORIES, *why, **why)}


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthPoint(Record):
    """At ``N`` random features and ``D`` rows, many: measured, and by the eigenvalues of the covariance.

    ``diagonal`` takes the variances of single features for eigenvalues, right where they hardly correlate.
    """

    N: int
    D: int
    measured: Interval
    gaussian: float
    diagonal: float
    reasons: ClassVar[Mapping[str, str]] = {"measured": ONE_DRAW}


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCurve(Record):
    """Learning curves of real features beside the theories, and the verdict."""

    source: str
    rows: int
    features: int
    nonzeros: int
    curve: tuple[LearnedPoint, ...]
    widths: tuple[WidthPoint, ...]
    errors: Mapping[str, float]  # of each theory against ``measured``
    sign_errors: Mapping[str, float]  # against ``signs``
    sign_change: float  # of signs against measured: what means and correlations do
    shuffle_change: float  # of shuffled against signs: what co-activation does
    verdict: str
    limited_by: str
    target: str | None = None

    def meaning(self) -> str:
        return in_words(self.verdict, self.errors)

    def limit(self) -> str:
        return f"the loss is limited by {LIMITS[self.limited_by]}"

    def sentences(self) -> list[str]:
        """What there is to say, first things first."""
        shown = ", ".join(f"{name} {_percent(self.errors[name])}" for name in THEORIES)
        signs = ", ".join(f"{name} {_percent(self.sign_errors[name])}" for name in THEORIES)
        return [
            self.meaning(),
            self.limit(),
            f"errors of the theories: {shown}",
            f"with random signs: {signs}",
            f"random signs change the loss by {_percent(self.sign_change)}, shuffled columns "
            f"by {_percent(self.shuffle_change)} more: means and correlations, and who is active with whom",
        ]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        meant = {
            "verdict_meaning": WORDS[self.verdict],
            "limited_by_meaning": LIMITS[self.limited_by],
            "target": self.target,
        }
        return {"kind": "learning-curve", **to_dict(self), **meant}

    def to_frame(self) -> pd.DataFrame:
        """One row for each D."""
        import pandas as pd

        rows = []
        for p in self.curve:
            row: dict[str, Any] = {"D": p.D, "K": p.K}
            for name in ("measured", "signs", "shuffled"):
                value = getattr(p, name)
                row |= {name: value.best, f"{name}_low": value.low, f"{name}_high": value.high}
            rows.append(row | {name: getattr(p, name) for name in THEORIES})
        return pd.DataFrame(rows)

    def table_rows(self) -> tuple[list[str], list[list[str]]]:
        """The curve for people, in per cent of the variance."""
        columns = ["D", "K/D", "measured %", "95 %", *THEORIES, "random signs", "shuffled"]
        if self.target is not None:
            columns.append("target")
        rows = []
        for p in self.curve:
            row = [str(p.D), f"{p.K / p.D:.3g}", *_shown(p.measured)]
            row += [f"{100 * getattr(p, name):.3g}" for name in THEORIES]
            row += [f"{100 * p.signs.best:.3g}", f"{100 * p.shuffled.best:.3g}"]
            rows.append(row if p.target is None else [*row, f"{100 * p.target.best:.3g}"])
        return columns, rows

    def width_rows(self) -> tuple[list[str], list[list[str]]]:
        columns = ["N", "D", "measured %", "95 %", "gaussian", "diagonal"]
        rows = [
            [str(p.N), str(p.D), *_shown(p.measured), f"{100 * p.gaussian:.3g}", f"{100 * p.diagonal:.3g}"]
            for p in self.widths
        ]
        return columns, rows

    def _repr_html_(self) -> str:
        columns, rows = self.table_rows()
        return html_table(f"Learning curve of {self.source}", columns, rows, self.sentences())


def _percent(value: float) -> str:
    if not math.isfinite(value):
        return "-"
    return f"{100 * value:.0f} %" if value >= 0.995 else f"{100 * value:.2g} %"


def _shown(value: Interval) -> tuple[str, str]:
    return f"{100 * value.best:.3g}", value.ends(lambda v: f"{100 * v:.3g}")


NOISE = 1e-5  # a share below this is not compared
UNSEEN_WITHIN = 0.10
SPARSE_WITHIN = 0.05
WITHIN = 0.15


def error_of(curve: Sequence[LearnedPoint], of: Callable[[LearnedPoint], float], measured: str) -> float:
    """The mean of |predicted/measured - 1|, at most 1 each, weighted by the root of what is measured.

    ``of`` gives what is predicted at a point. Where too little is left to compare, a point does not count.
    """
    used = [p for p in curve if getattr(p, measured).best > NOISE]
    if not used:
        return math.nan
    truth = np.array([getattr(p, measured).best for p in used])
    missed = np.minimum(np.abs(np.array([of(p) for p in used]) / truth - 1.0), 1.0)
    return float(np.average(missed, weights=np.sqrt(truth)))


def theory_errors(curve: Sequence[LearnedPoint], measured: str) -> dict[str, float]:
    """The error of each theory against what was measured."""
    return {name: error_of(curve, attrgetter(name), measured) for name in THEORIES}


def verdict(errors: Mapping[str, float]) -> str:
    """``unseen``, ``sparse``, ``covariance`` or ``none``; errors of unseen, cavity and gaussian.

    >>> verdict({"unseen": 0.6, "cavity": 0.3, "gaussian": 0.05})
    'covariance'
    """
    unseen, sparse, covariance = (errors[name] for name in ("unseen", "cavity", "gaussian"))
    if math.isnan(sparse):
        return "none"
    if unseen <= UNSEEN_WITHIN:
        return "unseen"
    if sparse <= SPARSE_WITHIN or sparse <= min(covariance, WITHIN):
        return "sparse"
    return "covariance" if covariance <= WITHIN else "none"


WORDS = {
    "unseen": "features never shown are nearly all of the loss: the unseen variance alone predicts it",
    "sparse": "how often features were seen, and with whom, predicts the loss (the cavity prediction)",
    "covariance": "features act together: the eigenvalues of their covariance predict the loss",
    "none": "neither the sparse theory nor the covariance predicts this learning curve",
}


def in_words(verdict: str, errors: Mapping[str, float]) -> str:
    """What the verdict means; where another theory does as well, it is named."""
    both = verdict == "sparse" and errors["gaussian"] <= SPARSE_WITHIN
    too = "; so do the eigenvalues of the covariance, at these D (they fail beyond D = K)" if both else ""
    return f"{verdict}: {WORDS[verdict]}{too}"


def limited_by(measured: float, unseen: float, model: float | None) -> str:
    """What the loss is made of at the largest D: ``unseen``, ``undetermined`` or ``model-size``.

    ``model`` is the loss that the largest model asked for has even with all the rows.
    """
    if model is not None and model > measured:
        return "model-size"
    return "unseen" if unseen >= 0.5 * measured else "undetermined"


LIMITS = {
    "unseen": "features that the rows never showed: only more rows help",
    "undetermined": "features that were shown but too seldom to be told apart: more rows help",
    "model-size": "the number of random features: a larger N helps, more rows do not",
}
