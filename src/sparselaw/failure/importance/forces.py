"""Rare activations made to happen, so that the density over the original law is a count.

``single``     one (sample, coordinate), coordinates in proportion to p_j in a window: N / E N, with N the
               activations in the window;
``together``   one coordinate of a first window and one of a second in the same sample;
``again``      one coordinate of a window in two samples.

Windows of single activations lie just below the spike, where a little help from the rest is enough, and
widen downwards. Two activations together need c + c' of about T = threshold * D: the first window halves
its distance to T from one pair to the next, and the second reaches down to what is then missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparselaw.failure.tail import activation_range

NONE, SINGLE, TOGETHER, AGAIN = 0, 1, 2, 3
Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Force:
    kind: int
    window: Window = (2.0, 2.0)
    second: Window = (2.0, 2.0)

    def row(self, s: float) -> list[float]:
        """First, last and mass of both windows."""
        if self.kind == NONE:
            return [2.0, 2.0, 1.0] * 2
        ranges = [activation_range(s, *self.window), activation_range(s, *self.second)]
        return [value for r in ranges for value in (r.first, r.last, r.mass)]


NOTHING = Force(NONE)


def single_forces(growth: float, below: float, last: float) -> list[Force]:
    """Windows of the coordinates below+1..last, top first: c_j within 4, 16, 64, ... of the largest."""
    largest = last**growth
    steps = [4.0**k for k in range(1, 60) if 4.0**k < 0.5 * largest]
    edges = [_edge(largest - x, growth) for x in [*steps, 0.5 * largest]]
    forces = []
    high = last
    for edge in [*edges, below]:
        low = max(edge, below)
        if low < high:
            forces.append(Force(SINGLE, (low + 1.0, high)))
            high = low
    return forces


def double_forces(T: float, growth: float, below: float, last: float, D: int) -> list[Force]:
    """Two activations, in one sample or of one coordinate."""
    forces = []
    missing = 0.5
    while True:
        lowest = _edge(0.5 * missing * T, growth)
        low = max(below, _edge((1.0 - missing) * T - 2.0, growth))
        final = lowest <= below or missing < 1e-12
        lowest = 1.0 if final else lowest  # the last pair takes any help, from coordinate 2 on
        high = last if final else min(last, _edge((1.0 - 0.5 * missing) * T, growth))
        if low < high and lowest < last:
            forces.append(Force(TOGETHER, (low + 1.0, high), (lowest + 1.0, last)))
        if final:
            break
        missing *= 0.5
    low = max(below, _edge(0.45 * T, growth))
    if D > 1 and low < last:
        forces.append(Force(AGAIN, (low + 1.0, last)))
    return forces


def _edge(c: float, growth: float) -> float:
    """The last coordinate with c_j of at most c."""
    return float(math.floor(c ** (1.0 / growth))) if c > 1.0 else 1.0
