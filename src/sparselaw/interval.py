"""An interval is a type: nothing measured is handed out as a bare number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval around a best estimate.

    >>> Interval(1.0, 2.0, 4.0).contains(3.0)
    True
    """

    low: float
    best: float
    high: float

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high

    def as_dict(self) -> dict[str, float]:
        return {"low": self.low, "best": self.best, "high": self.high}

    def __str__(self) -> str:
        return f"{self.best:.4g} [{self.low:.4g}, {self.high:.4g}]"


def student_factor(count: int) -> float:
    """The 95 % point of Student's t for a mean of ``count`` values."""
    from scipy.stats import t

    return float(t.ppf(0.975, count - 1))


def student_interval(values: Sequence[float]) -> Interval:
    """The mean of independent values with Student's interval.

    >>> print(student_interval([1.0, 2.0, 3.0]))
    2 [-0.4841, 4.484]
    """
    half = student_factor(len(values)) * stdev(values) / len(values) ** 0.5
    return Interval(fmean(values) - half, fmean(values), fmean(values) + half)
