"""The exponents read as those of about one pass: then alpha1 and alpha2 are not told apart.

Trained to the end, alpha_N = alpha1 + alpha2 + 1 and alpha_D = alpha_N/(alpha1 + 1). After about one pass
alpha_N = a - 1 and alpha_D = (a - 1)/a, a = alpha1 + alpha2 + 2: only the sum shows, and the ratio
alpha_D (1 + alpha_N)/alpha_N is one. Each reading can be tested: the first needs alpha1 >= 0, the second that
ratio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.interval import Interval, drawn_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class PassReading:
    """``decay`` is a, ``ratio`` alpha_D (1 + alpha_N)/alpha_N, which is one after about one pass."""

    decay: Interval
    ratio: Interval
    alpha1: Interval

    @property
    def one_pass(self) -> bool | None:
        """Whether one pass could show these exponents; None where there are no intervals."""
        return None if np.isnan(self.ratio.low) else self.ratio.low <= 1.0 <= self.ratio.high

    @property
    def to_the_end(self) -> bool | None:
        """Whether training to the end could show them."""
        return None if np.isnan(self.alpha1.high) else self.alpha1.high >= 0.0

    def as_dict(self) -> dict[str, Any]:
        decay, ratio, alpha1 = (v.plain("no draws") for v in (self.decay, self.ratio, self.alpha1))
        return {
            "one_pass": {"a": decay, "ratio": ratio, "consistent": self.one_pass},
            "to_the_end": {"alpha1": alpha1, "consistent": self.to_the_end},
        }

    def words(self) -> str:
        """What may be said of the sparsity, given both readings."""
        decay = f"a = alpha_N + 1 = {self.decay.best:.3g}"
        ratio = f"alpha_D (1 + alpha_N)/alpha_N = {self.ratio.best:.3g}{_ends(self.ratio)}"
        if self.one_pass is None:
            return f"read as about one pass: {decay}, and {ratio} should be 1; draws would say whether it is"
        if self.one_pass and not self.to_the_end:
            return f"the exponents are those of about one pass ({ratio} holds 1): {decay}, no sparsity shows"
        if self.one_pass:
            return (
                f"the exponents fit about one pass too ({ratio} holds 1): then {decay} is all that shows, "
                "and the sparsity above only holds for runs trained to the end"
            )
        if self.to_the_end:
            return f"one pass alone would not show these exponents ({ratio}, not 1)"
        return f"neither training to the end nor one pass shows these exponents ({ratio}, alpha1 < 0)"


def pass_reading(
    alpha_N: float, alpha_D: float, draws_N: FloatArray, draws_D: FloatArray, sparsity: Mapping[str, Interval]
) -> PassReading:
    """Both readings from the same draws."""
    return PassReading(
        decay=drawn_interval(alpha_N + 1.0, draws_N + 1.0),
        ratio=drawn_interval(alpha_D * (1.0 + alpha_N) / alpha_N, draws_D * (1.0 + draws_N) / draws_N),
        alpha1=sparsity["alpha1"],
    )


def _ends(value: Interval) -> str:
    return "" if np.isnan(value.low) else f" {value.ends()}"
