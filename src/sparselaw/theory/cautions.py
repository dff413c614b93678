"""Words of caution beside a predicted loss."""

from __future__ import annotations

import math
from typing import cast

from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.theory.coactivation import coactivation
from sparselaw.theory.sharp_counts import Sharp

TRUSTED_MEDIAN = 0.08  # and of a median at the peak
TRUSTED_ERROR = 0.03  # relative error up to which the sharp surface needs no caution

# The leading surface's own.
PEAK_WIDTH = 5.0  # in standard deviations of the number of coordinates seen; at its edge about 4 % off
SMALL_SIZE = 20
COACTIVATION_SHARE = 0.02
CROWDED = 0.5  # K/D above which pairs are no small correction


def error_caution(value: Sharp, why: str = "") -> list[str]:
    """Of the sharp surface: where its own estimate of its error is large."""
    rough = value.median is not None and value.median_error > TRUSTED_MEDIAN
    if math.isinf(value.loss):
        if value.median is None:
            return []
        size = f", good to about {value.median_error:.0%}" if rough else ""
        return [f"at the double-descent peak: compare medians{size}"]
    cautions = []
    if value.error > TRUSTED_ERROR:
        where = why or "near the double-descent peak or at very few features"
        cautions = [f"{where}: the loss may be off by about {min(value.error, 1.0):.0%}"]
    if rough:
        cautions.append(f"the median is good to about {value.median_error:.0%}")
    return cautions


def count_cautions(
    inputs: ActivationInputs,
    N: int,
    D: int,
    K: float,
    spread: float,
    ridge: float,
    share: float | None = None,
) -> list[str]:
    """Of the leading surface of counts; the ``share`` of co-activation is found where it is not given."""
    cautions = []
    if ridge == 0.0 and abs(N - K) <= max(PEAK_WIDTH * spread, 1.0):
        cautions.append(
            f"at the double-descent peak (N within {PEAK_WIDTH:g} standard deviations of K = {K:.4g}): "
            "the mean over data is infinite or nearly so, compare medians"
        )
    share = coactivation(inputs, float(D)).share if share is None else share
    if K > CROWDED * D:
        cautions.append(
            f"{K:.3g} coordinates are seen in {D} samples: the surface needs K well below D, "
            "here rare coordinates cannot be told apart and the peak moves towards N = D"
        )
    elif share > COACTIVATION_SHARE:
        cautions.append(
            f"co-activation: rare coordinates share samples at D = {D}, "
            f"which is left out here; pairs alone add about {share:.0%} to the data-limited loss, "
            "the sharp surface has them all"
        )
    if N < SMALL_SIZE:
        cautions.append(
            f"N < {SMALL_SIZE}: corrections of relative order 1/N (several per cent) are left out"
        )
    return cautions


def leading_cautions(inputs: Inputs, N: int, D: int) -> list[str]:
    """Of the leading surface of any inputs, without ridge."""
    if inputs.closed_form == "gaussian":
        return gaussian_cautions(inputs, N, D, 0.0)
    activations = cast(ActivationInputs, inputs)
    sums = activations.count_sums(float(D))
    return count_cautions(activations, N, D, sums.seen(), math.sqrt(sums.seen_variance_of_count()), 0.0)


def gaussian_cautions(inputs: Inputs, N: int, D: int, ridge: float) -> list[str]:
    """Of the leading surface of dense inputs."""
    cautions = [inputs.closed_form_caution] if inputs.closed_form_caution else []
    smaller, larger = min(N, D), max(N, D)
    if ridge == 0.0 and smaller < inputs.dimension and larger - smaller <= max(1.0, 0.05 * smaller):
        cautions.append(
            "at the double-descent peak (N close to D): the mean over data is infinite or nearly so"
        )
    if smaller < SMALL_SIZE:
        cautions.append(
            f"min(N, D) < {SMALL_SIZE}: corrections of that relative order (several per cent) are left out"
        )
    return cautions
