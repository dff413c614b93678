"""The loss of N nonlinear features trained on all the data there are (D infinite).

N features span a random subspace of the functions of a sample. With K_t the kernel of units of type t and w_t
their share, what is left of a function outside of it is on average

    r = (I + N sum_t w_t K_t / tau_t)^-1,    tau_t = tr(K_t r),

in every sector of parity. The target lies in the sectors of one coordinate, where the kernel has one
eigenvalue, slope^2 s_j E[u_j^2 | t], so that loss = sum_j s_j r_j. Without types this is T_lin + T_even = N,
T = sum l/(l + nu) over the eigenvalues l of the kernel.

The next order in 1/N, for Gaussian features: with f = 1 - r, B = sum f^2, C = sum f^3 over all sectors r_j
becomes r_j [1 - f_j (B - C)/(N - B)^2 + f_j^2/(N - B)], which leaves sum f = N.

Few features lose more by the chance of their signs: of N units, not just half look at coordinate 1 with
either sign. A unit with u_1 > 0 is on, mostly, where x_1 > 0: those samples have the units of that sign to
themselves. With N/2 + d of them on one side and N/2 - d on the other the loss is larger on average. In
numbers: units of type t, of share w_t, have signs of u_1 that sum to N e_t, of variance w_t/N. Given the sign
their kernel is K_t + A_t or K_t - A_t, where A_t joins functions of either parity: each coordinate with the
even functions of its sector. To second order in e, with a_t = N/tau_t and tau_t (1 + h_t), tau_t (1 - h_t)
for either sign,

    M = sum_t a_t g_t A_t,    g = e - w h,    tau_t h_t = -tr(A_t r M r),
    d r = r M r M r - r (sum_t c_t K_t) r,
    c_t = a_t [w_t (h_t^2 - d_t) - e_t h_t],    tau_t d_t = tr(K_t d r),

and the loss grows by sum_j s_j (d r)_jj (``sign_imbalance``). It is of order 1/N, and zero for odd features,
for which -u is as good as u.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.gaussian import population
from sparselaw.gram.law import Atoms
from sparselaw.inputs import Inputs
from sparselaw.nonlinear.sector_tables import Group, SectorTable, Types

UNSURE = 0.15  # relative error of a decade that is continued
EVERY_NUMBER = 24.0  # up to which every number of features has its own value
STEPS = 60
TAU_TOLERANCE = 1e-5  # of tau, relative
MEMORY = 5  # steps that the acceleration looks back


@dataclass(frozen=True, slots=True, kw_only=True)
class NonlinearLimit:
    """The loss where one size alone matters."""

    size: float  # N or D
    loss: float
    error: float  # relative, estimated
    linear: float  # how many directions are spent on the coordinates; of data, on all functions
    beyond: float = 0.0  # the largest size with a table, where this one is continued from there

    def continued(self, half: NonlinearLimit, size: float) -> NonlinearLimit:
        """At a larger size, by the exponent between ``half`` and this one."""
        more = size / self.size
        steps = math.log(self.size / half.size)
        return NonlinearLimit(
            size=size,
            loss=self.loss * math.pow(more, -math.log(half.loss / self.loss) / steps),
            error=self.error + UNSURE * math.log10(more),
            linear=self.linear * math.pow(more, math.log(self.linear / half.linear) / steps),
            beyond=self.size,
        )


def between_nodes(limit: Callable[[float], NonlinearLimit], N: float) -> NonlinearLimit:
    """The limit at N, from those at the two nodes about it: straight in logarithms.

    Every number up to EVERY_NUMBER is a node; beyond, they are 2^(k/2), rounded. A point is the same alone
    and in a list, and a list of many sizes asks for few nodes. The limit itself is within 0.7 % of it.
    """
    low, high = _nodes(N)
    one = limit(low)
    if low == high:
        return one
    two, share = limit(high), math.log(N / low) / math.log(high / low)
    values = [(one.loss, two.loss), (one.error, two.error), (one.linear, two.linear)]
    if min(min(pair) for pair in values) <= 0.0:  # so many features that nothing is left
        return limit(N)
    loss, error, linear = (a * math.pow(b / a, share) for a, b in values)
    beyond = two.beyond if N > two.beyond else 0.0
    return NonlinearLimit(size=N, loss=loss, error=error, linear=linear, beyond=beyond)


def _nodes(N: float) -> tuple[float, float]:
    """The nodes about N.

    >>> _nodes(17.0), _nodes(30.0), _nodes(64.0), _nodes(100.0)
    ((17.0, 17.0), (24.0, 32.0), (64.0, 64.0), (91.0, 128.0))
    """
    if N <= EVERY_NUMBER:
        return N, N
    k = math.floor(2.0 * math.log2(N))
    around = sorted({EVERY_NUMBER, *(float(round(2.0 ** (0.5 * i))) for i in (k - 1, k, k + 1, k + 2))})
    low = max(node for node in around if node <= N)
    return low, (N if low == N else min(node for node in around if node > N))


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthLimit:
    loss: float
    cutoff: float  # nu: features resolve directions of the kernel above it
    linear: float  # T_lin: how many of N are spent on coordinates; the others on even functions
    correction: float  # of order 1/N, relative, part of the loss
    signs: float = 0.0  # what the signs of u_1 add, relative, not part of it (``sign_imbalance``)


def width_limit(
    inputs: Inputs,
    table: SectorTable,
    N: float,
    even_weight: float = 1.0,
    missing: float = 0.0,
    cutoff: float | None = None,
    signs: bool = False,
) -> WidthLimit:
    """``even_weight`` is (kink/slope)^2; ``missing`` the share of T_even that the table leaves out.

    ``cutoff`` is where to start; ``signs``: whether to find what their imbalance adds, where the table knows
    it.
    """
    weights, groups = table.types.weights, table.groups
    coordinates = None if table.has_targets else _Coordinates(inputs, table.types, N)

    def resolved(log_tau: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """N w/tau, and r in the sectors of the table."""
        pull = N * weights * np.exp(-log_tau.reshape(weights.shape))
        means = (even_weight * group.mean(pull) for group in groups)
        return pull, [np.asarray(np.linalg.inv(np.eye(mean.shape[1]) + mean)) for mean in means]

    def step(log_tau: FloatArray) -> FloatArray:
        """log tr(K_t r)."""
        pull, resolvents = resolved(log_tau)
        total = coordinates.traces(pull) if coordinates else np.zeros(pull.shape)
        for group, r in zip(groups, resolvents, strict=True):
            total = total + even_weight * (1.0 + missing) * group.products(r)
        return np.asarray(np.log(total).ravel())

    log_tau = _fixed_point(step, np.full(weights.size, math.log(N * (cutoff or table.cutoff))))
    pull, resolvents = resolved(log_tau)
    sums = np.zeros(6)
    if coordinates:
        sums += coordinates.sums(pull)
    else:
        sums[0] = total_variance(inputs)
    for group, r in zip(groups, resolvents, strict=True):
        F = np.eye(r.shape[1]) - r
        alike, square = (1.0 + missing) * group.alike, F @ F
        sums[4] += alike @ np.trace(square, axis1=1, axis2=2)
        sums[5] += alike @ np.einsum("cij,cji->c", square, F)
        if group.target is not None:
            sums[:4] += _target_sums(group.alike, group.target, F)
    plain, once, twice, linear, B, C = sums.tolist()
    free = max(N - B, 1.0)
    correction = (twice / free - once * (B - C) / free**2) / plain
    uneven = 0.0
    if signs and coordinates and all(group.along is not None for group in groups):
        straight, pairs = coordinates.straight(pull), list(zip(groups, resolvents, strict=True))
        uneven = sign_imbalance(N, weights.ravel(), np.exp(log_tau), *straight, pairs, even_weight, missing)
    loss = plain * (1.0 + correction)
    return WidthLimit(
        loss=loss, cutoff=1.0 / float(pull.sum()), linear=linear, correction=correction, signs=uneven / loss
    )


# Of both kinds of coordinates the same sums, with f = 1 - r: sum_j s_j r_j, the same with a factor f_j, and
# with f_j^2; sum f_j; and B and C.


def _target_sums(alike: FloatArray, target: FloatArray, F: FloatArray) -> FloatArray:
    """The first four, beyond sum_j s_j: coordinates x_j as vectors of length s_j^(1/2); F is I - r."""
    one = np.einsum("cij,cj->ci", F, target)
    two = np.einsum("cij,cj->ci", F, one)
    f, f2, f3 = (np.sum(x * y, axis=1) for x, y in ((target, one), (one, one), (one, two)))
    size = np.maximum(np.sum(target**2, axis=1), 1e-300)
    return np.asarray(np.stack([-f, f - f2, f2 - f3, f / size]) @ alike)


@functools.lru_cache(maxsize=64)
def _variances(inputs: Inputs, size: float) -> Atoms:
    return population(inputs.power_law().spectrum, inputs.dimension, size)


def degrees(inputs: Inputs, size: float, k: float) -> FloatArray:
    """Sums of f, f^2 and f^3 over coordinates, f = v/(v + k); k is near that of ``size`` directions."""
    at = _variances(inputs, size).at(np.array([math.log(k * size)]))
    return np.concatenate([at.S, at.S - at.P, at.S - at.P - at.Q])


def total_variance(inputs: Inputs) -> float:
    """tr Sigma, the loss before any training."""
    atoms = inputs.population(1.0)
    return float(atoms.variance.sum()) + atoms.unseen


class _Coordinates:
    """The sectors of one coordinate where the odd part of f is linear: one eigenvalue each, s_j/4."""

    def __init__(self, inputs: Inputs, types: Types, N: float) -> None:
        self.inputs, self.N = inputs, N
        typed = [(1.0, types.nodes[0][:, None])] * types.first
        typed += [(float(types.other), types.nodes[1][None, :])] * (types.other > 0)
        self.s = inputs.variances(np.array([j for j, _ in typed]))
        shape = types.weights.shape
        self.squares = np.array([np.broadcast_to(u**2, shape) for _, u in typed]).reshape(-1, *shape)

    def resolved(self, pull: FloatArray) -> tuple[FloatArray, float, FloatArray]:
        """r_j of the coordinates that have types, k of the others, and sums of f, f^2 and f^3 over those."""
        r = 1.0 / (1.0 + 0.25 * self.s * np.tensordot(self.squares, pull, 2))
        k = 4.0 / float(pull.sum())
        own = self.s / (self.s + k)
        return r, k, degrees(self.inputs, self.N, k) - np.stack([own, own**2, own**3]).sum(axis=1)

    def traces(self, pull: FloatArray) -> FloatArray:
        """tr(K_t r) over them."""
        r, k, rest = self.resolved(pull)
        found: FloatArray = 0.25 * (np.tensordot(self.s * r, self.squares, 1) + k * rest[0])
        return found

    def straight(self, pull: FloatArray) -> tuple[FloatArray, FloatArray]:
        """tr(K_t r K_t' r) over them, and sum_j s_j (r K_t r)_jj, whatever their sectors.

        For types of |u_1| alone: the kernel of x_1 is t^2/4, that of x_j s_j/4.
        """
        r, k, (_, two, _) = self.resolved(pull)
        own, others = 0.25 * self.squares[0].ravel() * r[0], np.full(pull.size, 0.25 * k)
        return np.outer(own, own) + two * np.outer(others, others), own * r[0] + two * k * others

    def sums(self, pull: FloatArray) -> FloatArray:
        r, k, others = self.resolved(pull)
        f, rest = 1.0 - r, np.concatenate([k * others, others])
        own = np.stack([self.s * r, self.s * r * f, self.s * r * f**2, f, f**2, f**3]).sum(axis=1)
        return np.asarray(rest + own)


def _fixed_point(step: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
    """x = step(x), by Anderson's acceleration."""
    values: list[FloatArray] = []
    gaps: list[FloatArray] = []
    for _ in range(STEPS):
        value = step(x)
        gap = value - x
        if float(np.abs(gap).max()) < TAU_TOLERANCE:
            return value
        values, gaps = [*values, value][-MEMORY:], [*gaps, gap][-MEMORY:]
        x = value
        if len(gaps) > 1:
            changes = np.stack([gaps[-1] - old for old in gaps[:-1]], axis=1)
            weights = np.linalg.lstsq(changes, gaps[-1], rcond=1e-8)[0]
            x = value - np.stack([values[-1] - old for old in values[:-1]], axis=1) @ weights
            x = np.clip(x, value - 2.0, value + 2.0)
    return x


def sign_imbalance(
    N: float,
    weights: FloatArray,
    tau: FloatArray,
    squares: FloatArray,
    losses: FloatArray,
    groups: Sequence[tuple[Group, FloatArray]],
    even_weight: float,
    missing: float,
) -> float:
    """What is added to the loss. ``groups`` come with their resolvents; types are |u_1| alone.

    ``squares`` and ``losses`` are those of ``_Coordinates.straight``.
    """
    a = N / tau
    squares = squares.copy()  # tr(K_t r K_t' r)
    joined = np.zeros_like(squares)  # tr(A_t r A_t' r)
    sectors = []  # of one coordinate each, with the even functions beside it
    for group, r in groups:
        K = even_weight * group.kernel[..., 0]
        C, n, _, Q = K.shape
        image = (r @ K.reshape(C, n, n * Q)).reshape(C, n, n, Q)
        turned = np.swapaxes(image, 1, 2) * group.alike[:, None, None, None]
        squares += (1.0 + missing) * (image.reshape(-1, Q).T @ turned.reshape(-1, Q))
        assert group.along is not None
        assert group.straight is not None
        mine = np.flatnonzero(group.straight.any(axis=1))
        if mine.size:
            own, along = group.straight[mine], np.sqrt(even_weight) * group.along[mine]
            image = r[mine] @ along
            overlaps = np.swapaxes(along, 1, 2) @ image  # of the columns of A_t between r: (C, Q, Q)
            alone = 1.0 / (1.0 + own @ (weights * a))  # r of the coordinate
            joined += 2.0 * np.einsum("c,ctu->tu", group.alike[mine] * alone, overlaps)
            sectors.append((group.alike[mine] * alone, alone, own, image, overlaps, K[mine]))

    answer = np.linalg.inv(np.eye(a.size) - (weights / tau)[:, None] * joined * a)  # g = answer e
    e_e = np.diag(weights) / N
    g_g, e_g = answer @ e_e @ answer.T, e_e @ answer.T
    h_h = np.diag(e_e - e_g - e_g.T + g_g) / weights**2
    e_h = np.diag(e_e - e_g) / weights
    m_m = np.outer(a, a) * g_g

    traces, loss = np.zeros(a.size), 0.0  # tr(K_t r M r M r), and the same of sum_j s_j
    for share, alone, own, image, overlaps, K in sectors:
        size = share * alone * np.einsum("ctu,tu->c", overlaps, m_m)
        loss += float(size @ (4.0 * own @ weights))
        how = "c,cia,cjb,ab,cijt->t"
        traces += size @ own + np.einsum(how, share, image, image, m_m, K, optimize=True)
    before = a * (weights * h_h - e_h)
    d = np.linalg.solve(np.diag(tau) - squares * (a * weights), traces - squares @ before)
    return loss - float(losses @ (before - a * weights * d))
