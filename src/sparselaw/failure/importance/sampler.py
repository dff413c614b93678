"""Importance sampling of the bulk: learn the mixture's shares, draw, weigh, and say how sure it is.

The estimate is the mean of Y = 1{failure} dP/dQ over independent draws from the mixture Q: unbiased for any
shares. The shares are learnt in rounds of their own (each becomes its part of the failing weight), so the
draws that count are independent of them.

The interval is normal in log P, with the effective number of failures (sum Y)^2 / sum Y^2 beside it.
Where fewer than MEANINGFUL are effective that shape is not to be trusted: then the upper end is at least
that of the draws' hard limit, Y <= 1 / DEFENSIVE, and the status says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.failure.draw import work_space
from sparselaw.failure.importance.proposal import DEFENSIVE, Proposal
from sparselaw.failure.importance.weighing import weigh_failures
from sparselaw.failure.timing import data_sets_at_a_time
from sparselaw.interrupts import ctrl_c_kept
from sparselaw.interval import Z95, Interval

LEARNING_ROUNDS = 4
LEARNING_DRAWS = 2500
LEARNING_WORK = 4e7  # nonzeros drawn in one round, about a second
UNIFORM = 0.3  # the part of the shares that no learning takes away: what learning missed is still drawn
MEANINGFUL = 30.0
LEAST_EFFECTIVE = 200.0  # never stop before
# Of naturally failing data up to 1.6 % (measured where direct sampling sees it) is of kinds the mixture
# draws so rarely that a run may not meet one: three rare activations at once. The upper end allows for it.
UNSEEN = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """What the weighted draws say of a probability."""

    probability: Interval
    effective: float  # effective number of failures
    replicates: int
    status: str  # ok, or low-ess

    @property
    def relative_error(self) -> float:
        """The standard error of the estimate over the estimate."""
        return (
            math.sqrt(max(1.0 / self.effective - 1.0 / self.replicates, 0.0)) if self.effective else math.inf
        )


def sample_by_importance(
    proposal: Proposal,
    threshold: float,
    rng: np.random.Generator,
    *,
    replicates: int,
    enough: Callable[[Weighted], bool],
    progress: Callable[[int, float | None, float], None] | None = None,
) -> Weighted:
    """Draw until ``enough`` says so, and no more than ``replicates`` data sets.

    ``progress`` is told the data sets drawn, those for learning included, how many it may become (None
    while it learns), and the effective failures among those that count.
    """
    law, tables = proposal.law, proposal.tables
    space = work_space(law, proposal.most_active)
    work = 100.0 + len(law.active) + law.D * (proposal.most_active + law.rare.mass)
    batch = max(10, min(LEARNING_DRAWS, int(2e6 / work)))
    at_a_time = data_sets_at_a_time(law, proposal.most_active)
    drawn, effective = 0, 0.0
    total: float | None = None

    def draw(shares: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
        nonlocal drawn
        weights, parts = [], []
        for start in range(0, count, at_a_time):
            todo = min(at_a_time, count - start)
            with ctrl_c_kept():
                weight, part = weigh_failures(
                    rng, law, tables, np.log(shares), space, threshold * law.D, todo
                )
            weights.append(weight)
            parts.append(part)
            drawn += todo
            if progress is not None:
                progress(drawn, total, effective)
        return np.concatenate(weights), np.concatenate(parts)

    shares = _learn(draw, len(tables.kind), learning_draws(replicates, work))
    learning = drawn
    kept: list[FloatArray] = []
    done = 0
    while done < replicates:
        log_weight, _ = draw(shares, min(2 * batch, replicates - done))
        done += len(log_weight)
        kept.append(log_weight[np.isfinite(log_weight)])
        result = weighted_interval(np.concatenate(kept), done)
        effective = result.effective
        if effective >= LEAST_EFFECTIVE and enough(result):
            break
        total = learning + (min(replicates, done * LEAST_EFFECTIVE / effective) if effective else replicates)
    return result


def learning_draws(replicates: int, work: float) -> int:
    """Data sets of one learning round; ``work`` is about the nonzeros of one of them."""
    return int(min(LEARNING_DRAWS, max(LEARNING_WORK / work, 200), max(replicates / 10, 100)))


def _learn(
    draw: Callable[[FloatArray, int], tuple[FloatArray, FloatArray]], components: int, count: int
) -> FloatArray:
    """The shares of the components, learnt in rounds of ``count`` draws."""
    shares = _shares(np.full(components, 1.0))
    for _ in range(LEARNING_ROUNDS if components > 1 else 0):
        log_weight, parts = draw(shares, count)
        failed = np.isfinite(log_weight)
        if failed.any():
            weight = np.exp(log_weight[failed] - log_weight[failed].max())
            shares = _shares(weight @ parts[failed])
    return shares


def _shares(parts: FloatArray) -> FloatArray:
    shares: FloatArray = (1.0 - UNIFORM) * parts / parts.sum() + UNIFORM / len(parts)
    shares *= 1.0 - DEFENSIVE
    shares[0] += DEFENSIVE  # component 0 is the original law
    return shares


def weighted_interval(log_weight: FloatArray, replicates: int) -> Weighted:
    """The mean of the weights of the failures over all draws, with its interval."""
    n = replicates
    limit = -math.log(0.025) / (n * DEFENSIVE)  # what no failure at all would still allow
    if len(log_weight) == 0:
        return Weighted(
            probability=Interval(0.0, 0.0, min(1.0, limit)), effective=0.0, replicates=n, status="low-ess"
        )
    top = float(log_weight.max())
    y = np.exp(log_weight - top)
    mean, square = float(y.sum()), float((y * y).sum())
    effective = mean * mean / square
    best = min(1.0, math.exp(top) * mean / n)
    spread = math.exp(Z95 * math.sqrt(max(1.0 / effective - 1.0 / n, 0.0)))
    high = min(1.0, best * spread * (1.0 + UNSEEN))
    ok = effective >= MEANINGFUL
    if not ok:
        high = max(high, min(1.0, best + limit))
    return Weighted(
        probability=Interval(best / spread, best, high),
        effective=effective,
        replicates=n,
        status="ok" if ok else "low-ess",
    )
