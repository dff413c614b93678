"""The scaling limit at many places for little more than one.

With D to infinity counts are Poisson and j becomes z = j/J, J = D^(1/(alpha1+1)). One layout of the counts
then serves every cut-off, and so every share nu = N/K of the coordinates seen: it gives the loss over the
unseen variance as a function of nu alone. S(xi) is that function in other units. At finite D the exact loss
over this one is close to one and changes slowly.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.sums.count_points import CountPoints
from sparselaw.sums.many_roots import solve_decreasing_many

DEEP = 0.999  # share of K as far as the table goes; nearer to the peak Newton's method goes on
LADDER = (3, 7, 14, 30, 60, 120)  # decades of N/K that a layout may serve


@dataclass(frozen=True, slots=True)
class LimitCurve:
    """Counts of the scaling limit laid out; ``seen`` is K/J."""

    points: CountPoints
    seen: float
    log_degrees: FloatArray  # a table: log of N/J, rising,
    log_cutoff: FloatArray  # and the cut-off that resolves so many

    def cutoffs(self, nu: FloatArray) -> FloatArray:
        """log k for N = nu K, nu < 1, in the units of the limit."""

        def degrees(log_k: FloatArray) -> tuple[FloatArray, FloatArray]:
            s = self.points.at(log_k)
            return s.degrees, -s.partial

        d = nu * self.seen
        return solve_decreasing_many(degrees, d, np.interp(np.log(d), self.log_degrees, self.log_cutoff))

    def log_excess(self, nu: FloatArray) -> FloatArray:
        """log of the loss over the unseen variance."""
        with np.errstate(all="ignore"):
            return self.excess_at(nu, self.cutoffs(nu))

    def excess_at(self, nu: FloatArray, log_k: FloatArray) -> FloatArray:
        s = self.points.at(log_k)
        return np.asarray(np.log(s.lost / self.points.unseen) + np.log(nu * self.seen) - np.log(s.partial))


@functools.lru_cache(maxsize=16)
def limit_curve(inputs: Inputs, decades: int, coarse: float = 1.0) -> LimitCurve:
    """For N/K down to 10^-decades; a ``coarse`` table costs less to lay out, and more to start from."""
    sums = inputs.limit_sums(10.0**decades)
    points, seen = sums.points(), sums.seen()
    edge, decay = math.log(inputs.model_constant()), inputs.spectrum  # k = edge d^-a resolves d for large D
    high, low = (
        edge + decay * (decades * math.log(10.0) - math.log(seen)) + 1.0,
        edge - decay * math.log(seen),
    )
    reach = 4.0
    while float(points.at(np.array([low])).degrees[0]) < DEEP * seen and reach < 3000.0:
        low, reach = low - reach, 2.0 * reach
    y = np.linspace(high, low, 2 * math.ceil((high - low) / coarse) + 2)
    return LimitCurve(points, seen, np.log(points.at(y).degrees), y)


def limit_for(inputs: Inputs, nu: FloatArray, coarse: float = 1.0) -> LimitCurve:
    """The layout that reaches the smallest of these shares, of few that are kept."""
    needed = math.ceil(-math.log10(float(nu.min())) + 0.5)
    return limit_curve(inputs, next(step for step in LADDER if step >= min(needed, LADDER[-1])), coarse)


def below_peak(inputs: Inputs, u: FloatArray) -> FloatArray:
    """log(F(t) (1 - t)) at u = log(t/(1-t)), t = N/K(D): the loss below the peak is C_N N^-alpha_N F(t).

    A smooth bounded function: zero for few features, a constant at the peak. ``collapse.scaling_function``
    is the same point by point.
    """
    nu = 1.0 / (1.0 + np.exp(-u))
    curve = limit_for(inputs, nu, coarse=2.0 * inputs.spectrum)
    unseen, edge = math.log(curve.points.unseen), math.log(inputs.model_constant())
    log_size = np.log(nu * curve.seen)
    return np.asarray(
        curve.log_excess(nu) + unseen + (inputs.spectrum - 1.0) * log_size - edge - np.log1p(np.exp(u))
    )
