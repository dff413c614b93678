"""N features at their effective ridge, S(kappa) + N ridge/kappa = N: leading terms, and what the embedding
adds.

Of mean data, or of a data set of another rank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import GramLaw, Moments
from sparselaw.surface.finite_size import excess, noise_width, width_share

CLOSE = 1e-13
ROUNDS = 120


def effective_ridge(
    law: GramLaw, N: FloatArray, ridge: float = 0.0, wanted: FloatArray | None = None
) -> FloatArray:
    """x = log kappa with S(x) + N ridge/kappa = ``wanted``, which is N where it is not given.

    Parameters
    ----------
    law
        The law of the Gram matrix.
    N
        Numbers of features.
    ridge
        The ridge of the solver.
    wanted
        What S and the ridge add up to: N less what a data set has more than the mean.

    Returns
    -------
    FloatArray
        x; -inf where kappa -> 0, which happens without ridge at or above the rank.
    """
    sum_of = np.array(N if wanted is None else wanted, float)
    log_held = np.log(N) + np.log(ridge) if ridge > 0.0 else np.full(sum_of.shape, -np.inf)
    x = np.full(sum_of.shape, -np.inf)
    active = np.flatnonzero((sum_of < law.rank) & (sum_of > 0.0) if ridge == 0.0 else sum_of > 0.0)
    if not active.size:
        return x
    x[active] = law.start(np.minimum(sum_of[active], 0.999 * law.rank))
    if ridge > 0.0:
        x[active] = np.maximum(x[active], log_held[active] - np.log(sum_of[active]))
    low, high = np.full(sum_of.shape, -3000.0), np.full(sum_of.shape, 3000.0)
    for _ in range(ROUNDS):
        if not active.size:
            break
        here, n = x[active], sum_of[active]
        S, P = law.degrees(here)
        held = np.exp(np.minimum(log_held[active] - here, 690.0))
        total, slope = S + held, P + held
        above = total > n
        low[active] = np.where(above, here, low[active])
        high[active] = np.where(above, high[active], here)
        with np.errstate(all="ignore"):
            step = np.log(total / n) * total / slope  # Newton in log(S + h); near the rank in log(rank - S)
            short = law.rank - S
            near = (ridge == 0.0) & (S > 0.5 * law.rank) & (short > 0.0)
            step = np.where(near, np.log((law.rank - n) / short) * short / P, step)
        new = here + np.clip(step, -20.0, 20.0)
        found = np.abs(step) <= CLOSE * np.maximum(np.abs(here), 1.0)  # a bracket is not asked about rounding
        outside = ~found & (~np.isfinite(new) | (new <= low[active]) | (new >= high[active]))
        halfway = np.clip(0.5 * (low[active] + high[active]), here - 10.0, here + 10.0)
        new = np.where(outside, halfway, new)
        x[active] = new
        active = active[~found & (np.abs(new - here) > CLOSE * np.maximum(np.abs(here), 1.0))]
    return x


@dataclass(frozen=True, slots=True)
class State:
    """Arrays of one shape."""

    N: FloatArray
    x: FloatArray  # log kappa; -inf without ridge at or above the rank
    m: Moments
    held: FloatArray  # h = N ridge/kappa, or N less the rank
    nu: FloatArray  # N less the rank
    end: NDArray[np.bool_]  # kappa -> 0

    @property
    def F(self) -> FloatArray:
        """N - df2."""
        return np.asarray(self.m.P + self.held)

    @property
    def short(self) -> FloatArray:
        """By how much S falls short of the rank."""
        return np.maximum(self.held - self.nu, 0.0)

    @property
    def leading(self) -> FloatArray:
        """A0 N/F, infinite at the peak; zero where the data leave nothing unresolved."""
        inside = np.where(self.F > 0.0, self.m.A0 * self.N / self.F, np.inf)
        return np.where(self.m.A0 > 0.0, inside, 0.0)


def state_at(
    law: GramLaw, N: FloatArray, ridge: float, rank: FloatArray | None = None, wider: FloatArray | None = None
) -> State:
    """The state of mean data; or of data sets of these ranks, of which ``wider`` times rank - S falls short
    of theirs.

    For such a data set S is the one of its own, r - wider (rank - S), and S + h = N is solved for it.
    """
    if rank is None or wider is None:
        x, ranks, scale = effective_ridge(law, N, ridge), np.full(N.shape, law.rank), np.ones(N.shape)
    else:
        x = effective_ridge(law, N / wider, ridge, law.rank - (rank - N) / wider)
        ranks, scale = rank, wider
        x = np.where(ranks <= N, -np.inf, x) if ridge == 0.0 else x
    end = np.isneginf(x)
    rows = law.at(x).rows()
    rows[1:4] *= scale
    held = np.where(end, np.maximum(N - ranks, 0.0), N * ridge * np.exp(-np.where(end, 0.0, x)))
    return State(N, x, Moments(*rows), held, N - ranks, end)


def unit_noise(law: GramLaw, of: State) -> tuple[FloatArray, FloatArray]:
    """What label noise of variance one adds to leading order, [T + A0 P/F]/kappa, and its part with the
    pole 1/F.
    """
    inverse = np.exp(-np.where(of.end, 0.0, of.x))
    pole = of.m.A0 * of.m.P / of.F * inverse
    unit = of.m.T * inverse + pole
    if of.end.any():
        every, seen = law.inverses()
        pole = np.where(of.end, np.where(of.m.A0 > 0.0, of.m.A0 * every / of.F, 0.0), pole)
        unit = np.where(of.end, seen + pole, unit)
    return unit, pole


@dataclass(frozen=True, slots=True)
class Embedded:
    """Terms of finite N relative to the leading loss: of the bulk, and of the hard edge to all orders."""

    bulk: FloatArray
    edge: FloatArray

    @property
    def factor(self) -> FloatArray:
        """What multiplies the leading loss."""
        return np.asarray(1.0 + self.bulk + self.edge)


def embedded(of: State) -> Embedded:
    """The mean over embeddings.

    The first order of the edge is (h-P)^2/F^3; where the edge is near, u = rank - S stands for P, which it
    then is.
    """
    rank, short = of.N - of.nu, of.short
    total = of.held + short
    own, first = of.nu**2 / total**3, (of.held - of.m.P) ** 2 / of.F**3
    first = own + np.minimum(1.0, 0.25 * total**2) * (first - own)
    share = np.minimum(of.N / rank, rank / of.N)
    return Embedded(width_share(of.m, of.N, of.F), first + share * excess(of.nu, of.held, short))


def embedded_noise(of: State, pole: FloatArray, edge: FloatArray) -> FloatArray:
    """The same of label noise of variance one: what is to be added to ``unit_noise``."""
    inverse = np.exp(-np.where(of.end, 0.0, of.x))
    first = (of.held - of.m.P) ** 2 / of.F**3
    bulk = noise_width(of.m, of.held, of.F) * inverse - pole * first
    near = np.minimum(1.0, 0.25 * (of.held + of.short) ** 2)
    return np.asarray(np.where(of.end, 0.0, bulk * near) + pole * edge)
