"""The rank of D samples of rare activations: where the double-descent peak really stands.

K coordinates are seen, but those that only share samples cannot be told apart, and the rank of the data stays
below K and below D. For independent activations the bipartite graph of coordinates and samples is locally a
tree, and its rank follows from peeling leaves: rho is the probability that a sample holds no coordinate that
its other samples leave open. With rho_i the same without coordinate i,

    rho = prod_i (1 - p_i q_i),    q_i = (1 - p_i rho_i)^(D-1),    rho_i = rho/(1 - p_i q_i),
    r = sum_i [1 - (1 - p_i rho_i)^D] + D (1 - rho) - D sum_i p_i q_i rho_i,

less what loops take away, up to 0.5 (``loops``), for the graph is no tree. A loop
of L samples and L coordinates matters only where leaves peel off everything around it: coordinate i is left
open by its D-2 other samples, z_i = (1 - p_i rho_i)^(D-2), and no other coordinate of a sample is open. The
rank of a chain so peeled is the number of its nodes plus a sum over windows of m neighbours, (-1)^m times the
product of their z, each of which is also in the tree of the same messages; of a closed loop what is left over
is the one window of all 2L. In the sum over the loop less all ways to cut it at nodes everything else
cancels, and with kappa_i = p_i q_i, pi_i = p_i rho_i, a loop adds to the mean rank

    prod_i g_i/D (sum_i h_i - 1/2),   g_i = D p_i^2 z_i rho/(1 - kappa_i)^2,
    h_i = (1 - pi_i)^D + rho + 2 pi_i kappa_i - 1.

The -1/2 is that of signs: a closed loop of +-1 is singular in half of all draws (with continuous activations
it never is). A loop has L samples and L different coordinates in one of 2L orders:

    sum_{L>=2} 1/(2L) sum_{i_1 != ... != i_L} prod g = 1/2 int_0^inf e^-t dt/t [prod_i (1 + t g_i) - 1 - t G],

G = sum g. At many samples G falls as D^(-alpha1/(alpha1+1)), and the correction as its square.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.nodes import seen, unseen

FEW_SEEN = 0.5  # coordinates seen for each sample, up to which every one of them counts


@dataclass(frozen=True, slots=True)
class Rank:
    """The mean rank and its standard deviation over data sets."""

    mean: float
    sd: float
    free: float  # rho
    loops: float = 0.0  # what they add to the mean


def expected_rank(weight: FloatArray, p: FloatArray, D: float) -> Rank:
    """The rank of D samples, given coordinates (weight, p).

    Where samples show many coordinates there are two fixed points, one where every coordinate seen counts and
    one where every sample does: the rank is the lesser of the two.
    """
    starts = [unseen(p, D - 1.0)]
    if float(weight @ seen(p, D)) > FEW_SEEN * D:
        starts.append(np.ones_like(p))
    rank, rho, q = min((_fixed_point(weight, p, D, start) for start in starts), key=lambda found: found[0])
    variance = _variance(weight, p, D, rho, q)
    looped = loops(weight, p, D, rho, q)
    looped /= 1.0 + abs(looped)  # loops that share nodes take away less than each on its own
    mean = min(rank + looped, float(weight @ seen(p, D)), D)
    return Rank(mean, math.sqrt(variance), rho, looped)


def _fixed_point(
    weight: FloatArray, p: FloatArray, D: float, q: FloatArray
) -> tuple[float, float, FloatArray]:
    """From the least q, (1-p)^(D-1), every q rises; from the largest, one, every q falls.

    The steps shrink by one factor in the end, so that every third goes where they lead (Aitken).
    """
    rho = math.nan
    rises = bool(q[0] < 1.0)
    steps: list[FloatArray] = []
    for _ in range(2000):
        log_miss = np.log1p(-np.minimum(p * q, 1.0 - 1e-16))
        total = float(weight @ log_miss)
        rho_i = np.exp(np.minimum(total - log_miss, 0.0))
        moved, rho = abs(math.exp(total) - rho), math.exp(total)
        if moved < 1e-13:
            break
        new = unseen(np.minimum(p * rho_i, 1.0), D - 1.0)
        steps.append(new - q)
        q = new
        if len(steps) == 3:
            ratio = float(steps[2] @ steps[1]) / max(float(steps[1] @ steps[1]), 1e-300)
            if 0.0 < ratio < 0.98:
                q = q + steps[2] * (ratio / (1.0 - ratio))
                q = np.clip(q, new, 1.0) if rises else np.clip(q, 0.0, new)
            steps = []
    resolved = float(weight @ seen(np.minimum(p * rho_i, 1.0), D))
    return resolved + D * (1.0 - rho) - D * float(weight @ (p * q * rho_i)), rho, q


def _variance(weight: FloatArray, p: FloatArray, D: float, rho: float, q: FloatArray) -> float:
    """Var r = d/dy of the mean under the weight e^{yr}, at y = 0, for many samples.

    With e = e^y the same tree has A_i = (1 - p_i rho_i)^(D-1), B_i = prod_{j != i} (1 - p_j q_j), q_i =
    A_i/(A_i + e (1-A_i)) and rho_i = B_i/(B_i + e (1-B_i)); the mean of e^{yr} is stationary in both. Their
    slopes along y: with t_i = p_i dq_i/(1 - p_i q_i) all follow from T = sum t_i, which is linear in itself.
    """
    kappa = np.minimum(p * q, 1.0 - 1e-16)
    rho_i = np.minimum(rho / (1.0 - kappa), 1.0)
    left = np.maximum(1.0 - p * rho_i, 1e-16)
    u, v = (D - 1.0) * p / left, p / (1.0 - kappa)
    gain = v * q * u * rho_i
    closed = seen(np.minimum(p * rho_i, 1.0), D - 1.0)  # 1 - q
    own = v * q * (u * rho_i * (1.0 - rho_i) - closed) / (1.0 + gain)
    total = float(weight @ own) / max(1.0 - float(weight @ (gain / (1.0 + gain))), 1e-3)
    slope_rho = -rho_i * (total - (gain / (1.0 + gain) * total + own)) - rho_i * (1.0 - rho_i)
    slope_q = -q * (u * slope_rho + closed)
    miss, met = (of(np.minimum(p * rho_i, 1.0), D) for of in (unseen, seen))
    coordinates = float(weight @ (miss * met + miss * D * p / left * slope_rho))
    samples = D * (rho * (1.0 - rho) + rho * total)
    both = p * q * rho_i
    shared = D * float(weight @ (both * (1.0 - both) + p * (slope_q * rho_i + q * slope_rho)))
    return max(coordinates + samples - shared, 0.0)


POINTS = 24  # of Gauss's quadrature in t: exact for loops of up to 48 samples
LEAST_LOOPS = 1e-9  # loops through a coordinate, below which it is left out


def loops(weight: FloatArray, p: FloatArray, D: float, rho: float, q: FloatArray) -> float:
    """What loops add to the mean rank at the fixed point (rho, q): negative where it matters."""
    if D < 2.0:
        return 0.0
    kappa = np.minimum(p * q, 1.0 - 1e-16)
    pi = np.minimum(p * np.minimum(rho / (1.0 - kappa), 1.0), 1.0 - 1e-16)
    g = D * p**2 * unseen(pi, D - 2.0) * rho / (1.0 - kappa) ** 2
    h = unseen(pi, D) + rho + 2.0 * pi * kappa - 1.0
    kept = weight * g > LEAST_LOOPS * max(float(weight @ g), 1e-300)
    weight, g, h = weight[kept], g[kept], h[kept]
    if not float(weight @ g) > 1e-6:
        return 0.0
    t, gauss = _laguerre()
    tg = np.multiply.outer(t, g)
    together = np.exp(np.log1p(tg) @ weight)
    each = (together[:, None] * tg / (1.0 + tg) - tg) @ (weight * h)
    closed = together - 1.0 - tg @ weight
    return float(0.5 * (gauss / t) @ (each - 0.5 * closed))


@functools.cache
def _laguerre() -> tuple[FloatArray, FloatArray]:
    t, gauss = np.polynomial.laguerre.laggauss(POINTS)
    return np.asarray(t), np.asarray(gauss)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoActivation:
    """Rare coordinates that were seen once, in the same sample, so that only their sum was seen."""

    once: float  # expected number of coordinates seen exactly once
    pairs: float  # expected number of pairs among them that share their one sample, exact
    variance: float  # the variance those pairs leave unexplained, each pair on its own
    share: float  # that variance relative to the unseen variance


def pairs(weight: FloatArray, p: FloatArray, c: FloatArray, D: float, never: float) -> CoActivation:
    """Count co-activations of coordinates (weight, p, c) in D samples that leave the variance ``never``
    unseen.

    Coordinates i and j, each seen once and in the same sample, have probability D p_i p_j
    ((1-p_i)(1-p_j))^(D-1). The sample fixes one combination of the two weights; the other leaves the
    variance c_i c_j (p_i + p_j) / (c_i + c_j).
    """
    missed = np.ones_like(p) if D == 1 else unseen(p, D - 1.0)
    alone = D * p * missed  # probability of being seen exactly once
    kept = alone > 1e-12
    p, c, alone, weight = p[kept], c[kept], alone[kept], weight[kept]
    seen_once = weight * alone
    once = float(np.sum(seen_once))
    met = max(0.0, (once**2 - float(seen_once @ alone)) / (2.0 * D))
    both = float((seen_once * c * p) @ (1.0 / np.add.outer(c, c)) @ (seen_once * c))
    variance = max(0.0, (both - 0.5 * float(np.sum(seen_once * alone * c * p))) / D)
    return CoActivation(
        once=once, pairs=met, variance=variance, share=variance / never if never > 0.0 else 0.0
    )
