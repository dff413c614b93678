"""Where data are limited: the best N, and how often to pass over the U unique samples.

The loss is the data-constrained law's, D the samples seen. Where the fit has no repeated data, its own E, A,
B, alpha and beta are taken with the published decay of repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparselaw.errors import InputError, check_positive
from sparselaw.interval import Interval
from sparselaw.laws import DataConstrainedLaw, Law

MANY_PASSES = 40.0  # the data behind the law hardly go further


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueData:
    """What a plan says when U samples are unique: the passes over them, and what they are worth."""

    unique: float
    passes: Interval
    effective_data: Interval

    def as_dict(self) -> dict[str, Any]:
        return {
            "unique_data": self.unique,
            "passes": self.passes.to_dict("see intervals"),
            "effective_data": self.effective_data.to_dict("see intervals"),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedLaw(Law):
    """A data-constrained law at one U: a law of N and D."""

    name: ClassVar[str] = DataConstrainedLaw.name
    formula: ClassVar[str] = DataConstrainedLaw.formula

    law: DataConstrainedLaw
    unique: float

    @property
    def floor(self) -> Any:
        return self.law.E

    @property
    def exponents(self) -> None:
        """None: with U fixed more compute soon buys nothing, and no power law holds."""
        return None

    def loss(self, N: Any, D: Any) -> Any:
        return self.law.loss(N, D, np.minimum(self.unique, D))


def limited(law: Law, unique: float) -> tuple[LimitedLaw, str]:
    """The law at U, and a word on where the decay of repetitions comes from."""
    unique = check_positive("unique-data", unique)
    repeated = law.on_repeated_data()
    if repeated is None:
        raise InputError(
            "unique-data", law.name, "is no law of repeated data", "choose law chinchilla or data-constrained"
        )
    return LimitedLaw(law=repeated[0], unique=unique), repeated[1]


def on_unique(D: Interval, law: LimitedLaw) -> UniqueData:
    """Passes and effective data at the best D and its ends; both rise with D."""
    ends = (D.low, D.best, D.high)
    worth = (float(law.law.effective_data(seen, min(law.unique, seen))) for seen in ends)
    return UniqueData(
        unique=law.unique,
        passes=Interval(*(seen / law.unique for seen in ends)),
        effective_data=Interval(*worth),
    )


def words(found: UniqueData, word: str, *, own: bool = False) -> tuple[str, ...]:
    """``own``: by the theory, which knows any number of passes."""
    said = [word] if word else []
    if not own and found.passes.best > MANY_PASSES:
        said.append(f"{found.passes.best:.3g} passes: more than the runs behind such laws have made")
    return tuple(said)
