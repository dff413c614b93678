"""Expectations over how often a coordinate was seen, at a cost that does not grow with the count.

n ~ Binomial(D, p) with mean m = D p, or Poisson(m) when p = 0. With phi(x) = E[e^(-n x)],

    E[n^2 / (n+q)^2]  =  int_0^inf x e^(-q x) E[n^2 e^(-n x)] dx,
    E[n / (n+q)^2]    =  int_0^inf x e^(-q x) E[n e^(-n x)] dx,
    E[q^2 / (n+q)^2]  =  P(n=0) + q^2 int_0^inf x e^(-q x) (phi(x) - P(n=0)) dx.

All integrands are positive, so nothing cancels. In v = log x each is a mixture of the integrand of Gamma(2),
for which the trapezoid rule converges like exp(-pi^2/step).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.sums.unseen import log_unseen

STEP = 0.3  # relative error about 1e-12
# Left: the integrand in v falls as e^(2v). Right: the slowest part, n = 1, matters only while the mean is
# below about 50; beyond that the count stays near its mean.
_V = np.arange(-14.0, 7.6, STEP)
_X = np.exp(_V)
_WEIGHT = STEP * _X * _X  # x dx = x^2 dv


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Three expectations for each coordinate, q being the cut-off in units of its squared amplitude."""

    resolved: FloatArray  # E[n^2 / (n+q)^2]
    inverse: FloatArray  # E[n / (n+q)^2]; at q = 0 this is E[1/n; n >= 1]
    lost: FloatArray  # E[q^2 / (n+q)^2]


def unseen_probability(mean: FloatArray, p: FloatArray) -> FloatArray:
    """P(n = 0) = (1-p)^D, or e^-m in the Poisson limit p = 0."""
    return np.asarray(np.exp(_log_unseen(mean, p)), dtype=float)


def seen_probability(mean: FloatArray, p: FloatArray) -> FloatArray:
    """P(n > 0), with its digits where it is next to nothing: there are as many more such coordinates."""
    return np.asarray(-np.expm1(_log_unseen(mean, p)), dtype=float)


def occupancy(mean: FloatArray, p: FloatArray, log_q: FloatArray) -> Occupancy:
    """The expectations for each coordinate; ``log_q`` may be -inf (q = 0)."""
    q = np.exp(np.minimum(log_q, 700.0))
    scale = 1.0 / (q + np.maximum(mean, 1.0))
    x = scale[:, None] * _X
    # Arrays are written over when they are done with: new ones would take as long as the arithmetic.
    shrink = -x
    np.expm1(shrink, out=shrink)
    missed = p[:, None] * shrink  # p (e^-x - 1)
    always = p >= 1.0
    missed[always] = 0.0
    log_phi = np.log1p(missed)
    log_phi *= _trials(mean, p)[:, None]
    log_phi[always] = -mean[always, None] * x[always]
    poisson = _nearly_poisson(p)
    log_phi[poisson] = mean[poisson, None] * shrink[poisson]
    # phi(x) e^(-q x). Below, scale * n and scale * q are at most about one, so their squares cannot overflow.
    weight = q[:, None] * x
    np.subtract(log_phi, weight, out=weight)
    np.exp(weight, out=weight)
    weight *= _WEIGHT
    shrink += 1.0
    missed += 1.0
    ratio = np.divide(shrink, missed, out=shrink)
    ratio[always] = 1.0
    tilted = mean[:, None] * ratio  # the mean of n under the law tilted by e^(-n x)
    first = scale**2 * np.sum(np.multiply(weight, tilted, out=x), axis=1)
    tilted *= scale[:, None]
    ratio *= p[:, None]
    np.subtract(1.0, ratio, out=ratio)
    ratio *= scale[:, None]
    ratio += tilted
    tilted *= weight
    second = np.sum(np.multiply(tilted, ratio, out=tilted), axis=1)
    log_missed = _log_unseen(mean, p)
    seen_at_least_once = np.subtract(log_missed[:, None], log_phi, out=log_phi)
    np.expm1(np.minimum(seen_at_least_once, 0.0, out=log_phi), out=log_phi)
    np.negative(seen_at_least_once, out=log_phi)
    seen_at_least_once *= weight
    lost = np.exp(log_missed) + (q * scale) ** 2 * np.sum(seen_at_least_once, axis=1)
    return Occupancy(resolved=second, inverse=first, lost=lost)


def _nearly_poisson(p: FloatArray) -> NDArray[np.bool_]:
    """Below this, (1-p)^D and e^(-D p) agree to rounding and D = m/p may overflow."""
    return p < 1e-16


def _trials(mean: FloatArray, p: FloatArray) -> FloatArray:
    safe = np.where(_nearly_poisson(p), 1.0, p)
    return np.asarray(np.where(_nearly_poisson(p), 0.0, mean / safe), dtype=float)


def _log_unseen(mean: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray(np.where(_nearly_poisson(p), -mean, log_unseen(p, _trials(mean, p))), dtype=float)
