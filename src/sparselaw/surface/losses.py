"""One loss surface for every law of the Gram matrix: N Gaussian features, ridge and label noise.

The embedding turns the ridge into an effective one, kappa, with S + h = N, h = N ridge/kappa; without
ridge, at or above the rank, kappa -> 0 and h = N - rank. On either side of the peak, with F = N - df2 = P +
h,

    leading      A0 N/F                   the deterministic equivalent
    label noise  [T + A0 P/F]/kappa       for noise of variance one
    finite N     the mean over embeddings: next order in 1/N, and the hard edge to all orders
    scatter      the mean over data sets: second order in Cov(S, t); near the peak over the law of the rank

F -> 0 is the double-descent peak. A point is an array of length one: nothing depends on what else is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import GramLaw, Scatter
from sparselaw.surface.finite_size import noise_scatter, scatter_share
from sparselaw.surface.peak import SETTLED, is_infinite, is_near, over_ranks
from sparselaw.surface.state import State, embedded, embedded_noise, state_at, unit_noise

FLOOR = 0.005  # relative error that is always left


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


def surface(law: GramLaw, N: FloatArray | float, ridge: float = 0.0, noise: float = 0.0) -> Losses:
    """The expected population loss at every N.

    Parameters
    ----------
    law
        The law of the Gram matrix of the data.
    N
        Numbers of features, real and positive.
    ridge
        The ridge of the solver, not divided by the number of samples.
    noise
        The variance of the label noise.

    Returns
    -------
    Losses
        The losses, their terms and their errors, in the order of N.
    """
    sizes = np.atleast_1d(np.asarray(N, float))
    with np.errstate(all="ignore"):
        return _surface(law, sizes, ridge, noise)


def leading_surface(law: GramLaw, N: FloatArray | float, ridge: float = 0.0, noise: float = 0.0) -> Losses:
    """The same to leading order: the deterministic equivalent and nothing else.

    Parameters
    ----------
    law, N, ridge, noise
        As for ``surface``.

    Returns
    -------
    Losses
        The leading term and that of label noise; the error is nan.
    """
    sizes = np.atleast_1d(np.asarray(N, float))
    with np.errstate(all="ignore"):
        of = state_at(law, sizes, ridge)
        added = noise * unit_noise(law, of)[0] if noise > 0.0 else np.zeros_like(sizes)
        none, leading = np.zeros_like(sizes), of.leading
    unknown = np.full_like(sizes, np.nan)
    return Losses(sizes, of.x, leading, none, none, added, leading + added, unknown, np.isinf(leading))


def _surface(law: GramLaw, N: FloatArray, ridge: float, noise: float) -> Losses:
    of, settled = state_at(law, N, ridge), np.zeros(N.shape, bool)
    cov, terms, leading = law.scatter(of.x), embedded(of), of.leading
    nothing = of.m.A0 <= 0.0
    peak = is_infinite(law, N) & ~nothing if ridge == 0.0 else settled
    share = scatter_share(cov, of.m, of.held) * np.minimum(1.0, ((of.held + of.short) / SETTLED) ** 2)
    share = np.where(np.isfinite(share), share, 0.0)
    quiet = leading * terms.factor
    spread = quiet * share
    few = 1.0 / np.minimum(N, law.rank)
    changed = np.abs(terms.factor - 1.0)
    error = changed * (changed + few) + np.abs(share) * (np.abs(share) + few) + law.error(of.x)
    added = np.zeros_like(N)
    if noise > 0.0:
        unit, pole = unit_noise(law, of)
        width = embedded_noise(of, pole, terms.edge)
        part = np.where(of.end, pole * cov.SS / of.F**2, (unit + width) * noise_scatter(cov, of.m, of.held))
        added = np.where(np.isinf(unit), np.inf, noise * (unit + width + part))
        own = (width / unit) ** 2 + (part / unit) ** 2 + law.error(of.x)
        error = (error * (quiet + spread) + own * added) / (quiet + spread + added)
    for i in np.flatnonzero(is_near(law, cov, of) & ~peak & ~nothing):
        found = over_ranks(law, float(N[i]), ridge, noise, _one(of, i), Scatter(*cov.rows()[:, [i]]))
        quiet[i], spread[i], added[i] = found.at_mean, found.loss - found.at_mean, found.noise
        error[i] = found.error + float(law.error(of.x[[i]])[0])
    quiet, spread = np.where(nothing, 0.0, quiet), np.where(nothing, 0.0, spread)
    lost = ~(quiet + spread >= law.unseen)  # no learner goes below what was never seen
    quiet, spread = np.where(lost, np.maximum(leading, law.unseen), quiet), np.where(lost, 0.0, spread)
    error = np.where(lost | ~np.isfinite(error), 1.0, error)
    loss = np.where(peak, np.inf, quiet + spread + added)
    error = np.where(peak, np.inf, np.where(loss > 0.0, error + FLOOR, 0.0))
    return Losses(N, of.x, leading, quiet - leading, spread, added, loss, error, peak)


def _one(of: State, i: np.intp) -> State:
    """The state at one N."""
    values = {field.name: getattr(of, field.name) for field in fields(of)}
    return State(
        **{name: value.pick(np.array([i])) if name == "m" else value[[i]] for name, value in values.items()}
    )
