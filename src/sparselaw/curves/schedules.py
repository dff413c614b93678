"""A learning-rate schedule: the rate against steps, and the intrinsic time tau, the rate summed over steps.

The rate is linear between knots; two knots at one step are a jump. A log of a thousand rates becomes a few
dozen knots, close enough that the law does not notice: within 0.03 % of the peak and 0.2 % of the rate.
Schedules are also written by name: ``cosine:24000``, ``wsd:20000,24000``, ``constant:72000`` and a few more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sparselaw import numbers
from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.solvers.sgd import DECAYS, END, LATE, decayed

SAME_RATE = (3e-4, 2e-3)  # of the peak, and of the rate itself
JUMP = 0.08  # of the peak between two logged rates: a jump where the rates around it are smooth
FINEST = 0.06  # of the peak: no piece between knots changes by more
RATIO = 1.25  # nor by a larger factor, for the law takes rate^p as linear in tau there
RAMP = 9  # knots of a straight warm-up
REWARMED = 0.1  # of the peak: a rise by more than this after the warm-up
KNOTS = 41
SHAPES = ("constant", *DECAYS)
REMEDY = "write cosine:24000, wsd:20000,24000, constant:72000 or the path of a CSV with columns step, lr"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """``steps`` and ``rates`` are knots, from step 0; ``warmup`` is the step where the warm-up ends."""

    steps: FloatArray
    rates: FloatArray
    warmup: float = 0.0
    name: str = ""
    taus: FloatArray = field(init=False)
    peak: float = field(init=False)  # the largest rate

    def __post_init__(self) -> None:
        area = np.diff(self.steps) * 0.5 * (self.rates[1:] + self.rates[:-1])
        object.__setattr__(self, "peak", float(self.rates.max()))
        object.__setattr__(self, "taus", np.concatenate(([0.0], np.cumsum(area))))

    @property
    def last(self) -> float:
        """The last step."""
        return float(self.steps[-1])

    def tau(self, step: FloatArray | float) -> FloatArray:
        """Intrinsic time at steps; quadratic where the rate is on a slope."""
        at = np.asarray(step, np.float64)
        piece = np.clip(np.searchsorted(self.steps, at, side="right") - 1, 0, self.steps.size - 2)
        inside = np.clip(at, self.steps[0], self.steps[-1]) - self.steps[piece]
        width = self.steps[piece + 1] - self.steps[piece]
        slope = (self.rates[piece + 1] - self.rates[piece]) / np.where(width > 0.0, width, 1.0)
        return np.asarray(self.taus[piece] + inside * (self.rates[piece] + 0.5 * slope * inside))

    def rate(self, step: FloatArray | float) -> FloatArray:
        """The rate at steps; at a jump the new one."""
        return np.asarray(np.interp(step, self.steps, self.rates))

    def then(self, other: Schedule, at: float) -> Schedule:
        """This one up to a step, and from there on the other one, under the other's name."""
        before, after = self.steps <= at, other.steps > at
        steps = np.concatenate([self.steps[before], [at, at], other.steps[after]])
        at_rates = [float(self.rate(at)), float(other.rate(at))]
        rates = np.concatenate([self.rates[before], at_rates, other.rates[after]])
        return Schedule(steps=steps, rates=rates, warmup=self.warmup, name=other.name)

    def rewarmed(self) -> bool:
        """Does the rate rise again after the warm-up?"""
        later = self.rates[self.steps >= self.warmup]
        return bool(later.size and np.max(later - np.minimum.accumulate(later)) > REWARMED * self.peak)

    def begins_like(self, other: Schedule, until: float, close: float = 0.03) -> bool:
        """Are both rates the same up to a step, within ``close`` of the peak?"""
        if until > min(self.last, other.last) * 1.001:
            return False
        start = max(self.warmup, other.warmup)
        at = np.linspace(start, max(until, start), 200)
        apart = np.abs(self.rate(at) - other.rate(at)) > close * max(self.peak, other.peak)
        return bool(np.count_nonzero(apart) <= 2)  # a jump may be a logged step late


def logged_schedule(step: FloatArray, rate: FloatArray, warmup: float, name: str = "") -> Schedule:
    """From the rates of a log, increasing in step; before ``warmup`` a straight line from zero.

    Where a log begins after step 0 and there was no warm-up, its first rate holds from the start.
    """
    peak = float(rate.max())
    steps, rates = [0.0], [0.0 if warmup > 0.0 else float(rate[0])]
    if warmup > 0.0:
        top = float(rate[0] if step[0] >= warmup else np.interp(warmup, step, rate))
        steps += np.linspace(0.0, warmup, RAMP)[1:].tolist()
        rates += np.linspace(0.0, top, RAMP)[1:].tolist()
    after = step > steps[-1]
    change = np.abs(np.diff(rate[after], prepend=rates[-1]))
    around = np.maximum(np.append(change[1:], 0.0), np.insert(change[:-1], 0, 0.0))
    sudden = (change > JUMP * peak) & (change > 4.0 * around)
    for s, r, jumped in zip(step[after].tolist(), rate[after].tolist(), sudden.tolist(), strict=True):
        if jumped:  # the new rate is in force from the step that logs it
            steps.append(s)
            rates.append(rates[-1])
        steps.append(s)
        rates.append(r)
    if len(steps) == 1:
        steps, rates = [0.0, max(float(step[-1]), 1.0)], [rates[0], float(rate[-1])]
    kept = _few(steps, rates, peak)
    return make_schedule([steps[i] for i in kept], [rates[i] for i in kept], warmup, name)


