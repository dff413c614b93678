"""N features at their effective ridge, S(kappa) + N ridge/kappa = N: leading terms, and what finite sizes
add.

Of mean data, or of a data set of another rank; everything in closed form of the eight moments. ``width`` is
the next order in 1/N over Gaussian embeddings (Wick's theorem to second order). With h = N ridge/kappa, F =
P + h, a1 = A1/A0, a2 = A2/A0 it is

    width = 1/F - (Q + 3 R)/F^2 + 4 Q^2/F^3 - 1/N - 4 a1 Q/F^2 + 3 a2/F.

Where every eigenvalue is resolved or nearly so (the hard edge: Q = R = P) this is (h-P)^2/F^3 - 1/N, of
which all orders are known (``excess``). ``scatter`` is the mean over data sets of the leading term, to
second order in the covariances of S and t.

The double-descent peak to all orders is the hard edge of a real Wishart matrix. With N features and data of
rank r, nu = N - r, and a small ridge, the loss over the variance left unresolved is N Psi, Psi = E tr W (W
+ y)^-2, W a Wishart matrix of r and N. Near its hard edge the singular values, times 2 sqrt(N), have the
density of the chiral orthogonal ensemble (Verbaarschot 1994),

    rho(z) = z/2 (J_nu^2 - J_{nu+1} J_{nu-1}) + J_nu/2 (1 - int_0^z J_nu),

so that Psi(nu, s) = 4 int rho z^2/(z^2 + 4 s)^2 dz, s = h u with h = N ridge/kappa and u = r - S. Far from
the edge it is 1/F, F = sqrt(nu^2 + 4 s) = h + u; without ridge 1/(|nu| - 1), infinite for |nu| <= 1; at nu
= 0 it is pi/(4 sqrt(s)). ``excess`` is F Psi - 1 less its first order nu^2/F^3, which the term of order 1/N
has.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import GramLaw, Moments, Scatter, effective_ridge

NU = np.arange(0.0, 20.1, 0.5)
LOG_S = np.arange(-36.0, 6.1, 0.5)
EDGE_TABLE_END = 20.0  # F from which on what is left out is below 0.002
MOST = 0.3  # that the next order in 1/D may add
_FINEST, _FIRST, _LAST = 1e-9, 0.5, 300.0  # of z


def excess(nu: FloatArray, held: FloatArray, short: FloatArray) -> FloatArray:
    """F Psi - 1 - nu^2/F^3 at the edge, h = ``held``, u = ``short``; nu = held - short up to rounding.

    nu is N less the rank; h = N ridge/kappa, or nu where kappa -> 0; the degrees of freedom fall short of the
    rank by u.
    """
    F = held + short
    s = held * short
    out = np.zeros(np.shape(F))
    bare = s <= 1e-14 * F**2
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(bare, np.where(F > 1.0, 1.0 / (F * (F - 1.0)), np.inf), out)
    rest = ~bare & (F < EDGE_TABLE_END) & (np.abs(nu) < NU[-1])
    if rest.any():
        inside = np.exp(_log_factor(np.abs(nu[rest]), s[rest])) - 1.0 - (nu**2)[rest] / F[rest] ** 3
        taper = np.clip((EDGE_TABLE_END - F[rest]) / (0.25 * EDGE_TABLE_END), 0.0, 1.0)
        out[rest] = inside * taper
    return out


def _log_factor(nu: FloatArray, s: FloatArray) -> FloatArray:
    """log(F Psi) from the table, linear between its places and beyond its lowest s."""
    table = _table()
    i = np.clip(nu / (NU[1] - NU[0]), 0.0, NU.size - 1.000001)
    j = (np.log(s) - LOG_S[0]) / (LOG_S[1] - LOG_S[0])
    k, m = i.astype(int), np.clip(j.astype(int), 0, LOG_S.size - 2)
    a, b = i - k, np.minimum(j, LOG_S.size - 1.0) - m
    low = (1.0 - b) * table[k, m] + b * table[k, m + 1]
    high = (1.0 - b) * table[k + 1, m] + b * table[k + 1, m + 1]
    factor = np.sqrt(nu**2 + 4.0 * s)
    return np.asarray(np.log(factor) + (1.0 - a) * low + a * high)


@functools.cache
def _table() -> FloatArray:
    """log Psi, rows nu."""
    from scipy.special import jv

    fine = np.exp(np.linspace(np.log(_FINEST), np.log(_FIRST), 500))
    z = np.concatenate([fine, np.linspace(_FIRST, _LAST, 5001)[1:]])
    width = np.gradient(z)
    width[0], width[-1] = 0.5 * (z[1] - z[0]), 0.5 * (z[-1] - z[-2])
    four_s = 4.0 * np.exp(LOG_S)
    kernel = 4.0 * z[:, None] ** 2 / (z[:, None] ** 2 + four_s) ** 2 * width[:, None]
    a, last = np.sqrt(four_s), z[-1]
    beyond = 4.0 / np.pi * (0.5 * last / (last**2 + four_s) + (0.5 * np.pi - np.arctan(last / a)) / (2.0 * a))
    bessel = {order: jv(order, z) for order in np.arange(-1.0, NU[-1] + 1.25, 0.5)}
    rows = []
    for nu in NU:
        J, above, under = bessel[nu], bessel[nu + 1.0], bessel[nu - 1.0]
        steps = 0.5 * (J[1:] + J[:-1]) * np.diff(z)
        total = np.concatenate([[0.0], np.cumsum(steps)]) + z[0] * J[0] / (nu + 1.0)
        density = 0.5 * z * (J * J - above * under) + 0.5 * J * (1.0 - total)
        rows.append(np.log(density @ kernel + beyond))
    return np.stack(rows)


def noise_width(m: Moments, held: FloatArray, F: FloatArray) -> FloatArray:
    """The same of what label noise of variance one adds, times kappa: E log det has log(1 - df2/N)/2 next."""
    g, df2_slope, Q_slope = m.Q / F, -2.0 * m.Q, 3.0 * m.R - 2.0 * m.Q
    g_slope = (Q_slope + g * df2_slope) / F
    W = m.A1 - m.A0 * g
    W_slope = 3.0 * m.A2 - m.A1 - 2.0 * m.A1 * g - m.A0 * g_slope
    return np.asarray(-(W + held / F * (W_slope + W * (df2_slope / F - 1.0))) / F)


def scatter_share(cov: Scatter, m: Moments, held: FloatArray) -> FloatArray:
    """The mean over data sets of M/(S + h)' at S + h = N relative to that of mean data, less one."""
    S1, S2, S3, M, M1, M2 = _slopes(m, held)
    once = cov.SS / S1**2
    shift = -(0.5 * S2 * once - cov.SS1 / S1) / S1
    above = (M1 * shift + 0.5 * M2 * once - cov.SM1 / S1) / M
    below = (S2 * shift + 0.5 * S3 * once - cov.SS2 / S1) / S1
    squared = (S2**2 * once - 2.0 * S2 * cov.SS1 / S1 + cov.S1S1) / S1**2
    crossed = (M1 * S2 * once - M1 * cov.SS1 / S1 - S2 * cov.SM / S1 + cov.S1M) / (M * S1)
    return np.asarray(above - below + squared - crossed)


