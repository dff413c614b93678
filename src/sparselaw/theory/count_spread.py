"""What the luck of the data adds to the mean loss below the peak.

The sums S(k) = sum f and t(k) = sum s (1-f) of one data set scatter about their means, by delta and tau.
With x = log k and M = dt/dx - t = -sum s (1-f)^2 the loss of one data set is N M/S' at the x with S + delta
= N. Its mean over data, to second order in the scatter, needs variances and covariances of delta, tau and
their derivatives at one k: each is a sum over coordinates, which are independent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray


def scatter_share(
    coordinate: NDArray[np.int64],
    weight: FloatArray,
    probability: FloatArray,
    s: FloatArray,
    f: FloatArray,
) -> float:
    """The mean loss over data relative to that of the mean data, less one.

    Points of ``coordinate`` (of which there are ``weight``), each with its ``probability``, variance and f.
    """
    u, lost = f * (1.0 - f), s * (1.0 - f) ** 2
    slope, bend = -u, u * (1.0 - 2.0 * f)  # of f along x
    mu, mu_slope = -lost, -2.0 * f * lost

    def mean(values: FloatArray) -> FloatArray:
        return np.bincount(coordinate, probability * values, minlength=weight.size).astype(float)

    def total(values: FloatArray) -> float:
        return float(weight @ mean(values))

    means = {name: mean(x) for name, x in (("f", f), ("slope", slope), ("mu", mu))}

    def covariance(a: str, x: FloatArray, y: FloatArray, z: FloatArray) -> float:
        return float(weight @ (mean(x * y) - means[a] * z))

    V = covariance("f", f, f, means["f"])
    V1 = covariance("f", f, slope, means["slope"])
    V2 = covariance("f", f, bend, mean(bend))
    W = covariance("slope", slope, slope, means["slope"])
    c0 = covariance("f", f, mu, means["mu"])
    c1 = covariance("f", f, mu_slope, mean(mu_slope))
    c2 = covariance("slope", slope, mu, means["mu"])
    S1, S2, S3 = total(slope), total(bend), total(u * (2.0 * u - (1.0 - 2.0 * f) ** 2))
    M, M1, M2 = total(mu), total(mu_slope), 2.0 * total(f * lost * (1.0 - 3.0 * f))
    shift = -(0.5 * S2 * V / S1**2 - V1 / S1) / S1  # the mean of x's second-order shift
    above = (M1 * shift + 0.5 * M2 * V / S1**2 - c1 / S1) / M
    below = (S2 * shift + 0.5 * S3 * V / S1**2 - V2 / S1) / S1
    squared = (S2**2 * V / S1**2 - 2.0 * S2 * V1 / S1 + W) / S1**2
    crossed = (M1 * S2 * V / S1**2 - M1 * V1 / S1 - S2 * c0 / S1 + c2) / (M * S1)
    return above - below + squared - crossed
