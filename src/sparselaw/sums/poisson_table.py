"""Expectations over a Poisson count as smooth functions of two logarithms, read off one table.

With n ~ Poisson(m) and a cut-off q (see occupancy.py, which fills the table),

    E[n^2/(n+q)^2]        = m (1+m)/(1+m+q)^2 e^r,
    E[n/(n+q)^2]          = m/(1+m+q)^2 e^s,
    E[q^2/(n+q)^2; n > 0] = (1-e^-m) (q/(1+m+q))^2 e^t,

and r, s, t stay within a few units, go to a constant at every end, and are splines in (log m, log q).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.occupancy import occupancy

STEP = 0.25
LOG_M = np.arange(-14.0, 16.01, STEP)
LOG_Q = np.arange(-14.0, 20.01, STEP)
NEGLECTED = -16.0  # log of a part so small beside e^-m that the difference has no digits left


class PoissonSums(NamedTuple):
    resolved: FloatArray  # E[n^2/(n+q)^2]
    partial: FloatArray  # E[n q/(n+q)^2]
    lost: FloatArray  # E[q^2/(n+q)^2]


def poisson_sums(log_m: FloatArray, log_q: FloatArray) -> PoissonSums:
    """For arrays of one shape, to about 1e-6."""
    from scipy.ndimage import map_coordinates

    places = np.stack([(log_m - LOG_M[0]) / STEP, (log_q - LOG_Q[0]) / STEP])
    most = np.array([LOG_M.size - 1.0, LOG_Q.size - 1.0]).reshape((2,) + (1,) * log_m.ndim)
    places = np.clip(places, 0.0, most)
    r, s, t = (map_coordinates(c, places, order=3, mode="nearest", prefilter=False) for c in _splines())
    m, q = np.exp(log_m), np.exp(np.minimum(log_q, 600.0))
    whole = 2.0 * np.log(1.0 + m + q)
    return PoissonSums(
        resolved=m * (1.0 + m) * np.exp(r - whole),
        partial=m * np.exp(s + log_q - whole),
        lost=np.exp(-m) - np.expm1(-m) * np.exp(t + 2.0 * log_q - whole),
    )


@lru_cache(maxsize=1)
def _splines() -> tuple[FloatArray, FloatArray, FloatArray]:
    from scipy.ndimage import spline_filter

    m, log_q = (x.ravel() for x in np.meshgrid(np.exp(LOG_M), LOG_Q, indexing="ij"))
    found = occupancy(m, np.zeros_like(m), log_q)
    whole = 2.0 * np.log1p(m + np.exp(log_q))
    r = np.log(found.resolved) - np.log(m * (1.0 + m)) + whole
    s = np.log(found.inverse) - np.log(m) + whole
    plain = np.log(-np.expm1(-m)) + 2.0 * log_q - whole
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.log(found.lost - np.exp(-m)) - plain
    t = np.where((plain < NEGLECTED - m) | ~np.isfinite(t), 0.0, t)
    shape = (LOG_M.size, LOG_Q.size)
    first, second, third = (spline_filter(x.reshape(shape), order=3, mode="nearest") for x in (r, s, t))
    return first, second, third
