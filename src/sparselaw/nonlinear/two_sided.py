"""The loss of N nonlinear features trained on D samples, with what there is to say beside it.

Both limits are theory. Between them stands the shape of the double descent, with its peak where N meets the
rank n of the features. Above it the kernel scatters about its mean as a Wishart matrix (g in
``data_limit``, one for linear features); below it N features are a regression with a ridge (h in
``samples``). Both are the deterministic equivalent of Gaussian features on drawn samples:

    N > n: loss = L_D [1 + g n/(N - n - 1)],        N < n: loss = L_N + h (1 + c/n) L_D n/(n - N).

The term c/n, of the next order, was measured: none for odd features, about 25 for those with an even part.

Dense inputs have the law of samples' leverages below the peak and the Gaussian form above it
(``gaussian_limit``). Where N meets the rank the mean is infinite, and there is a median (``peak``).

Even features, such as |u x|, hold nothing of a linear target, at any width and on any data. A readout g of
them is even and the target y odd, so that E (y - g)^2 = E y^2 + E g^2: the loss is never below the whole
variance of the inputs. Trained on D samples the readout fits what is noise to it, y having either sign: for N
far below the rank that adds about the share N/(D - N), as for noise of the same variance.

**The peak.** Where N features meet the rank r of the samples, the smaller side is a Wishart matrix W about
its mean, and the loss is a part that stays and one that goes as tr W^-1. For |N - r| <= 1 its mean is
infinite; half of all draws have less than 1/m(|N - r|) times the smaller size, m found by drawing. The rank
of sparse samples scatters too: the median is that of the mixture.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.nonlinear.data_limit import data_limit, interpolation_errors, sharing
from sparselaw.nonlinear.features_limit import features_limit
from sparselaw.nonlinear.gaussian_limit import (
    excess,
    gaussian_data_limit,
    gaussian_features_limit,
    gaussian_variance_term,
)
from sparselaw.nonlinear.losses import NonlinearLoss
from sparselaw.nonlinear.response import Response
from sparselaw.nonlinear.samples import features_rank, rank_deviation, variance_factor
from sparselaw.nonlinear.width_limit import total_variance

UNEVEN = 25.0  # over the rank: what an even part adds to the variance term, fitted to simulated cells
MORE_BETWEEN = 1.5  # times as far off is the part that the other size adds, where rare coordinates meet
DENSE_BELOW, DENSE_ABOVE = 0.1, 0.12  # of dense inputs, times (N/D)^2 and D/N
DENSE_FORMS = 0.2  # at most, for the difference between two forms of what D samples cost
MEDIAN_ERROR = 0.3  # of a median at the peak of sparse inputs
SURE = 0.05  # up to which there is no caution
PEAK = 0.7  # of N/n, or n/N
FEWEST_FEATURES = 24  # features below which the terms that are left out show
CROWDED = 1.0  # alpha1 below which rare coordinates share samples with others that are rare
CROWDED_ERROR = 0.1
DRIFT, TRIED = 0.03, 5e3  # in a decade of D beyond those tried, where e_n goes on with an exponent
INFINITE_MEAN = (
    "at the double-descent peak, where N is within one of the rank: the mean is infinite, see the median"
)
NO_THEORY = "there is no theory of an activation with a jump where both sizes matter"
ONE_SIDED = 0.1  # of N/n or n/N: below it one size alone matters

# The peak.
INFINITE = 0.01  # share of data sets with |N - rank| <= 1 from which on the mean is called infinite
REACH, DEVIATIONS = 12.0, 5.0  # how far from the peak a median is given: in ranks, in standard deviations
SIZE, DRAWS = 300, 4000  # of the Wishart matrices
FAR_GAP = 40  # beyond, tr W^-1/SIZE is 1/(gap - 1)
LEVELS = (np.arange(99.0) + 0.5) / 99.0

# Even features.
EVEN = "even features hold nothing of a linear target"
EVEN_CLOSE = 0.5  # of N over the rank: from there on the readout of noise has no theory here
EVEN_ERROR = 0.5  # relative error there: what simulation has above the variance
EVEN_HEAVY = 0.5  # of the noise that is fitted: samples with much leverage have a large variance too

LARGEST_N = 1e100  # in place of infinitely many features


def two_sided_losses(
    inputs: Inputs, response: Response, widths: Sequence[float], data: Sequence[int]
) -> list[NonlinearLoss]:
    """Every pair, N by N: the expected population loss of the minimum-norm solution."""
    dense = inputs.sampling == "gaussian"
    found = []
    for width in widths:
        for samples in data:
            N, D = float(min(width, LARGEST_N)), float(samples)
            rank = min(D, 2.0 * inputs.dimension) if dense else features_rank(inputs, response, D)
            if response.slope == 0.0:
                loss = even_loss(inputs, N, D, rank)
            elif dense:
                loss = _dense(inputs, response, N, D)
            else:
                loss = _sparse(inputs, response, N, D, rank)
            found.append(replace(loss, N=width, D=samples, rank=float(rank)))
    return found


def _sparse(inputs: Inputs, response: Response, N: float, D: float, rank: float) -> NonlinearLoss:
    activations, trust = cast(ActivationInputs, inputs), response.trust
    few, near = N < rank, min(N / rank, rank / N)
    if near > (trust.below if few else trust.above):
        return NonlinearLoss(loss=math.nan, error=math.nan, cautions=["both sizes matter"], reason=NO_THEORY)
    known = data_limit(inputs, response, D)
    crowded = inputs.power_activations().decay < CROWDED + 1.0

    @functools.cache
    def parts(few: bool) -> tuple[float, float]:
        """On a side of the peak, what stays of the loss and what tr W^-1 is multiplied by."""
        if few:
            uneven = min(UNEVEN / rank, 1.0) if response.even else 0.0
            factor = variance_factor(activations, response) * (1.0 + uneven)
            return features_limit(inputs, response, N).loss, factor * known
        return known, sharing(activations, response).variance_factor * known

    deviation, median = rank_deviation(inputs, response, D), None
    if known > 0.0 and has_median(N, rank, deviation):
        median = mixture_median(N, rank, deviation, lambda r: parts(r > N))
        if is_infinite(N, rank, deviation):
            return _at_the_peak(median, MEDIAN_ERROR + (CROWDED_ERROR if crowded else 0.0))
    stays, goes = parts(few)
    free = rank - N if few else N - rank - 1.0
    added = 0.0 if known == 0.0 else goes * rank / free if free > 0.0 else math.inf
    loss = stays + added
    if few:
        unsure = trust.between * (MORE_BETWEEN if crowded else 1.0) * added / loss
        limit = features_limit(inputs, response, N)
        said = _said(limit.beyond, response, max(limit.error, trust.features) + unsure, N, near)
        return NonlinearLoss(loss=loss, median=median, **said)
    own = max(trust.data, CROWDED_ERROR if crowded else 0.0)
    if not math.isinf(interpolation_errors(inputs, response).fall):
        own += DRIFT * max(math.log10(D / TRIED), 0.0)
    said = _said(0.0, response, own + trust.between * near, math.inf, near)
    if crowded:
        said["cautions"].append("alpha1 < 1: rare coordinates share samples, the loss is good to about 10 %")
    return NonlinearLoss(loss=loss, median=median, **said)


def _dense(inputs: Inputs, response: Response, N: float, D: float) -> NonlinearLoss:
    def at(free: float) -> dict[str, Any]:
        """The loss where tr W^-1 of the smaller side is its size over ``free``, its error and cautions."""
        if N <= D:
            low = gaussian_features_limit(inputs, response, N)
            more, unsure = excess(inputs, response, N, N + 1.0 + free)
            own = max(low.error, response.trust.features) + DENSE_BELOW * (N / D) ** 2
            own += min(unsure / (1.0 + more), DENSE_FORMS)
            return {"loss": low.loss * (1.0 + more), **_said(low.beyond, response, own, N, N / D)}
        high = gaussian_data_limit(inputs, response, D)
        loss = high.loss + gaussian_variance_term(inputs, response, D) * D / free
        return {"loss": loss, **_said(high.beyond, response, high.error + DENSE_ABOVE * D / N, D, D / N)}

    gap, median = abs(N - D), None
    if has_median(N, D, 0.0):
        middle = at(median_gap(gap))
        median = middle["loss"]
        if is_infinite(N, D, 0.0):
            return _at_the_peak(median, middle["error"])
    return NonlinearLoss(median=median, **at(gap - 1.0))


def _at_the_peak(median: float, error: float) -> NonlinearLoss:
    caution = f"at the double-descent peak: compare medians, good to about {error:.0%}"
    return NonlinearLoss(
        loss=math.inf, error=math.inf, cautions=[caution], median=median, reason=INFINITE_MEAN
    )


def _said(beyond: float, response: Response, error: float, size: float, near: float) -> dict[str, Any]:
    """The error and the cautions: ``near`` is one at the peak and zero far from it."""
    cautions = []
    if size < FEWEST_FEATURES:
        error = max(error, response.trust.few)
        cautions.append(f"fewer than {FEWEST_FEATURES}: good to about {error:.0%}")
    if beyond:
        cautions.append(f"continued from {beyond:g} with the exponent there")
    if near > PEAK:
        cautions.append("near the double-descent peak, where N meets the rank of the features")
    elif error > SURE and not cautions:
        where = "both sizes matter" if near > ONE_SIDED else "the theory's own error"
        cautions.append(f"{where}: the loss may be off by about {min(error, 1.0):.0%}")
    return {"error": error, "cautions": cautions}


def even_loss(inputs: Inputs, N: float, D: float, rank: float) -> NonlinearLoss:
    """The variance of the inputs, and the noise that is fitted."""
    total = total_variance(inputs)
    if N > EVEN_CLOSE * rank or math.isinf(N):
        more = f"{EVEN}: the loss is at least their variance, and here some tenths more"
        return NonlinearLoss(loss=total, error=EVEN_ERROR, cautions=[more])
    noise = N / (D - N)
    fitted = f"{EVEN}: their variance is left, and fitted noise"
    return NonlinearLoss(loss=total * (1.0 + noise), error=EVEN_HEAVY * noise, cautions=[fitted])


@functools.lru_cache(maxsize=64)
def inverse_traces(gap: int) -> FloatArray:
    """Quantiles at LEVELS of tr W^-1/K, W = G G^T with G of K x (K + gap) normal entries.

    W is drawn through its bidiagonal form B B^T: the rows of B^-1 have squared lengths
    s_i = (1 + e_i^2 s_{i-1})/d_i^2, with d and e the chi variables on the diagonal and below it.
    """
    rng = np.random.default_rng([20261118, gap])
    total = row = np.zeros(DRAWS)
    for i in range(SIZE):
        below = rng.chisquare(SIZE - i, DRAWS) if i else np.zeros(DRAWS)
        row = (1.0 + below * row) / rng.chisquare(SIZE + gap - i, DRAWS)
        total = total + row
    return np.asarray(np.quantile(total / SIZE, LEVELS))


def quantiles(gap: float) -> FloatArray:
    """The same for a real gap: linear in the logarithm between whole ones."""
    if gap >= FAR_GAP:
        return np.full(LEVELS.size, 1.0 / (gap - 1.0))
    low = int(gap)
    one, two = np.log(inverse_traces(low)), np.log(inverse_traces(low + 1))
    return np.asarray(np.exp(one + (gap - low) * (two - one)))


def median_gap(gap: float) -> float:
    """m(gap): the median of tr W^-1 is K/m; its mean K/(gap - 1)."""
    return 1.0 / float(quantiles(gap)[LEVELS.size // 2])


def is_infinite(N: float, rank: float, deviation: float) -> bool:
    """Whether |N - rank| <= 1 for more than INFINITE of the data sets."""
    if deviation == 0.0:
        return abs(N - rank) <= 1.0
    law = statistics.NormalDist(rank, max(deviation, 0.3))
    return law.cdf(N + 1.5) - law.cdf(N - 1.5) > INFINITE


def has_median(N: float, rank: float, deviation: float) -> bool:
    """Whether N is near enough to the rank."""
    return abs(N - rank) <= max(REACH, DEVIATIONS * deviation)


def mixture_median(
    N: float, rank: float, deviation: float, parts: Callable[[float], tuple[float, float]]
) -> float:
    """The median over ranks: ``parts(r)`` is what stays of the loss and what tr W^-1 is multiplied by."""
    law = statistics.NormalDist(rank, max(deviation, 0.3))
    found = []
    for r in map(law.inv_cdf, LEVELS.tolist()):
        stays, goes = parts(r)
        found.append(stays + goes * r * quantiles(abs(N - r)))
    return float(np.median(np.concatenate(found)))
