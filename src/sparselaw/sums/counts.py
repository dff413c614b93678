"""The sums over coordinates from which the loss surface is made, as functions of the cut-off k.

With n_j the number of times coordinate j was seen in D samples, g_j = n_j c_j and q_j = k / c_j:

    resolved  = E sum_j g_j^2 / (g_j + k)^2
    partial   = E sum_j g_j k / (g_j + k)^2           (so that E sum g/(g+k) = resolved + partial)
    lost      = E sum_j s_j k^2 / (g_j + k)^2         (variance the readout cannot see)
    noise     = E sum_j s_j g_j / (g_j + k)^2         (what label noise of variance one adds)

``CountSums`` adds over coordinates given as nodes. ``PowerCountSums`` adds what lies beyond the nodes of a
power law: coordinates beyond ``log_far`` are seen at most once, with probability m_j, and have closed forms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.constants import resolved_edge
from sparselaw.sums.coordinates import HEAD, coordinate_nodes, panels, power_integral
from sparselaw.sums.count_nodes import CELL, LARGEST, cells
from sparselaw.sums.count_points import CountPoints, lay_out
from sparselaw.sums.occupancy import occupancy, seen_probability, unseen_probability

SEEN_AT_MOST_ONCE = 1e-11  # mean count below which two sightings are neglected
QUICK_HEAD = 48
_NEAR = 1e-9  # below the nodes of the limit, fluctuations of the count and k/g are smaller than this
_LOGISTIC = 40.0  # beyond this distance in log q, q/(1+q) is 0 or 1 to rounding


@dataclass(frozen=True, slots=True)
class Sums:
    resolved: float
    partial: float
    lost: float
    noise: float

    @property
    def degrees(self) -> float:
        """E sum g/(g+k): how many coordinates the readout resolves."""
        return self.resolved + self.partial


@dataclass(frozen=True, slots=True)
class CountSums:
    """Nodes prepared once; the sums may then be asked for at many cut-offs.

    Node i stands for weight_i coordinates of mean count ``mean`` = D p and squared amplitude c.
    """

    weight: FloatArray
    mean: FloatArray  # D p_j
    p: FloatArray  # zero where counts are Poisson
    activity: FloatArray  # p_j up to the units of the mean: s_j = activity c_j
    log_c: FloatArray
    log_s: FloatArray
    log_samples: float  # log D, 0 in the scaling limit

    def at(self, log_k: float) -> Sums:
        """The sums at cut-off k = exp(log_k)."""
        log_q = log_k - self.log_c
        o = occupancy(self.mean, self.p, log_q)
        q_inverse = np.exp(np.minimum(log_q, 700.0)) * o.inverse
        variance = self.weight * np.exp(self.log_s)
        return Sums(
            resolved=float(self.weight @ o.resolved),
            partial=float(self.weight @ q_inverse),
            lost=float(variance @ o.lost),
            noise=float(self.weight @ (self.activity * o.inverse)),
        )

    def points(self) -> CountPoints:
        """The counts laid out, for the sums at many cut-offs."""
        weight, mean, p, log_c = self.weight, self.mean, self.p, self.log_c
        s, D = np.exp(self.log_s), math.exp(self.log_samples)
        if p.size > LARGEST:  # a table: coordinates that hardly differ are put together
            weight, p, c = cells(weight, p, np.exp(log_c), np.full(p.size, CELL))
            mean, log_c, s = D * p, np.log(c), p * c
        met = seen_probability(mean, p)
        return CountPoints(*lay_out(weight, mean, p, log_c, s, met, D), unseen=self.unseen_variance())

    def seen(self) -> float:
        """E[K]: the expected number of coordinates seen at least once, the exact sum behind eq:K-of-D."""
        return float(self.weight @ seen_probability(self.mean, self.p))

    def seen_below(self, log_c: float) -> float:
        """The expected number of coordinates seen whose squared amplitude is below exp(log_c)."""
        below = self.log_c < log_c
        return float(self.weight[below] @ seen_probability(self.mean[below], self.p[below]))

    def seen_variance_of_count(self) -> float:
        """Var[K]: the coordinates are independent. Where all are seen, rounding may leave less than zero."""
        unseen, seen = unseen_probability(self.mean, self.p), seen_probability(self.mean, self.p)
        return max(float(self.weight @ (unseen * seen)), 0.0)

    def unseen_variance(self) -> float:
        """E sum of s_j over the coordinates never seen: the loss of an infinitely wide model."""
        unseen = unseen_probability(self.mean, self.p)
        return float((self.weight * np.exp(self.log_s)) @ unseen)

    def inverse_gram_trace(self) -> float:
        """E sum over the seen coordinates of 1/g_j: how label noise grows when N > K. May be infinite."""
        o = occupancy(self.mean, self.p, np.full_like(self.mean, -np.inf))
        return float(self.weight @ (np.exp(-self.log_c) * o.inverse))

    def noise_ridgeless(self) -> float:
        """E sum of s_j/g_j over the seen coordinates: the noise sum at k = 0."""
        o = occupancy(self.mean, self.p, np.full_like(self.mean, -np.inf))
        return float(self.weight @ (self.activity * o.inverse))

    def first_cutoff(self, N: float) -> float:
        """Where to look for log k such that N coordinates are resolved: that of the N-th in size."""
        strength = np.sort(self.log_s)[::-1]
        return self.log_samples + float(strength[min(int(N), strength.size - 1)])


@dataclass(frozen=True, slots=True)
class PowerCountSums(CountSums):
    """The sums of p_j = j^-(alpha1+1), c_j = j^-(alpha2+1), with what lies beyond the nodes.

    ``near`` is the lower end of the nodes in the scaling limit (log z), below which every coordinate is
    seen so often that g_j = D s_j.
    """

    alpha1: float
    alpha2: float
    log_far: float  # inf: no coordinate beyond the nodes
    near: float | None = None

    def beyond(self, log_k: float) -> tuple[float, float, float]:
        """What the coordinates beyond the nodes, on either side, add to resolved, partial and lost."""
        resolved, partial = self._far(log_k)
        lost = self._far_variance()
        if self.near is not None:
            z, near_ratio = math.exp(self.near), math.exp(log_k + self._a * self.near)
            partial += z * near_ratio / (self._a + 1.0)
            resolved += z * (1.0 - 2.0 * near_ratio / (self._a + 1.0))
            lost += math.exp(2.0 * log_k + (self._a + 1.0) * self.near) / (self._a + 1.0)
        return resolved, partial, lost

    def at(self, log_k: float) -> Sums:
        nodes = CountSums.at(self, log_k)
        far_resolved, far_partial = self._far(log_k)
        resolved, partial = nodes.resolved + far_resolved, nodes.partial + far_partial
        lost, noise = nodes.lost + self._far_variance(), nodes.noise
        if self.near is not None:  # g = D s exactly: g/(g+k) = 1 - k z^a, and so on
            z, near_ratio = math.exp(self.near), math.exp(log_k + self._a * self.near)
            partial += z * near_ratio / (self._a + 1.0)
            resolved += z * (1.0 - 2.0 * near_ratio / (self._a + 1.0))
            lost += math.exp(2.0 * log_k + (self._a + 1.0) * self.near) / (self._a + 1.0)
            noise += z
        return Sums(resolved, partial, lost, noise)

    def points(self) -> CountPoints:
        """Beyond the nodes a coordinate is seen once or never; below ``near`` g = D s, and none is lost."""
        found = CountSums.points(self)
        weight, log_g, variance = [found.weight], [found.log_g], [found.variance]
        if self._has_far:
            b = self.alpha2 + 1.0
            y, w = panels(self.log_far, self.log_far + 45.0 / self.alpha1, max(self.alpha1, abs(b)))
            weight.append(w * np.exp(self.log_samples - self.alpha1 * y))
            log_g.append(-b * y)
            variance.append(np.zeros_like(y))
        if self.near is not None:
            y, w = panels(self.near - 37.0, self.near, self._a + 1.0)
            weight.append(w * np.exp(y))
            log_g.append(-self._a * y)
            variance.append(np.zeros_like(y))
        return CountPoints(
            np.concatenate(weight), np.concatenate(log_g), np.concatenate(variance), found.unseen
        )

    def seen(self) -> float:
        far = self._far_count() * power_integral(-self.alpha1, self.log_far) if self._has_far else 0.0
        return CountSums.seen(self) + far + (math.exp(self.near) if self.near is not None else 0.0)

    def seen_variance_of_count(self) -> float:
        far = self._far_count() * power_integral(-self.alpha1, self.log_far) if self._has_far else 0.0
        return CountSums.seen_variance_of_count(self) + far

    def unseen_variance(self) -> float:
        return CountSums.unseen_variance(self) + self._far_variance()

    def inverse_gram_trace(self) -> float:
        total = CountSums.inverse_gram_trace(self)
        if self._has_far:
            total += self._far_count() * power_integral(self.alpha2 + 1.0 - self.alpha1, self.log_far)
        return total

    def first_cutoff(self, N: float) -> float:
        """Exact for D -> infinity, where g_j = D s_j."""
        return self.log_samples - self._a * math.log(N / resolved_edge(self._a))

    @property
    def _a(self) -> float:
        return self.alpha1 + self.alpha2 + 2.0

    @property
    def _has_far(self) -> bool:
        return math.isfinite(self.log_far)

    def _far_count(self) -> float:
        """The mean count beyond log_far is this times j^-(alpha1+1)."""
        return math.exp(self.log_samples)

    def _far_variance(self) -> float:
        return power_integral(1.0 - self._a, self.log_far) if self._has_far else 0.0

    def _far(self, log_k: float) -> tuple[float, float]:
        """sum of m_j/(1+q_j)^2 and of m_j q_j/(1+q_j)^2 over the far coordinates."""
        if not self._has_far:
            return 0.0, 0.0
        a1, b, y0 = self.alpha1, self.alpha2 + 1.0, self.log_far
        scale = self._far_count()
        if abs(b) * (45.0 / a1) < 1e-9:  # q is constant over everything that counts
            q = math.exp(min(log_k + b * y0, 700.0))
            total = scale * power_integral(-a1, y0)
            return total / (1.0 + q) ** 2, total * q / (1.0 + q) ** 2
        # q = exp(log_k + b y) passes through one between two places
        edges = sorted([(-_LOGISTIC - log_k) / b, (_LOGISTIC - log_k) / b])
        first, last = max(y0, edges[0]), max(y0, edges[1])
        resolved = partial = 0.0
        for start, stop, seen_side in ((y0, first, b > 0), (last, math.inf, b < 0)):
            # q << 1 on the seen side: 1 and q; on the other side: q^-2 and q^-1
            for_resolved, for_partial = (0.0, 1.0) if seen_side else (-2.0, -1.0)
            resolved += power_integral(for_resolved * b - a1, start, stop, for_resolved * log_k)
            partial += power_integral(for_partial * b - a1, start, stop, for_partial * log_k)
        y, w = panels(first, min(last, first + 45.0 / a1), max(a1, abs(b)))
        ratio = np.exp(log_k + b * y)
        density = w * np.exp(-a1 * y) / (1.0 + ratio) ** 2
        return scale * (resolved + float(np.sum(density))), scale * (partial + float(density @ ratio))


def power_count_sums(
    alpha1: float, alpha2: float, dimension: float, D: float, *, quick: bool = False
) -> PowerCountSums:
    """Prepare the sums for D samples of sparse inputs, M finite or infinite.

    The ``quick`` ones integrate from the 48th coordinate on: a third of the nodes, good to 1e-7.
    """
    b = alpha2 + 1.0
    rate = max(alpha1 + 1.0, abs(b), 1.0)
    reach = (math.log(D) - math.log(SEEN_AT_MOST_ONCE)) / (alpha1 + 1.0) if alpha1 > -1.0 else math.inf
    nodes = coordinate_nodes(dimension, reach, rate, max(QUICK_HEAD, round(12.0 * rate)) if quick else HEAD)
    p = np.exp(-(alpha1 + 1.0) * nodes.log_j)
    return PowerCountSums(
        weight=nodes.weight,
        mean=D * p,
        p=p,
        activity=p,
        log_c=-b * nodes.log_j,
        log_s=-(alpha1 + alpha2 + 2.0) * nodes.log_j,
        log_samples=math.log(D),
        alpha1=alpha1,
        alpha2=alpha2,
        log_far=nodes.log_end if nodes.log_end < math.log(dimension + 0.5) else math.inf,
    )


def continuum_sums(alpha1: float, alpha2: float, xi: float) -> PowerCountSums:
    """The sums of the scaling limit: j replaced by z = j/J, Binomial counts by Poisson ones."""
    a, b = alpha1 + alpha2 + 2.0, alpha2 + 1.0
    near = min(
        math.log(_NEAR) / (alpha1 + 1.0), math.log(_NEAR) / a - math.log(max(resolved_edge(a) * xi, 1.0))
    )
    far = -math.log(SEEN_AT_MOST_ONCE) / (alpha1 + 1.0)
    y, w = panels(near, far, max(alpha1 + 1.0, abs(b), 1.0))
    mean = np.exp(-(alpha1 + 1.0) * y)
    return PowerCountSums(
        weight=w * np.exp(y),
        mean=mean,
        p=np.zeros_like(y),
        activity=mean,
        log_c=-b * y,
        log_s=-a * y,
        log_samples=0.0,
        alpha1=alpha1,
        alpha2=alpha2,
        log_far=far,
        near=near,
    )