def shifted_share(cov: Scatter, m: Moments, held: FloatArray, slope: FloatArray | float = 0.0) -> FloatArray:
    """The part of ``scatter_share`` of data sets that differ by one number: S by (1 - slope (rank - S))
    times it.

    M differs by a factor.
    """
    S, _ = m.derivatives()
    d1, d2 = slope * S[1], slope * S[2]
    alike = Scatter(
        SS=cov.SS,
        SS1=cov.SS * d1,
        SS2=cov.SS * d2,
        S1S1=cov.SS * d1**2,
        SM=cov.SM,
        SM1=cov.SM * 2.0 * m.A1 / m.A0,
        S1M=cov.SM * d1,
        MM=cov.MM,
    )
    return scatter_share(alike, m, held)


def noise_scatter(cov: Scatter, m: Moments, held: FloatArray) -> FloatArray:
    """The same of t/kappa."""
    S1, S2, _, M, M1, _ = _slopes(m, held)
    once = cov.SS / S1**2
    shift = -(0.5 * S2 * once - cov.SS1 / S1) / S1
    return np.asarray((M * shift + 0.5 * (M1 - M) * once - cov.SM / S1) / m.t)


def _slopes(m: Moments, held: FloatArray) -> tuple[FloatArray, ...]:
    """S + h, and M = -A0: three derivatives of the one along x, two of the other."""
    S, _ = m.derivatives()
    return S[1] - held, S[2] + held, S[3] - held, -m.A0, -2.0 * m.A1, 2.0 * m.A1 - 6.0 * m.A2