def make_schedule(
    steps: Sequence[float], rates: Sequence[float], warmup: float = 0.0, name: str = ""
) -> Schedule:
    """From knots, with more of them where the rate changes much between two."""
    s, r = np.asarray(steps, np.float64), np.asarray(rates, np.float64)
    small = 1e-2 * r.max()
    ratio = np.abs(np.diff(np.log(r + small))) / np.log(RATIO)
    pieces = np.ceil(np.maximum(np.abs(np.diff(r)) / (FINEST * r.max()), ratio) - 1e-9)
    pieces = np.where(np.diff(s) > 0.0, np.maximum(pieces, 1.0), 1.0).astype(int)
    place = np.concatenate([i + np.arange(n) / n for i, n in enumerate(pieces.tolist())] + [[len(s) - 1.0]])
    index = np.arange(s.size, dtype=np.float64)
    return Schedule(
        steps=np.interp(place, index, s), rates=np.interp(place, index, r), warmup=float(warmup), name=name
    )


def _few(steps: list[float], rates: list[float], peak: float) -> list[int]:
    """Knots through which straight lines stay close to every rate: one pass, by a cone of slopes."""
    kept, low, high = [0], -np.inf, np.inf
    i, last = 1, len(steps) - 1
    while i <= last:
        corner = kept[-1]
        width = steps[i] - steps[corner]
        jump = steps[i] == steps[i - 1]
        slope = (rates[i] - rates[corner]) / width if width > 0.0 else np.nan
        if corner < i - 1 and (jump or not low <= slope <= high):  # the line to the last one was still close
            kept.append(i - 1)
            low, high = -np.inf, np.inf
            continue
        if jump or i == last:  # a jump: both its knots stay
            kept.append(i)
            low, high = -np.inf, np.inf
        else:
            allowed = (SAME_RATE[0] * peak + SAME_RATE[1] * rates[i]) / width
            low, high = max(low, slope - allowed), min(high, slope + allowed)
        i += 1
    return kept


def written_schedule(text: str, *, peak: float, warmup: float) -> Schedule:
    """A schedule by its name: straight warm-up, the peak up to the first of two numbers of steps, decay.

    ``lr=``, ``end=`` and ``warmup=`` behind the steps take the place of the peak rate, of the last rate (a
    tenth of the peak) and of the warm-up.

    >>> written_schedule("wsd:800,1000,end=0", peak=3e-4, warmup=100).rate([50, 500, 900, 1000]).round(6)
    array([0.00015, 0.0003 , 0.00015, 0.     ])
    """
    shape, _, rest = text.partition(":")
    shape = shape.strip()
    if shape not in SHAPES:
        raise InputError("schedule", text, "is no known shape", f"choose {', '.join(SHAPES)}")
    counts: list[float] = []
    named = {"lr": peak, "warmup": float(warmup)}
    for part in rest.split(","):
        key, sign, value = part.partition("=")
        if not sign:
            counts.append(float(numbers.size("schedule", part.strip())))
        elif key.strip() in ("lr", "end", "warmup"):
            named[key.strip()] = numbers.real("schedule", value.strip())
        else:
            raise InputError("schedule", text, f"does not know {key.strip()}", "give lr=, end= or warmup=")
    wanted = 2 if shape in LATE else 1
    if len(counts) != wanted:
        raise InputError("schedule", text, f"needs {wanted} number{'s' * (wanted - 1)} of steps", REMEDY)
    peak, warmup = named["lr"], named["warmup"]
    end = named.get("end", END * peak)
    start, stop = counts[0] if wanted == 2 else warmup, counts[-1]
    if not 0.0 < peak < np.inf:
        raise InputError("lr", peak, "must be positive", "give the peak rate")
    if not 0.0 <= end <= peak:
        raise InputError("end", end, "must lie between zero and the peak rate", "give the last rate")
    if not 0.0 <= warmup <= start <= stop or stop <= warmup:
        raise InputError("schedule", text, f"has its steps out of order (warm-up ends at {warmup:g})", REMEDY)
    steps = np.linspace(0.0, warmup, RAMP).tolist() if warmup > 0.0 else [0.0]
    rates = np.linspace(0.0, peak, RAMP).tolist() if warmup > 0.0 else [peak]
    if start > steps[-1]:
        steps.append(start)
        rates.append(peak)
    if shape == "constant" or start == stop:
        steps.append(stop)
        rates.append(peak)
    else:
        share = np.linspace(0.0, 1.0, KNOTS)
        first = 0 if shape == "step" else 1  # a step falls at once: two knots at its beginning
        steps += (start + share * (stop - start))[first:].tolist()
        rates += (peak * decayed(shape, share, end / peak))[first:].tolist()
    return make_schedule(steps, rates, warmup, text)
