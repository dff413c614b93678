"""The effective ridge of N features: S(kappa) + N ridge/kappa = N."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import GramLaw

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
