"""The loss surface of dense Gaussian inputs to the next order.

Without ridge, with m = min(N, D), M = max(N, D): given the smaller side the mean over the larger is exact, a
factor 1 + m/(M - m - 1), infinite at M - m <= 1. What is left is the mean over m random directions, k m (1 +
share), share = (m C - B^2)/(m (m-B)^2) with B, C = sum f^2, f^3, f = v/(v+k), sum f = m. N and D may be
exchanged. Label noise of variance one adds N/(D - N - 1) for N < D, exactly. With a ridge, and for noise at
N > D, see ``gaussian_ridge``.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sparselaw.sums.spectrum import VarianceSums
from sparselaw.theory.finite_width import width_share
from sparselaw.theory.gaussian_ridge import noise_of_none, noise_of_ridge, ridge_terms
from sparselaw.theory.gaussian_surface import gaussian_loss
from sparselaw.theory.peak_median import median_gap
from sparselaw.theory.sharp_counts import Sharp, with_noise

BASE_ERROR = 0.002
MEDIAN_REACH = 12.0
TRUSTED = 0.5  # relative error from which on the next order is left out
ROUNDED = 1e-3  # relative, between two ways to the leading surface
FELT = 10.0  # times what a small ridge takes from the leading surface: the error beside the peak
NOISE_FITTED = "label noise is fitted exactly: the mean over data is infinite"
INFINITE_MEAN = "at the double-descent peak, |N - D| <= 1: the mean over data is infinite, see the median"


def sharp_gaussian_loss(
    spectrum: VarianceSums, dimension: float, N: float, D: float, ridge: float = 0.0, noise: float = 0.0
) -> Sharp:
    """The loss of N features and D samples."""
    with np.errstate(all="ignore"):
        if ridge > 0.0:
            value = _with_ridge(spectrum, dimension, N, D, ridge)
        else:
            value = _without(spectrum, dimension, N, D)
        if noise == 0.0:
            return value
        if value.reason:
            return replace(value, median=None)
        unit, error = _noise(spectrum, dimension, N, D, ridge)
    return with_noise(value, noise, unit, error, NOISE_FITTED)


def _with_ridge(spectrum: VarianceSums, dimension: float, N: float, D: float, ridge: float) -> Sharp:
    terms = ridge_terms(spectrum, N, D, ridge)
    leading = gaussian_loss(spectrum, dimension, N, D, ridge, 0.0).loss
    loss = terms.leading + terms.finite_size
    known = abs(terms.leading - leading) < ROUNDED * leading  # else a loss next to nothing, and rounding
    if known and math.isfinite(loss) and loss > 0.0 and terms.error < TRUSTED:
        parts = {"leading": terms.leading, "finite size": terms.finite_size}
        return Sharp(loss, parts, terms.error)
    none = _without(spectrum, dimension, N, D)
    if 0.0 < none.loss < math.inf:  # a small ridge, or a few features beside the peak: by what it takes away
        felt = leading / gaussian_loss(spectrum, dimension, N, D, 0.0, 0.0).loss
        loss = none.loss * felt
        error = min(none.error + FELT * abs(felt - 1.0), 1.0)
        return Sharp(loss, {"leading": leading, "finite size": loss - leading}, error)
    # all coordinates known: the next order is that of the samples, and of the features, beyond their number
    error = sum(10.0 / max(size - dimension, 1.0) for size in (N, D)) if min(N, D) > dimension else 1.0
    return Sharp(leading, {"leading": leading}, min(error, 1.0) if leading > 0.0 else 0.0)


def _noise(spectrum: VarianceSums, dimension: float, N: float, D: float, ridge: float) -> tuple[float, float]:
    """What label noise of variance one adds, and its relative error."""
    leading = gaussian_loss(spectrum, dimension, N, D, ridge, 1.0).loss
    leading -= gaussian_loss(spectrum, dimension, N, D, ridge, 0.0).loss
    features = min(N, dimension)
    if ridge == 0.0 and features < D:
        return (features / (D - features - 1.0), 0.0) if D > features + 1.0 else (math.inf, math.inf)
    if ridge == 0.0 and N <= D + 1.0:
        return math.inf, math.inf
    found = noise_of_ridge(spectrum, N, D, ridge) if ridge > 0.0 else noise_of_none(spectrum, N, D)
    error = BASE_ERROR + 3.0 * (found / leading - 1.0) ** 2 + (4.0 / (N - D) ** 2 if ridge == 0.0 else 0.0)
    if math.isfinite(found) and found > 0.0 and error < TRUSTED:
        return found, error
    if ridge > 0.0:
        none, of_none = _noise(spectrum, dimension, N, D, 0.0)
        plain = gaussian_loss(spectrum, dimension, N, D, 0.0, 1.0).loss
        felt = leading / (plain - gaussian_loss(spectrum, dimension, N, D, 0.0, 0.0).loss)
        if math.isfinite(none) and math.isfinite(felt):
            return none * felt, min(of_none + FELT * abs(felt - 1.0), 1.0)
    return leading, 1.0


def _without(spectrum: VarianceSums, dimension: float, N: float, D: float) -> Sharp:
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
