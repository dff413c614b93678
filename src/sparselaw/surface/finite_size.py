"""What finite sizes add to the deterministic equivalent, in closed form of the eight moments.

``width`` is the next order in 1/N over Gaussian embeddings (Wick's theorem to second order). With h = N
ridge/kappa, F = P + h, a1 = A1/A0, a2 = A2/A0 it is

    width = 1/F - (Q + 3 R)/F^2 + 4 Q^2/F^3 - 1/N - 4 a1 Q/F^2 + 3 a2/F.

Where every eigenvalue is resolved or nearly so (the hard edge: Q = R = P) this is (h-P)^2/F^3 - 1/N, of
which all orders are known, see ``hard_edge``. ``scatter`` is the mean over data sets of the leading term,
to second order in the covariances of S and t.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import Moments, Scatter


def width_share(m: Moments, N: FloatArray, F: FloatArray) -> FloatArray:
    """The term of order 1/N relative to the leading loss A0 N/F, without its hard edge (h-P)^2/F^3."""
    a1, a2 = m.A1 / m.A0, m.A2 / m.A0
    bulk = ((m.P - m.Q) + 3.0 * (m.P - m.R)) / F**2 - 4.0 * (m.P - m.Q) * (m.P + m.Q) / F**3
    return np.asarray(bulk - 1.0 / N - 4.0 * a1 * m.Q / F**2 + 3.0 * a2 / F)


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
