"""The rank of D samples to the next order: what the loops of the graph take away, less than one.

Samples and coordinates with an activation between them make a graph, and ``rank`` treats it as a tree. A loop
of L samples and L coordinates matters only where leaves peel off everything around it: coordinate i is left
open by its D-2 other samples, z_i = (1 - p_i rho_i)^(D-2), and no other coordinate of a sample is open. The
rank of a chain so peeled is the number of its nodes plus a sum over windows of m neighbours, (-1)^m times the
product of their z, each of which is also in the tree of the same messages; of a closed loop what is left over
is the one window of all 2L. In the sum over the loop less all ways to cut it at nodes everything else
cancels, and with kappa_i = p_i q_i, pi_i = p_i rho_i, a loop adds to the mean rank

    prod_i g_i/D (sum_i h_i - 1/2),   g_i = D p_i^2 z_i rho/(1 - kappa_i)^2,
    h_i = (1 - pi_i)^D + rho + 2 pi_i kappa_i - 1.

The -1/2 is that of signs: a closed loop of +-1 is singular in half of all draws (with continuous activations
it never is). A loop has L samples and L different coordinates in one of 2L orders:

    sum_{L>=2} 1/(2L) sum_{i_1 != ... != i_L} prod g = 1/2 int_0^inf e^-t dt/t [prod_i (1 + t g_i) - 1 - t G],

G = sum g. At many samples G falls as D^(-alpha1/(alpha1+1)), and the correction as its square.
"""

from __future__ import annotations

import functools

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.unseen import unseen

POINTS = 24  # of Gauss's quadrature in t: exact for loops of up to 48 samples
FEW = 1e-9  # loops through a coordinate, below which it is left out
MOST = 1.0  # taken away: more means that loops are no longer few


def loops(weight: FloatArray, p: FloatArray, D: float, rho: float, q: FloatArray) -> float:
    """What loops add to the mean rank at the fixed point (rho, q): negative where it matters."""
    if D < 2.0:
        return 0.0
    kappa = np.minimum(p * q, 1.0 - 1e-16)
    pi = np.minimum(p * np.minimum(rho / (1.0 - kappa), 1.0), 1.0 - 1e-16)
    g = D * p**2 * unseen(pi, D - 2.0) * rho / (1.0 - kappa) ** 2
    h = unseen(pi, D) + rho + 2.0 * pi * kappa - 1.0
    kept = weight * g > FEW * max(float(weight @ g), 1e-300)
    weight, g, h = weight[kept], g[kept], h[kept]
    if not float(weight @ g) > 1e-6:
        return 0.0
    t, gauss = _laguerre()
    tg = np.multiply.outer(t, g)
    together = np.exp(np.log1p(tg) @ weight)
    each = (together[:, None] * tg / (1.0 + tg) - tg) @ (weight * h)
    closed = together - 1.0 - tg @ weight
    return float(np.clip(0.5 * (gauss / t) @ (each - 0.5 * closed), -MOST, MOST))


@functools.cache
def _laguerre() -> tuple[FloatArray, FloatArray]:
    t, gauss = np.polynomial.laguerre.laggauss(POINTS)
    return np.asarray(t), np.asarray(gauss)
