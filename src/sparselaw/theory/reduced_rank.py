"""The loss of a two-layer linear network whose first layer is trained too, with m outputs.

The best network of width N is reduced-rank regression: of the targets' m x K matrix T X_A it keeps the N
largest singular directions. For m >> N these are the N coordinates of the largest g_j = n_j c_j, n_j ~
Binomial(D, p_j) how often coordinate j was seen:

    loss = E sum_j s_j 1[n_j = 0] + kappa E sum_j s_j 1[0 < g_j <= t],   E #{j: g_j > t} = N.

As D grows the second sum becomes the tail sum_{j>N} s_j. Its constant kappa is 1 for m >> N and falls to 0 at
m = N, since the best N directions of m drawn outputs leave less than the last coordinates do. For variances
j^-a and large N it depends on x = N/m alone. The eigenvalues l of T diag(s) T^T / m have the Stieltjes
transform v with

    l = -1/v + C v^(1/a - 1),   C = (pi/a) / sin(pi/a)     (Marchenko and Pastur, in units of m^-a),

and v = r e^(i q) is real in l where r^(1/a) = sin q / (C sin((1 - 1/a) q)): the angle q runs through the
spectrum.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.nodes import resolved_edge, seen

if TYPE_CHECKING:
    from sparselaw.inputs import ActivationInputs

_NODES = 4001
_MOST = 1e6  # coordinates looked at
_SURE = 10.0  # standard deviations of a count
_SEEN_TWICE = 1e-4  # mean count below which no coordinate is seen twice
_BEYOND = 16  # times the coordinates seen or kept: those further out are unseen, or too small to be kept


def trained_loss(inputs: ActivationInputs, N: int, D: int, outputs: int) -> float:
    """The mean loss of the best two-layer linear network of width N after D samples, for one of m outputs."""
    unseen = inputs.expected_unseen(D)
    if min(N, outputs) >= inputs.expected_seen(D) or N >= outputs:
        return unseen
    below = _seen_below(inputs, N, D)
    if inputs.exponents is None:
        return unseen + below
    return unseen + tail_constant(N / outputs, inputs.power_law().spectrum) * below


def tail_constant(share: float, spectrum: float) -> float:
    """kappa(x): what the best N = x m directions leave of m outputs, over the tail sum of the variances j^-a.

    >>> round(tail_constant(1e-2, 2.3 + 1.0), 3)
    0.993
    """
    above, left = _spectrum_of_outputs(spectrum)
    if share >= 1.0:
        return 0.0
    if share <= above[-1]:
        return 1.0
    log_left = np.interp(-share, -above[1:], np.log(left[1:]))
    return float(min(1.0, math.exp(log_left) * (spectrum - 1.0) * share ** (spectrum - 1.0)))


def _seen_below(inputs: ActivationInputs, N: int, D: int) -> float:
    """E sum_j s_j 1[0 < g_j <= t] with E #{g_j > t} = N."""
    from scipy.optimize import brentq
    from scipy.special import betainc

    last = min(inputs.dimension, _MOST, _BEYOND * max(float(N), inputs.expected_seen(D)) + 64.0)
    j = np.arange(1.0, last + 1.0)
    p, c, s = inputs.probabilities(j), inputs.squared_amplitudes(j), inputs.variances(j)

    mean, met = D * p, seen(p, D)
    reach = _SURE * (np.sqrt(mean * (1.0 - p)) + 2.0)

    def kept(log_t: float) -> FloatArray:
        """P(g_j > t); the counts of most coordinates are surely above t / c_j, or surely not."""
        count = np.minimum(np.floor(math.exp(log_t) / c), D)
        found = np.where(count < 1.0, met, count < mean)
        doubtful = (np.abs(count - mean) <= reach) & (count >= 1.0) & (count < D) & (mean > _SEEN_TWICE)
        n = count[doubtful]
        found[doubtful] = betainc(n + 1.0, D - n, p[doubtful])
        return found

    low, high = math.log(c.min()) - 1.0, math.log(D * c.max()) + 1.0
    if kept(low).sum() <= N:
        return 0.0
    log_t = brentq(lambda log_t: float(kept(log_t).sum()) - N, low, high, xtol=1e-9)
    return float(s @ (met - kept(log_t)))


@functools.lru_cache(maxsize=64)
def _spectrum_of_outputs(spectrum: float) -> tuple[FloatArray, FloatArray]:
    """The share of the m eigenvalues above l, and the sum of those below it, as l falls from the largest on.

    Both in the order of growing angle: the first entry is the lower edge of the spectrum.
    """
    e, edge = 1.0 / spectrum, resolved_edge(spectrum)
    q = np.linspace(0.0, math.pi, _NODES)[1:-1]
    log_r = spectrum * np.log(np.sin(q) / (edge * np.sin((1.0 - e) * q)))
    grow = spectrum * (1.0 / np.tan(q) - (1.0 - e) / np.tan((1.0 - e) * q))  # d log r / dq
    r, inverse, power = np.exp(log_r), np.exp(-log_r), edge * np.exp((e - 1.0) * log_r)
    value = -np.cos(q) * inverse + power * np.cos((1.0 - e) * q)
    slope = inverse * (np.sin(q) + np.cos(q) * grow)
    slope += power * (1.0 - e) * (-np.sin((1.0 - e) * q) - np.cos((1.0 - e) * q) * grow)
    density = r * np.sin(q) * slope / math.pi
    step = q[1] - q[0]
    between = 0.5 * step * (density[1:] + density[:-1])
    total = np.concatenate([[0.0], np.cumsum(between)])
    weighed = 0.5 * step * (density[1:] * value[1:] + density[:-1] * value[:-1])
    left = np.concatenate([[0.0], np.cumsum(weighed)])
    return np.asarray(1.0 - total), left
