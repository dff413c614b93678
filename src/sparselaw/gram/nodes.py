"""The coordinates of activation inputs as nodes: a few hundred that stand for all of them, however many.

A node stands for ``weight`` coordinates of activity p and squared amplitude c, s = p c. Beyond the nodes of
a power law a coordinate is seen once or never; below those of the scaling limit it is seen so often that
its count is its mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.constants import resolved_edge
from sparselaw.sums.coordinates import coordinate_nodes, panels, power_integral
from sparselaw.sums.unseen import log_unseen

SEEN_AT_MOST_ONCE = 1e-11  # mean count below which two sightings are neglected
FAINTEST = 1e-9  # below the nodes of the limit, fluctuations of the count and kappa/g are smaller than this
FAINT = 700.0  # in log g: farther, amplitudes are beyond all numbers
SEEN_ONCE = 45.0  # e-folds of the number of coordinates seen once that are kept


def _nothing() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True, slots=True)
class CoordinateNodes:
    """Nodes for D samples, and atoms (weight, log g) of coordinates that lie beyond them."""

    weight: FloatArray
    mean: FloatArray  # D p
    p: FloatArray  # zero where counts are Poisson
    log_c: FloatArray
    log_s: FloatArray
    D: float  # one in the scaling limit
    beyond: FloatArray = field(default_factory=_nothing)
    log_beyond: FloatArray = field(default_factory=_nothing)
    seen_beyond: float = 0.0  # coordinates
    unseen_beyond: float = 0.0  # variance
    inverse_beyond: float = 0.0  # sum of 1/g over those seen; may be infinite

    def seen(self) -> float:
        """E[K]: the expected number of coordinates seen at least once, the exact sum behind eq:K-of-D."""
        return float(self.weight @ -np.expm1(self._log_unseen())) + self.seen_beyond

    def seen_below(self, log_c: float) -> float:
        """The expected number of coordinates seen whose squared amplitude is below exp(log_c)."""
        below = self.log_c < log_c
        return float(self.weight[below] @ -np.expm1(self._log_unseen()[below]))

    def seen_variance(self) -> float:
        """Var[K]: coordinates are independent. Those seen once or never count as Poisson."""
        log_never = self._log_unseen()
        return max(float(self.weight @ (np.exp(log_never) * -np.expm1(log_never))) + self.seen_beyond, 0.0)

    def unseen_variance(self) -> float:
        """E of the variance of the coordinates never seen: the loss of an infinitely wide model."""
        return float((self.weight * np.exp(self.log_s)) @ np.exp(self._log_unseen())) + self.unseen_beyond

    def _log_unseen(self) -> FloatArray:
        return np.asarray(np.where(self.p > 1e-16, log_unseen(self.p, self.D), -self.mean))


def table_nodes(weight: FloatArray, p: FloatArray, c: FloatArray, D: float) -> CoordinateNodes:
    """Nodes of coordinates given one by one, or in groups of ``weight`` equal ones."""
    return CoordinateNodes(weight, D * p, p, np.log(c), np.log(p) + np.log(c), D)


def power_nodes(alpha1: float, alpha2: float, dimension: float, D: float) -> CoordinateNodes:
    """Nodes of p = j^-(alpha1+1), c = j^-(alpha2+1), j up to ``dimension``, which may be infinite."""
    b = alpha2 + 1.0
    reach = (math.log(D) - math.log(SEEN_AT_MOST_ONCE)) / (alpha1 + 1.0) if alpha1 > -1.0 else math.inf
    nodes = coordinate_nodes(dimension, reach, max(alpha1 + 1.0, abs(b), 1.0))
    log_p = -(alpha1 + 1.0) * nodes.log_j
    ends = nodes.log_end, math.log(dimension + 0.5) if math.isfinite(dimension) else math.inf
    return CoordinateNodes(
        nodes.weight,
        np.exp(math.log(D) + log_p),
        np.exp(log_p),
        -b * nodes.log_j,
        log_p - b * nodes.log_j,
        D,
        *_seen_once(alpha1, b, ends, math.log(D)),
        power_integral(b - alpha1, *ends, math.log(D)) if ends[0] < ends[1] else 0.0,
    )


def limit_nodes(alpha1: float, alpha2: float, xi: float) -> CoordinateNodes:
    """The scaling limit at D^(1/(alpha1+1)) = xi N: j is replaced by z = j/J, Binomial counts by Poisson
    ones.
    """
    a, b = alpha1 + alpha2 + 2.0, alpha2 + 1.0
    faint = math.log(FAINTEST)
    near = min(faint / (alpha1 + 1.0), faint / a - math.log(max(resolved_edge(a) * xi, 1.0)))
    far = -math.log(SEEN_AT_MOST_ONCE) / (alpha1 + 1.0)
    y, w = panels(near, far, max(alpha1 + 1.0, abs(b), 1.0))
    weight, log_g, seen, unseen = _seen_once(alpha1, b, (far, math.inf), 0.0)
    below, w_below = panels(near - 37.0, near, a + 1.0)  # g = D s there, and nothing is unseen
    return CoordinateNodes(
        w * np.exp(y),
        np.exp(-(alpha1 + 1.0) * y),
        np.zeros_like(y),
        -b * y,
        -a * y,
        1.0,
        np.concatenate([weight, w_below * np.exp(below)]),
        np.concatenate([log_g, -a * below]),
        seen + math.exp(near),
        unseen,
    )


def _seen_once(
    alpha1: float, b: float, ends: tuple[float, float], log_D: float
) -> tuple[FloatArray, FloatArray, float, float]:
    """(weight, log g) of coordinates beyond the nodes, how many are seen, and their variance."""
    start, stop = ends
    if start >= stop:
        return _nothing(), _nothing(), 0.0, 0.0
    last = min(stop, start + SEEN_ONCE / alpha1) if alpha1 > 0.0 else stop
    last = min(last, start + FAINT / max(abs(b), 1e-9))
    y, w = panels(start, last, max(abs(alpha1), abs(b), 1e-3))
    weight, log_g = w * np.exp(log_D - alpha1 * y), -b * y
    if last < stop:  # too faint, or too strong, to be told from their like: one atom
        weight = np.append(weight, power_integral(-alpha1, last, stop, log_D))
        log_g = np.append(log_g, -b * last)
    seen = power_integral(-alpha1, start, stop, log_D)
    return weight, log_g, seen, power_integral(-alpha1 - b, start, stop)
