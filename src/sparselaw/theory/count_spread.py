"""What the luck of the data adds to the mean loss below the peak.

The sums S(k) = sum f and t(k) = sum s (1-f) of one data set scatter about their means, by delta and tau.
With x = log k and M = dt/dx - t = -sum s (1-f)^2 the loss of one data set is N M/S' at the x with S + delta
= N. Its mean over data, to second order in the scatter, needs variances and covariances of delta, tau and
their derivatives at one k: where coordinates do not share samples each is a sum over coordinates, which are
independent; where they do, see ``cavity_scatter``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Scatter:
    """Var S, Cov(S, S'), Cov(S, S''), Var S'; Cov(S, M), Cov(S, M'), Cov(S', M), Var M."""

    V: float
    V1: float
    V2: float
    W: float
    c0: float
    c1: float
    c2: float
    U: float = 0.0  # Var M


@dataclass(frozen=True, slots=True)
class Slopes:
    """Means along x: S', S'', S''' and M, M', M''."""

    S1: float
    S2: float
    S3: float
    M: float
    M1: float
    M2: float

    def with_ridge(self, held: float) -> Slopes:
        """S + N ridge/k in the place of S."""
        return replace(self, S1=self.S1 - held, S2=self.S2 + held, S3=self.S3 - held)


def noise_share(of: Scatter, mean: Slopes, t: float) -> float:
    """The same of t/k, what label noise adds without ridge: its slope along x is M/k."""
    once = of.V / mean.S1**2
    shift = -(0.5 * mean.S2 * once - of.V1 / mean.S1) / mean.S1
    return (mean.M * shift + 0.5 * (mean.M1 - mean.M) * once - of.c0 / mean.S1) / t


def scatter_share(of: Scatter, mean: Slopes) -> float:
    """The mean loss over data relative to that of the mean data, less one."""
    S1, S2, M = mean.S1, mean.S2, mean.M
    once = of.V / S1**2
    shift = -(0.5 * S2 * once - of.V1 / S1) / S1  # the mean of x's second-order shift
    above = (mean.M1 * shift + 0.5 * mean.M2 * once - of.c1 / S1) / M
    below = (S2 * shift + 0.5 * mean.S3 * once - of.V2 / S1) / S1
    squared = (S2**2 * once - 2.0 * S2 * of.V1 / S1 + of.W) / S1**2
    crossed = (mean.M1 * S2 * once - mean.M1 * of.V1 / S1 - S2 * of.c0 / S1 + of.c2) / (M * S1)
    return above - below + squared - crossed


def scatter_along(d: FloatArray, C: FloatArray, K: FloatArray) -> Scatter:
    """From covariances between places along x: of log det with log det, and of log det with t.

    Rows m of ``d`` give the m-th derivative at one x; S = -d log det/dx and M = dt/dx - t.
    """
    less = d[1] - d[0]
    return Scatter(
        V=float(d[1] @ C @ d[1]),
        V1=float(d[1] @ C @ d[2]),
        V2=float(d[1] @ C @ d[3]),
        W=float(d[2] @ C @ d[2]),
        c0=-float(d[1] @ K @ less),
        c1=-float(d[1] @ K @ (d[2] - d[1])),
        c2=-float(d[2] @ K @ less),
    )


def independent_scatter(
    coordinate: NDArray[np.int64],
    weight: FloatArray,
    probability: FloatArray,
    s: FloatArray,
    f: FloatArray,
) -> tuple[Scatter, Slopes]:
    """Of coordinates that share no samples.

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

    scatter = Scatter(
        V=covariance("f", f, f, means["f"]),
        V1=covariance("f", f, slope, means["slope"]),
        V2=covariance("f", f, bend, mean(bend)),
        W=covariance("slope", slope, slope, means["slope"]),
        c0=covariance("f", f, mu, means["mu"]),
        c1=covariance("f", f, mu_slope, mean(mu_slope)),
        c2=covariance("slope", slope, mu, means["mu"]),
        U=covariance("mu", mu, mu, means["mu"]),
    )
    slopes = Slopes(
        S1=total(slope),
        S2=total(bend),
        S3=total(u * (2.0 * u - (1.0 - 2.0 * f) ** 2)),
        M=total(mu),
        M1=total(mu_slope),
        M2=2.0 * total(f * lost * (1.0 - 3.0 * f)),
    )
    return scatter, slopes
