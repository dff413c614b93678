"""The loss surface of dense Gaussian inputs to the next order, without ridge and label noise.

With m = min(N, D), M = max(N, D): given the smaller side the mean over the larger is exact, a factor
1 + m/(M - m - 1), infinite at M - m <= 1. What is left is the mean over m random directions, k m (1 + share),
share = (m C - B^2)/(m (m-B)^2) with B, C = sum f^2, f^3, f = v/(v+k), sum f = m. N and D may be exchanged.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.sums.spectrum import VarianceSums
from sparselaw.theory.finite_width import width_share
from sparselaw.theory.gaussian_surface import gaussian_loss
from sparselaw.theory.peak_median import median_gap
from sparselaw.theory.sharp_counts import Sharp

BASE_ERROR = 0.002
MEDIAN_REACH = 12.0
INFINITE_MEAN = "at the double-descent peak, |N - D| <= 1: the mean over data is infinite, see the median"


def sharp_gaussian_loss(spectrum: VarianceSums, dimension: float, N: float, D: float) -> Sharp:
    """The loss of N features and D samples."""
    m, gap = min(N, D), abs(N - D)
    if m >= dimension:
        return Sharp(0.0, {"leading": 0.0}, 0.0)
    value = gaussian_loss(spectrum, dimension, m, 2.0 * m, 0.0, 0.0)  # for its cut-off
    f1, spread = spectrum.degrees(value.log_cutoff)
    share = width_share(f1, f1 - spread, spectrum.cubes(value.log_cutoff))
    one_side = math.exp(value.log_cutoff) * m
    median = None
    if gap <= MEDIAN_REACH:
        median = one_side * (1.0 + share) * (1.0 + m / float(median_gap(np.array(gap))))
    leading = one_side * max(N, D) / gap if gap > 0.0 else math.inf
    if gap <= 1.0:
        return Sharp(math.inf, {"leading": leading, "peak": math.inf}, math.inf, median, INFINITE_MEAN)
    factor = 1.0 + m / (gap - 1.0)
    terms = {
        "leading": leading,
        "finite size": one_side * share * factor,
        "one sample less": one_side * factor - leading,
    }
    return Sharp(sum(terms.values()), terms, BASE_ERROR + 2.0 * share**2, median)
