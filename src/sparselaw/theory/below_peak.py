"""The scaling limit of the loss below the peak, along N at one pair (alpha1, alpha2): all cut-offs at once.

With t = N/K(D) the loss is C_N N^-alpha_N F(t), and log(F(t) (1 - t)) is a smooth bounded function of
u = log(t/(1-t)): zero for few features, a constant at the peak. Each cut-off k gives a t and a loss by the
integrals of collapse.py, so no equation is solved: cut-offs are laid out evenly in u, then a spline is taken.
``collapse.scaling_function`` is the same function point by point.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.constants import resolved_edge
from sparselaw.sums.counts import PowerCountSums, continuum_sums
from sparselaw.sums.poisson_table import poisson_sums

STRIDES = np.concatenate([[0.0], np.cumsum(np.geomspace(1.2, 90.0, 11))])  # how log k is first looked at
PLACES = 25
ROOM = 0.6  # in u, beyond both ends


def below_peak(alpha1: float, alpha2: float, u: FloatArray) -> FloatArray:
    """log(F(t) (1 - t)) at increasing u = log(t/(1-t)), alpha1 > 0."""
    from scipy.interpolate import CubicSpline, PchipInterpolator

    a = alpha1 + alpha2 + 2.0
    log_peak = math.lgamma(alpha1 / (1.0 + alpha1))  # K = Gamma(1 - 1/(alpha1+1)) J
    low, high = float(u[0]) - ROOM, float(u[-1]) + ROOM
    sums = continuum_sums(alpha1, alpha2, math.exp(-log_peak - low))
    first = -a * (low + log_peak - math.log(resolved_edge(a)))
    log_k = first - STRIDES * max(1.0, a / 3.0)
    seen = _curve(sums, log_k, log_peak)[0]
    beyond = np.flatnonzero(seen > high)
    last = int(beyond[0]) + 1 if beyond.size else seen.size
    wanted = np.linspace(seen[0], min(high, seen[last - 1]), PLACES)
    places, log_loss = _curve(sums, PchipInterpolator(seen[:last], log_k[:last])(wanted), log_peak)
    log_t = -np.log1p(np.exp(-places))
    constant = a * math.log(resolved_edge(a))  # log C_N
    values = log_loss - constant + (a - 1.0) * (log_t + log_peak) + (log_t - places)
    return np.asarray(CubicSpline(places, values)(u))


def _curve(sums: PowerCountSums, log_k: FloatArray, log_peak: float) -> tuple[FloatArray, FloatArray]:
    """u and the log loss, in units of J, at each cut-off."""
    log_q = log_k[:, None] - sums.log_c
    found = poisson_sums(np.broadcast_to(np.log(sums.mean), log_q.shape), log_q)
    far = np.array([sums.beyond(float(x)) for x in log_k])
    resolved = found.resolved @ sums.weight + far[:, 0]
    partial = found.partial @ sums.weight + far[:, 1]
    lost = found.lost @ (sums.weight * np.exp(sums.log_s)) + far[:, 2]
    N = resolved + partial
    t = N * math.exp(-log_peak)
    return np.log(t) - np.log(np.maximum(1.0 - t, 1e-13)), np.log(lost * N / partial)
