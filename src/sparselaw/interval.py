"""An interval is a type: nothing measured is handed out as a bare number."""

from __future__ import annotations

from dataclasses import dataclass


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
