"""Everything about D samples of some inputs that every N shares: prepared once, then kept."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from sparselaw.inputs import ActivationInputs
from sparselaw.sums.count_nodes import CountNodes, cells, count_nodes
from sparselaw.sums.counts import CountSums
from sparselaw.sums.unseen import seen, unseen
from sparselaw.theory.cavity import Cavity
from sparselaw.theory.cavity_scatter import CavityScatter
from sparselaw.theory.closure import DEEPEST
from sparselaw.theory.coactivation import coactivation
from sparselaw.theory.leading_point import LeadingPoint
from sparselaw.theory.rank import Rank, expected_rank

CLOSURE_SHARE = 0.001  # of the unseen variance: with less co-activation the closure is left out
FINE, COARSE = 0.2, 0.6  # widths in log p of the cells in which counts are averaged
EVERY = 12.0  # mean count up to which every n is a point
TWINS_SHARE = 0.005  # up to here pairs suffice for what the data leave open


@dataclass(frozen=True, slots=True, eq=False)
class CountSetting:
    """D samples: ``seen`` = E[K], the rank, the variance left open and how it goes with the rank."""

    sums: CountSums
    leading: LeadingPoint
    seen: float
    rank: Rank
    unseen: float
    share: float  # co-activation: what pairs add to the unseen variance, relative to it
    tilt: float  # Cov(t0, rank)/t0, negative: data that show more leave less
    open_variance: float  # Var(t0)/t0^2 that the rank does not explain
    told_apart: float  # chance that coordinates are dependent only by sharing their one sample
    points: CountNodes
    cavity: Cavity
    scatter: CavityScatter

    @property
    def left_open(self) -> float:
        """t0: unseen, and what shared samples leave undetermined."""
        return _left_open(self)

    @property
    def crowded(self) -> bool:
        """Whether co-activation is large enough for the closure."""
        return self.share > CLOSURE_SHARE


@functools.lru_cache(maxsize=64)
def count_setting(inputs: ActivationInputs, D: float) -> CountSetting:
    """Prepare D samples of ``inputs``."""
    with np.errstate(all="ignore"):
        return _prepare(inputs, D)


def _prepare(inputs: ActivationInputs, D: float) -> CountSetting:
    sums = inputs.count_sums(D)
    weight, p, c = inputs.pair_nodes(D)
    rank = rank_setting(inputs, D)
    never = sums.unseen_variance()
    pairs = coactivation(inputs, D)
    share, known = pairs.share, sums.seen()
    cavity = Cavity(weight, p, c, D)
    missed = unseen(p, D)
    adds = seen(np.minimum(p * rank.free, 1.0), D)
    tilt = luck = 0.0
    if never > 0.0:
        tilt = -float((weight * p * c) @ (missed * adds)) / never
        luck = float((weight * (p * c / never) ** 2) @ (missed * seen(p, D)))
        luck -= (tilt / max(rank.spread, 1e-9)) ** 2
    width = np.where(D * p > 0.02, FINE, COARSE)
    points = count_nodes(*cells(weight, p, c, width), D, every=EVERY)
    return CountSetting(
        sums=sums,
        leading=LeadingPoint(sums, known),
        seen=known,
        rank=rank,
        unseen=never,
        share=share,
        tilt=tilt,
        open_variance=max(luck, 0.0),
        told_apart=_told_apart(known - rank.mean, pairs.once / D, D),
        points=points,
        cavity=cavity,
        scatter=CavityScatter(cavity),
    )


@functools.lru_cache(maxsize=128)
def _left_open(of: CountSetting) -> float:
    """By pairs, or by the closure with hardly a cut-off, which takes time: asked for above the rank only."""
    if of.share <= TWINS_SHARE or of.unseen <= 0.0:
        return of.unseen * (1.0 + of.share)
    cells = of.cavity.cells
    cutoff = max(_resolved_cutoff(cells.p, cells.c, of.cavity.D), cells.top - DEEPEST)
    with np.errstate(all="ignore"):
        return max(of.cavity.at(cutoff).t + of.unseen - of.cavity.unseen, of.unseen)


@functools.lru_cache(maxsize=1024)
def rank_setting(inputs: ActivationInputs, D: float) -> Rank:
    """The rank of D samples alone, in a few milliseconds."""
    weight, p, _ = inputs.pair_nodes(D)
    return expected_rank(weight, p, D)


def _told_apart(missing: float, once: float, D: float) -> float:
    """The chance that nothing but twins keeps the rank below the number of coordinates seen.

    On average the rank misses ``missing`` of them. Of these D (l - 1 + e^-l) were seen once, together with
    others like them, l a sample on average. The rest are few and independent: Poisson.
    """
    return math.exp(min(D * (once + math.expm1(-once)) - missing, 0.0))


def _resolved_cutoff(p: np.ndarray, c: np.ndarray, D: float) -> float:
    """log k so far below the coordinates seen about once that what is left no longer depends on it."""
    return math.log(float(c[np.argmin(np.abs(np.log(p) + math.log(D)))])) - 14.0
