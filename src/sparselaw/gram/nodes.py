"""The coordinates of activation inputs as nodes: a few hundred that stand for all of them, however many.

A node stands for ``weight`` coordinates of activity p and squared amplitude c, s = p c. Beyond the nodes of
a power law a coordinate is seen once or never; below those of the scaling limit it is seen so often that
its count is its mean.

Sums over j = 1, 2, ..., M cost the same whatever M is: the first HEAD terms are added one by one, and
beyond them a smooth function of log j is integrated by Gauss-Legendre panels in log j, with two
Euler-Maclaurin corrections at both ends (midpoint form: integrate from J + 1/2). Powers of j have closed
forms (``power_sum``, ``log_survival``).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np

from sparselaw.arrays import FloatArray

HEAD = 64  # coordinates added one by one, or
STEEP = 16.0  # times the steepest rate, where that is more
_PANEL = 3.0  # length of a panel times the steepest rate of change
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_OFFSETS = np.arange(-2.0, 3.0)  # of the places from which the corrections at the ends take derivatives
_SLOPE, _BEND, _THIRD = (
    np.array(row, float) for row in ([1, -8, 0, 8, -1], [-1, 16, -30, 16, -1], [-1, 2, 0, -2, 1])
)
_DELTA = 0.01  # their distance in log j, times the rate


@dataclass(frozen=True, slots=True)
class Nodes:
    """sum_j f(j) is approximately sum(weight * f(exp(log_j))) over the coordinates up to exp(log_end)."""

    log_j: FloatArray
    weight: FloatArray
    log_end: float

    @property
    def j(self) -> FloatArray:
        return np.asarray(np.exp(self.log_j), dtype=float)


def panels(start: float, stop: float, rate: float) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes y and weights on [start, stop] for functions that change at the given rate."""
    if stop <= start:
        return np.empty(0), np.empty(0)
    count = max(1, math.ceil((stop - start) * rate / _PANEL))
    edges = np.linspace(start, stop, count + 1)
    half = 0.5 * (edges[1] - edges[0])
    centres = 0.5 * (edges[1:] + edges[:-1])
    return (centres[:, None] + half * _NODES).ravel(), np.tile(half * _WEIGHTS, count)


def coordinate_nodes(dimension: float, log_reach: float, rate: float, first: int | None = None) -> Nodes:
    """Nodes for a sum over j <= min(dimension, exp(log_reach)), exact for the ``first`` coordinates.

    ``rate`` bounds how fast the summand changes with log j.
    """
    first = max(HEAD, math.ceil(STEEP * rate)) if first is None else first
    if dimension <= 2 * first:
        j = np.arange(1.0, dimension + 1.0)
        return Nodes(np.log(j), np.ones_like(j), math.log(dimension + 0.5))
    head = np.arange(1.0, first + 1.0)
    start = math.log(first + 0.5)
    end = math.log(dimension + 0.5) if math.isfinite(dimension) else math.inf
    stop = max(start, min(end, log_reach))
    y, w = panels(start, stop, rate)
    log_j, weight = [np.log(head), y], [np.ones_like(head), w * np.exp(y)]
    for place, sign in [(start, 1.0)] + ([(end, -1.0)] if stop == end else []):
        log_j.append(place + _DELTA / rate * _OFFSETS)
        weight.append(sign * _end_weights(place, _DELTA / rate))
    return Nodes(np.concatenate(log_j), np.concatenate(weight), stop)


def _end_weights(place: float, step: float) -> FloatArray:
    """The terms of Euler and Maclaurin at one end, from values ``step`` apart in y = log j.

    sum f = int f - [f'/24 - 7 f_3/5760] between midpoints, f_3 the third derivative: j f' = df/dy and j^3 f_3
    = (d^3 - 3 d^2 + 2 d) f/dy.
    """
    once, twice, thrice = _SLOPE / (12.0 * step), _BEND / (12.0 * step**2), _THIRD / (2.0 * step**3)
    per_j = math.exp(-place)
    third = thrice - 3.0 * twice + 2.0 * once
    return np.asarray(once * per_j / 24.0 - 7.0 * third * per_j**3 / 5760.0)


def power_integral(exponent: float, start: float, stop: float = math.inf) -> float:
    """int_start^stop e^(exponent * y) dy: any exponent, stop possibly infinite."""
    if stop <= start:
        return 0.0
    if math.isinf(stop):
        return -_exp(exponent * start) / exponent if exponent < 0 else math.inf
    width = exponent * (stop - start)
    if abs(width) < 1e-12:
        return (stop - start) * _exp(exponent * start)
    if width > 0:  # factor out the larger end, so that nothing overflows on the way
        return _exp(exponent * stop) * -math.expm1(-width) / exponent
    return _exp(exponent * start) * math.expm1(width) / exponent


def _exp(x: float) -> float:
    return math.exp(x) if x < 709.0 else math.inf


def log_unseen(p: FloatArray, D: FloatArray | float) -> FloatArray:
    """D log(1-p); -inf where p = 1."""
    inside = np.where(p >= 1.0, 0.5, p)
    return np.asarray(np.where(p >= 1.0, -np.inf, D * np.log1p(-inside)), dtype=float)


def unseen(p: FloatArray, D: FloatArray | float) -> FloatArray:
    """(1-p)^D."""
    return np.asarray(np.exp(log_unseen(p, D)), dtype=float)


def seen(p: FloatArray, D: FloatArray | float) -> FloatArray:
    """1 - (1-p)^D, which keeps coordinates so rare that it is next to nothing: there are as many more."""
    return np.asarray(-np.expm1(log_unseen(p, D)), dtype=float)


