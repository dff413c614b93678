"""One loss surface for every law of the Gram matrix: N Gaussian features, ridge and label noise.

The embedding turns the ridge into an effective one, kappa, with S + h = N, h = N ridge/kappa; without
ridge, at or above the rank, kappa -> 0 and h = N - rank. On either side of the peak, with F = N - df2 = P +
h,

    leading      A0 N/F                   the deterministic equivalent
    label noise  [T + A0 P/F]/kappa       for noise of variance one
    finite N     the mean over embeddings: next order in 1/N, and the hard edge to all orders
    scatter      the mean over data sets: second order in Cov(S, t); near the peak over the law of the rank

F -> 0 is the double-descent peak. A point is an array of length one: nothing depends on what else is asked.

Near the peak the mean over data sets is taken over the law of the rank, not by its Taylor series. Data sets
differ above all by how many coordinates they resolve. One of rank r has r - (1 + slack (r - mean rank))(mean
rank - S) degrees of freedom in the place of S (``GramLaw.slack``), and leaves the less unresolved the more it
resolves. The loss of each is the mean over embeddings, with the hard edge to all orders; its mean over whole
ranks r is bounded for every ridge, and grows as ridge^-1/2 where r = N is among them. Without ridge a data
set with |N - r| <= 1 has no mean: it is left out, and the mean is called infinite where such data sets are
more than one in a hundred, or N is within 2.5 standard deviations of the rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import GramLaw, Scatter
from sparselaw.surface.state import (
    State,
    embedded,
    embedded_noise,
    excess,
    next_order,
    noise_scatter,
    scatter_share,
    shifted_share,
    state_at,
    unit_noise,
)

NEAR_PEAK = 0.05  # sd(S)/F from which on the mean is taken over ranks; there the two differ by 2e-5
INFINITE = 0.01  # chance of |N - rank| <= 1 from which on the mean is called infinite
INFINITE_WITHIN = 2.5
EDGED = 1e-3  # share of A0 left open below which the hard edge is not felt
REACH = 6.0  # standard deviations of the rank
MEDIAN_REACH = 5.0  # the same, as far as a median is given
PLACES = 4.0  # a standard deviation, where ranks are many
SETTLED_RANK = 0.02  # standard deviation of the rank below which all data sets have the same
SETTLED = 2.0  # F below which the hard edge alone decides
MOST_LEFT = 0.3  # of what second order may add to one data set beyond its rank
SCATTER_PLACES = 7  # at which covariances are found
NORMAL = 0.02  # skew of the rank below which its law is normal
SKEWED = 3.0  # standard deviations from the largest rank within which the law of the rank is skewed


def is_infinite(law: GramLaw, N: FloatArray) -> NDArray[np.bool_]:
    """Where the mean without ridge is called infinite."""
    gap = np.abs(N - law.rank)
    scale = math.sqrt(2.0) * np.maximum(law.rank_sd, 0.3)
    erf = np.vectorize(math.erf, otypes=[float])
    chance = 0.5 * (erf((gap + 1.5) / scale) - erf((gap - 1.5) / scale))
    return np.asarray((chance > INFINITE) | (gap < INFINITE_WITHIN * law.rank_sd) | (gap <= 1.0))


def wants_median(law: GramLaw, N: FloatArray) -> NDArray[np.bool_]:
    """Whether N is near the rank, in standard deviations of it, and the rank scatters at all."""
    return np.asarray((np.abs(N - law.rank) <= MEDIAN_REACH * law.rank_sd + 1.0) & (law.rank_sd > 0.0))


def rank_law(law: GramLaw, N: float, places: float = PLACES) -> tuple[FloatArray, FloatArray, int]:
    """Ranks, their chances, and how many whole ranks each stands for; N is among them where it is whole.

    ``places`` of them stand for a standard deviation, where ranks are many.

    A Poisson law in units of ``GramLaw.skew``, so that three moments are right; where few are missing to the
    largest rank, the binomial, Poisson or negative binomial law of what is missing, as its variance wants it
    (Panjer's recursion).
    """
    sd = max(law.rank_sd, 0.05)
    stride = max(1, 2 * int(sd / places / 2.0) + 1)
    first = round(N) + stride * math.floor((law.rank - REACH * sd - 1.0 - N) / stride)
    last = min(law.rank + REACH * sd + 1.0, law.most + 0.5 * stride)
    ranks = np.arange(max(first, 1 if stride == 1 else first), last + 1e-9, stride)
    ranks = ranks[ranks > 0.0]
    scale = math.copysign(max(abs(law.skew), NORMAL), law.skew)
    counts = (sd / scale) ** 2
    y = np.maximum(counts + (ranks - law.rank) / scale, 0.0)
    logs = y * math.log(counts) - np.array([math.lgamma(1.0 + n) for n in y])
    chance = np.exp(logs - logs.max()) * (y > 0.0)
    missing = law.most - law.rank
    if math.isfinite(missing) and missing < SKEWED * sd and stride == 1:
        share = max(missing, 1e-3) / sd**2
        k = np.arange(1.0, law.most - ranks[0] + 1.0)
        ratio = np.maximum((1.0 - share) * (k - 1.0) + share * max(missing, 1e-3), 1e-300) / k
        logs = np.append(0.0, np.cumsum(np.log(ratio)))[(law.most - ranks).astype(int)]
        chance = np.exp(logs - logs.max())
    kept = chance > 1e-12 * chance.max()
    return ranks[kept], chance[kept] / chance[kept].sum(), stride


def over_ranks(
    law: GramLaw, ridge: float, noise: float, of: State
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """The mean losses over the law of the rank without label noise, their values for mean data, what noise
    adds, and the relative errors; ``of`` is that of mean data, at the N of each law.
    """
    some = range(of.N.size)
    every = [rank_law(law.one(i), float(of.N[i])) for i in some]
    at = np.repeat(some, [len(found[0]) for found in every])  # which N and D each rank belongs to
    starts = np.flatnonzero(np.diff(at, prepend=-1))
    ranks, chance = (np.concatenate([found[k] for found in every]) for k in (0, 1))

    def total(values: FloatArray) -> FloatArray:
        return np.asarray(np.add.reduceat(values, starts))

    mean_rank, rank_sd = (np.broadcast_to(value, of.N.shape) for value in (law.rank, law.rank_sd))
    deviation, sd = ranks - mean_rank[at], np.maximum(rank_sd, 1e-9)[at]
    slope = law.slack(of.x)[at]  # S moves by less than the rank
    wider = np.maximum(1.0 + slope * deviation, 0.1)
    N, part = of.N[at], law.take(at)
    state = state_at(part, N, ridge, ranks, wider)
    inner = _scatter_along(law, state.x, at)
    variance = np.maximum(inner.SS, 1e-300)
    tilt = -inner.SM / (state.m.A0 * variance)
    more = deviation * np.sqrt(variance) / sd
    bulk, edge = embedded(state)
    for i, (_, _, stride) in enumerate(every):
        if stride > 1:
            edge[at == i] = _edge_of_many(state.pick(at == i), edge[at == i], stride)
    lean = np.exp(np.clip(tilt * more, -3.0, 3.0))
    lean = lean / total(chance * lean)[at]
    resolved = state.held + state.short
    alike = shifted_share(inner, state.m, state.held, slope * sd / np.sqrt(variance))
    rest = (scatter_share(inner, state.m, state.held) - alike) * np.minimum(1.0, resolved**2 / SETTLED**2)
    rest = np.where(np.isfinite(rest), np.clip(rest, -MOST_LEFT, MOST_LEFT), 0.0)
    loss = state.m.A0 * N / state.F * (1.0 + bulk + edge) * lean * (1.0 + rest)
    usable = np.isfinite(loss) & (loss > 0.0)
    if ridge == 0.0:
        usable &= np.abs(state.nu) > 1.25
    kept = np.where(usable, chance, 0.0)
    relative = kept / total(kept)[at] * np.where(usable, loss, 0.0)
    mean = total(relative)
    relative = relative / mean[at]
    factor = 1.0 + sum(embedded(of))
    at_mean = of.leading * np.where(np.isfinite(factor), factor, 1.0)
    few = 1.0 / np.minimum(of.N, law.rank)
    close, left = total(relative / (1.0 + resolved)), total(relative * np.abs(rest))
    changed = np.where(at_mean > 0.0, np.minimum(np.abs(mean / at_mean - 1.0), 1.0), 1.0)
    skewed = changed / np.maximum(rank_sd, 1.0) ** 2  # three moments of the rank are right
    error = left * (left + few) + close * (few + left) + skewed + total(chance - kept)
    added = np.zeros_like(mean)
    if noise > 0.0:
        unit, pole = unit_noise(part, state)
        leant = np.where(unit > 0.0, (unit + pole * (lean - 1.0)) / unit, 1)
        units = (unit + embedded_noise(state, pole, edge)) * leant
        fine = usable & np.isfinite(units) & (units > 0.0)
        share = np.where(fine, chance, 0.0)
        added = noise * total(share * np.where(fine, units, 0.0)) / total(share)
        added = np.where(total(share) > 0.0, added, np.inf)
    return mean, at_mean, added, error


def _scatter_along(law: GramLaw, x: FloatArray, at: NDArray[np.intp]) -> Scatter:
    """The covariances at every x, from a few places between which they are smooth; kappa -> 0 apart.

    ``at`` says which of the laws each x is of.
    """
    rows, end = np.zeros((8, x.size)), np.isneginf(x)
    ends, which = np.unique(at[end], return_inverse=True)
    if ends.size:
        rows[:, end] = law.take(ends).scatter(np.full(ends.shape, -np.inf)).rows()[:, which]
    inside = {i: x[(at == i) & ~end] for i in np.unique(at[~end]).tolist()}
    places = {i: np.unique(np.linspace(v.min(), v.max(), SCATTER_PLACES)) for i, v in inside.items()}
    if places:
        of = np.repeat(list(places), [some.size for some in places.values()])
        known = law.take(of).scatter(np.concatenate(list(places.values()))).rows()
        for i, some in places.items():
            rows[:, (at == i) & ~end] = [np.interp(inside[i], some, row) for row in known[:, of == i]]
    return Scatter(*rows)


def _edge_of_many(state: State, edge: FloatArray, stride: int) -> FloatArray:
    """The edge averaged over the whole ranks that one place stands for."""
    total = state.held + state.short
    near = np.flatnonzero(np.abs(state.nu) <= 2.0 * stride)
    if not near.size:
        return edge
    steps = np.arange(-(stride // 2), stride // 2 + 1.0)
    nu = state.nu[near, None] + steps
    s = np.maximum(0.25 * (total[near, None] ** 2 - state.nu[near, None] ** 2), 0.0)
    F = np.sqrt(nu**2 + 4.0 * s)
    found = excess(nu, 0.5 * (F + nu), 0.5 * (F - nu)) + nu**2 / F**3
    scaled = (1.0 + found) / F * total[near, None] - 1.0
    whole = np.isfinite(scaled) & ((np.abs(nu) > 1.25) | (s > 0.0))
    out = edge.copy()
    out[near] = np.where(whole, scaled, 0.0).sum(axis=1) / whole.sum(axis=1)
    return out


FLOOR = 0.005  # relative error that is always left
QUARTER = 0.25  # of the next order in 1/D, which may be off


@dataclass(frozen=True, slots=True)
class Losses:
    """Arrays over N. ``loss`` = leading + finite_N + scatter + noise."""

    N: FloatArray
    x: FloatArray  # log effective ridge; -inf: interpolation
    leading: FloatArray
    finite_N: FloatArray
    scatter: FloatArray
    noise: FloatArray
    loss: FloatArray
    error: FloatArray  # relative, of the terms left out
    infinite: NDArray[np.bool_]  # at the peak: the mean over data sets is infinite


@np.errstate(all="ignore")
def surface(law: GramLaw, N: FloatArray | float, ridge: float = 0.0, noise: float = 0.0) -> Losses:
    """The expected population loss at every N, real and positive, with its terms and its error.

    ``ridge`` is that of the solver, not divided by the number of samples; ``noise`` is the variance of the
    label noise.
    """
    N = np.atleast_1d(np.asarray(N, float))
    of = state_at(law, N, ridge)
    cov, leading = law.scatter(of.x), of.leading
    bulk, edge = embedded(of)
    factor = 1.0 + bulk + edge
    nothing = of.m.A0 <= 0.0
    peak = is_infinite(law, N) & (of.edged > EDGED) & (ridge == 0.0)
    share = scatter_share(cov, of.m, of.held) * np.minimum(1.0, ((of.held + of.short) / SETTLED) ** 2)
    share = np.where(np.isfinite(share), share, 0.0)
    quiet = leading * factor
    scattered = quiet * share
    few, of_law = 1.0 / np.minimum(N, law.rank), law.error(of.x)
    of_law = of_law + law.hardly_open * np.where(nothing, 0.0, np.minimum(law.unseen / of.m.A0, 1.0))
    of_noise = of_law + law.noise_error
    changed = np.abs(factor - 1.0)
    error = changed * (changed + few) + N**-2.0 + np.abs(share) * (np.abs(share) + few) + of_law
    of_rank = law.rank_error / np.maximum(of.F, 1.0)
    added = np.zeros_like(N)
    if noise > 0.0:
        unit, pole = unit_noise(law, of)
        width = embedded_noise(of, pole, edge)
        part = np.where(pole > 0.0, pole * cov.SS / of.F**2, 0.0)
        part = np.where(of.end, part, (unit + width) * noise_scatter(cov, of.m, of.held))
        added = np.where(np.isinf(unit), np.inf, noise * (unit + width + part))
        own = sum(term * (term + few) for term in (np.abs(width / unit), np.abs(part / unit)))
        ends = np.flatnonzero(of.end)
        if ends.size:
            every, seen = law.take(ends).inverse_errors()
            pole_share = pole[ends] / unit[ends]
            of_noise[ends] += (seen - of_law[ends]) * (1.0 - pole_share) + every * pole_share
        own = own + of_noise
        error = (error * (quiet + scattered) + own * added) / (quiet + scattered + added)
    scatters = np.sqrt(np.maximum(cov.SS, 0.0)) > NEAR_PEAK * (of.held + of.short)
    near = np.flatnonzero(scatters & (law.rank_sd > SETTLED_RANK) & ~peak & ~nothing)
    if near.size:
        mean, quiet[near], added[near], own = over_ranks(law.take(near), ridge, noise, of.pick(near))
        scattered[near] = mean - quiet[near]
        whole = mean + added[near]
        error[near] = own + (of_law[near] * mean + of_noise[near] * added[near]) / whole
    looped, of_added = next_order(law, of)
    quiet, scattered = np.where(nothing, 0.0, quiet * (1.0 + looped)), np.where(nothing, 0.0, scattered)
    added = added * (1.0 + of_added)
    changed = np.where(added > 0.0, of_added * added + looped * quiet, looped * quiet)
    error = error + of_rank + QUARTER * np.abs(changed) / (quiet + scattered + added)
    lost = ~(quiet + scattered >= law.unseen)  # no learner goes below what was never seen
    quiet, scattered = np.where(lost, np.maximum(leading, law.unseen), quiet), np.where(lost, 0.0, scattered)
    error = np.where(lost | ~np.isfinite(error), 1.0, error)
    loss = np.where(peak, np.inf, quiet + scattered + added)
    error = np.where(peak, np.inf, np.where(loss > 0.0, error + FLOOR, 0.0))
    return Losses(N, of.x, leading, quiet - leading, scattered, added, loss, error, peak)


@np.errstate(all="ignore")
def leading_surface(law: GramLaw, N: FloatArray | float, ridge: float = 0.0, noise: float = 0.0) -> Losses:
    """The same to leading order, the deterministic equivalent and label noise: the error is nan."""
    N = np.atleast_1d(np.asarray(N, float))
    of = state_at(law, N, ridge)
    none, leading = np.zeros_like(N), of.leading
    added = noise * unit_noise(law, of)[0] if noise > 0.0 else none
    unknown = np.full_like(N, np.nan)
    return Losses(N, of.x, leading, none, none, added, leading + added, unknown, np.isinf(leading))