@dataclass(frozen=True, slots=True)
class State:
    """Arrays of one shape."""

    N: FloatArray
    x: FloatArray  # log kappa; -inf without ridge at or above the rank
    m: Moments
    held: FloatArray  # h = N ridge/kappa, or N less the rank
    nu: FloatArray  # N less the rank
    end: NDArray[np.bool_]  # kappa -> 0
    edged: FloatArray  # the share of A0 that the data leave open whatever kappa is: the hard edge acts on it

    def pick(self, i: NDArray[Any]) -> State:
        """The state at some N."""
        m = Moments(*self.m.rows()[:, i])
        return State(self.N[i], self.x[i], m, self.held[i], self.nu[i], self.end[i], self.edged[i])

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
    ranks = np.full(N.shape, law.rank) if rank is None else rank
    scale = np.ones(N.shape) if wider is None else wider
    log_held = np.log(N / scale) + (np.log(ridge) if ridge > 0.0 else -np.inf)
    wanted = N if rank is None else law.rank - (ranks - N) / scale
    x, _ = effective_ridge(law, log_held, wanted)
    if ridge == 0.0:
        x = np.where(ranks <= N, -np.inf, x)
    end = np.isneginf(x)
    rows = law.at(x).rows()
    rows[1:4] *= scale
    held = np.where(end, np.maximum(N - ranks, 0.0), N * ridge * np.exp(-np.where(end, 0.0, x)))
    with np.errstate(all="ignore"):
        near = (np.abs(N - ranks) < EDGE_TABLE_END + 3.0 * law.rank_sd) & (rows[4] > 0.0)
        edged, near = np.where(end, rows[4] > 0.0, 0.0), np.flatnonzero(near & ~end)
        if near.size:
            open_ = law.take(near).at(np.full(near.shape, -np.inf)).A0
            edged[near] = np.minimum(open_ / rows[4, near], 1.0)
    return State(N, x, Moments(*rows), held, N - ranks, end, edged)


def unit_noise(law: GramLaw, of: State) -> tuple[FloatArray, FloatArray]:
    """What label noise of variance one adds to leading order, [T + A0 P/F]/kappa, and its part with the
    pole 1/F.
    """
    inverse = np.exp(-np.where(of.end, 0.0, of.x))
    pole = of.m.A0 * of.m.P / of.F * inverse
    unit = of.m.T * inverse + pole
    i = np.flatnonzero(of.end)
    if i.size:
        every, seen = law.take(i).inverses()
        pole[i] = np.where(of.m.A0[i] > 0.0, of.m.A0[i] * every / of.F[i], 0.0)
        unit[i] = seen + pole[i]
    return unit, pole


def embedded(of: State) -> tuple[FloatArray, FloatArray]:
    """The mean over embeddings: terms of finite N relative to the leading loss, of the bulk and of the hard
    edge to all orders.

    The first order of the edge is (h-P)^2/F^3; where the edge is near, u = rank - S stands for P, which it
    then is.
    """
    rank, short = of.N - of.nu, of.short
    total = of.held + short
    own, first = of.nu**2 / total**3, (of.held - of.m.P) ** 2 / of.F**3
    first = own + np.minimum(1.0, 0.25 * total**2) * (first - own)
    share = of.edged * np.minimum(of.N / rank, rank / of.N)
    edge = first + np.where(of.edged > 0.0, share * excess(of.nu, of.held, short), 0.0)
    return of.m.width(of.N, of.F), edge


def embedded_noise(of: State, pole: FloatArray, edge: FloatArray) -> FloatArray:
    """The same of label noise of variance one: what is to be added to ``unit_noise``."""
    inverse = np.exp(-np.where(of.end, 0.0, of.x))
    first = (of.held - of.m.P) ** 2 / of.F**3
    bulk = noise_width(of.m, of.held, of.F) * inverse - pole * first
    near = np.minimum(1.0, 0.25 * (of.held + of.short) ** 2)
    return np.asarray(np.where(of.end, 0.0, bulk * near) + np.where(pole > 0.0, pole * edge, 0.0))


@np.errstate(all="ignore")
def next_order(law: GramLaw, of: State) -> tuple[FloatArray, FloatArray]:
    """What ``GramLaw.looped`` does to the leading loss and to label noise, relative to them.

    kappa moves so that S + h stays N.
    """
    (S, S1, t, t1), noisy = law.looped(of.x)
    m, F = of.m, of.F
    shift = np.where(of.end, 0.0, S / F)
    pole = m.A0 * m.P / F
    loss = (t - t1 + 2.0 * m.A1 * shift) / m.A0 + (S1 - (2.0 * m.Q - F) * shift) / F
    of_pole = loss + ((2.0 * m.Q - m.P) * shift - S1) / m.P
    noise = (t1 + (m.T - 2.0 * m.A1) * shift + pole * of_pole) / (m.T + pole) - shift
    noise = np.where(noisy & ~of.end, noise, 0.0)
    return tuple(np.clip(np.nan_to_num(each), -MOST, MOST) for each in (loss, noise))