def resolved_edge(a: float) -> float:
    """int_0^inf dz / (1 + z^a) = (pi/a)/sin(pi/a): N features resolve k with N = edge * k^(-1/a)."""
    return (math.pi / a) / math.sin(math.pi / a)


LARGEST_WHOLE = 2.0**53  # beyond this, whole numbers are no longer told apart and sums are integrals


def log_survival(s: float, first: float, last: float) -> float:
    """Sum of -log(1 - j^-s) over j = first, ..., last: infinite where j = 1 is among them."""
    if last < first:
        return 0.0
    if first <= 1.0 or s == 0.0:
        return math.inf
    start = min(_smooth_from(first, s), last + 1.0)
    total = math.fsum(-math.log1p(-(j**-s)) for j in _whole(first, start))
    if start > last:
        return total
    # -log(1 - p) = p + p^2/2 + ...; the terms below 1e-18 of the first are left out.
    terms = 1 + math.ceil(42.0 / (s * math.log(start)))
    return total + math.fsum(power_sum(k * s, start, last) / k for k in range(1, terms + 1))


def power_sum(s: float, first: float, last: float) -> float:
    """Sum of j^-s over j = first, ..., last (last may be infinite where s > 1), to about 1e-14.

    Few terms directly, then Euler and Maclaurin's formula about midpoints:
    sum f(j) = [F - f'/24 + 7 f'''/5760 - 31 f'''''/967680] between first - 1/2 and last + 1/2.
    The integral is a difference of powers, written so that a narrow range loses no digits.

    >>> round(power_sum(2.0, 1.0, math.inf) - math.pi**2 / 6.0, 13)
    0.0
    """
    if last < first:
        return 0.0
    start = min(_smooth_from(first, s), last + 1.0)
    total = math.fsum(j**-s for j in _whole(first, start))
    if start > last:
        return total
    low = start - 0.5 if start < LARGEST_WHOLE else start
    return (
        total + _integral(s, low, last) - _edge(s, low) + (0.0 if math.isinf(last) else _edge(s, last + 0.5))
    )


def _integral(s: float, low: float, last: float) -> float:
    if math.isinf(last):
        return math.pow(low, 1.0 - s) / (s - 1.0)
    log_ratio = math.log1p((last + 0.5 - low) / low)
    if s == 1.0:
        return log_ratio
    return math.pow(low, 1.0 - s) * math.expm1((1.0 - s) * log_ratio) / (1.0 - s)


def _edge(s: float, x: float) -> float:
    """-f'/24 + 7 f'''/5760 - 31 f'''''/967680 for f = x^-s."""
    third = s * (s + 1.0) * (s + 2.0)
    fifth = third * (s + 3.0) * (s + 4.0)
    y = 1.0 / (x * x)
    return math.pow(x, -s - 1.0) * (s / 24.0 + y * (-7.0 * third / 5760.0 + y * 31.0 * fifth / 967680.0))


def _smooth_from(first: float, s: float) -> float:
    """Where the formula's next term is below 1e-16 of the sum's own terms."""
    return max(first, math.ceil(20.0 * (s + 2.0)))


def _whole(first: float, stop: float) -> list[float]:
    return [first + i for i in range(int(stop - first))] if first < LARGEST_WHOLE else []


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
    weight, log_p, log_c, once, faintest = _power_nodes(alpha1, alpha2, dimension, math.ceil(math.log(D)))
    p, (beyond, log_beyond, seen, unseen) = np.exp(log_p), once
    return CoordinateNodes(
        weight, D * p, p, log_c, log_p + log_c, D, D * beyond, log_beyond, D * seen, unseen, D * faintest
    )


@functools.lru_cache(maxsize=32)
def _power_nodes(
    alpha1: float, alpha2: float, dimension: float, log_most: int
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[FloatArray, FloatArray, float, float], float]:
    """Weights, log p and log c for up to exp(log_most) samples, and what one sample shows beyond them."""
    b = alpha2 + 1.0
    reach = (log_most - math.log(SEEN_AT_MOST_ONCE)) / (alpha1 + 1.0) if alpha1 > -1.0 else math.inf
    nodes = coordinate_nodes(dimension, reach, max(alpha1 + 1.0, abs(b), 1.0))
    ends = nodes.log_end, math.log(dimension + 0.5) if math.isfinite(dimension) else math.inf
    faintest = power_integral(b - alpha1, *ends) if ends[0] < ends[1] else 0.0
    return (
        nodes.weight,
        -(alpha1 + 1.0) * nodes.log_j,
        -b * nodes.log_j,
        _seen_once(alpha1, b, ends),
        faintest,
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
    weight, log_g, seen, unseen = _seen_once(alpha1, b, (far, math.inf))
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
    alpha1: float, b: float, ends: tuple[float, float]
) -> tuple[FloatArray, FloatArray, float, float]:
    """(weight, log g) of coordinates beyond the nodes, how many one sample shows, and their variance."""
    start, stop = ends
    if start >= stop:
        return _nothing(), _nothing(), 0.0, 0.0
    last = min(stop, start + SEEN_ONCE / alpha1) if alpha1 > 0.0 else stop
    last = min(last, start + FAINT / max(abs(b), 1e-9))
    y, w = panels(start, last, max(abs(alpha1), abs(b), 1e-3))
    weight, log_g = w * np.exp(-alpha1 * y), -b * y
    if last < stop:  # too faint, or too strong, to be told from their like: one atom
        weight = np.append(weight, power_integral(-alpha1, last, stop))
        log_g = np.append(log_g, -b * last)
    seen = power_integral(-alpha1, start, stop)
    return weight, log_g, seen, power_integral(-alpha1 - b, start, stop)
