"""N features at their effective ridge: leading terms, and what the embedding adds, for mean data or for a
data set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import GramLaw, Moments
from sparselaw.surface.effective_ridge import effective_ridge
from sparselaw.surface.finite_size import noise_width, width_share
from sparselaw.surface.hard_edge import excess


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
