"""An interval is a type: nothing measured is handed out as a bare number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from sparselaw.numbers import short_number

if TYPE_CHECKING:
    from sparselaw.arrays import FloatArray

Z95 = 1.959963984540054  # a normal deviate lies within this many standard deviations 95 % of the time


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval around a best estimate: 95 % unless said otherwise.

    >>> Interval(1.0, 2.0, 4.0).contains(3.0)
    True
    """

    low: float
    best: float
    high: float

    def __iter__(self) -> Iterator[float]:
        """``low, best, high = interval``."""
        return iter((self.low, self.best, self.high))

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high

    def as_dict(self) -> dict[str, float]:
        return {"low": self.low, "best": self.best, "high": self.high}

    def to_dict(self, no_ends: str) -> dict[str, Any]:
        """For JSON: an end that is no number is None, and beside it why (``no_ends`` where it is not known).

        >>> Interval(math.nan, 2.0, math.inf).to_dict("no draws")["low_reason"]
        'no draws'
        """
        result: dict[str, Any] = {}
        for key, value in self.as_dict().items():
            result[key] = value if math.isfinite(value) else None
            if result[key] is None:
                result[f"{key}_reason"] = no_ends if math.isnan(value) else "larger than a number can hold"
        return result

    def ends(self, write: Callable[[float], str] = short_number) -> str:
        """Both ends as text; a dash for one that is no number.

        >>> Interval(1.0, 2.0, math.inf).ends()
        '[1, -]'
        """
        shown = (write(v) if math.isfinite(v) else "-" for v in (self.low, self.high))
        return f"[{', '.join(shown)}]"

    def __format__(self, form: str) -> str:
        """Each of the three numbers in this form, four digits where none is named.

        >>> f"{Interval(1.0, 2.0, 4.0):.2f}", f"{Interval(1.0, 2.0, 4.0 / 3.0)}"
        ('2.00 [1.00, 4.00]', '2 [1, 1.333]')
        """
        write: Callable[[float], str] = f"{{:{form}}}".format if form else short_number
        return f"{write(self.best)} {self.ends(write)}"

    def __str__(self) -> str:
        return format(self)

    def as_sizes(self) -> str:
        """The same for parameters and tokens; without ends where there are none.

        >>> Interval(5.7e7, 2.1e9, 3e9).as_sizes(), Interval(math.nan, 7e9, math.nan).as_sizes()
        ('2.1B [57M, 3B]', '7B')
        """
        from sparselaw.numbers import short_size

        if not math.isfinite(self.high - self.low) or self.low == self.high:
            return short_size(self.best)
        return f"{short_size(self.best)} {self.ends(short_size)}"


def check_level(level: float) -> float:
    """The level of an interval, between 0 and 1.

    >>> check_level(0.8)
    0.8
    """
    from sparselaw.errors import InputError, check_finite

    if not 0.0 < check_finite("level", level) < 1.0:
        raise InputError("level", level, "must lie between 0 and 1", "choose 0.95, 0.8 or 0.5")
    return float(level)


def student_factor(count: float) -> float:
    """The 95 % point of Student's t for a mean of ``count`` values."""
    from scipy.special import stdtrit  # a quarter of the import time of scipy.stats

    return float(stdtrit(count - 1, 0.975))


def student_interval(values: Sequence[float]) -> Interval:
    """The mean of independent values with Student's interval.

    >>> print(student_interval([1.0, 2.0, 3.0]))
    2 [-0.4841, 4.484]
    """
    half = student_factor(len(values)) * stdev(values) / len(values) ** 0.5
    return Interval(fmean(values) - half, fmean(values), fmean(values) + half)


def drawn_interval(best: float, draws: FloatArray, level: float = 0.95) -> Interval:
    """The middle ``level`` of the draws (percentiles 2.5 and 97.5 of them for 0.95).

    Widened to hold the best value where that lies outside.

    >>> import numpy as np
    >>> print(drawn_interval(2.0, np.linspace(0.0, 4.0, 401)))
    2 [0.1, 3.9]
    """
    import numpy as np

    if draws.size == 0:
        return Interval(math.nan, best, math.nan)
    low, high = np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
    return Interval(min(float(low), best), best, max(float(high), best))


def median_interval(values: Sequence[float]) -> Interval:
    """The median of independent values between the order statistics that hold it with at least 95 %.

    The number of values below the true median is binomial, whatever their law.

    >>> median_interval([float(i) for i in range(1, 12)])
    Interval(low=2.0, best=6.0, high=10.0)
    """
    from statistics import median

    ordered, n = sorted(values), len(values)
    tail, skip = 0.0, -1  # P(fewer than skip + 1 values lie below the median)
    while skip + 1 < n / 2 and tail + math.comb(n, skip + 1) / 2**n <= 0.025:
        skip += 1
        tail += math.comb(n, skip) / 2**n
    if skip < 0:  # too few values for any two of them to hold it
        return Interval(-math.inf, median(ordered), math.inf)
    return Interval(ordered[skip], median(ordered), ordered[n - 1 - skip])
