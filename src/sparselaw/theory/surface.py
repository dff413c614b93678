"""The loss at one point of the surface, with a word of caution where the theory is not to be trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparselaw.errors import check_not_negative, check_size
from sparselaw.inputs import Inputs, SparseInputs
from sparselaw.sums.spectral_sums import sparse_sums
from sparselaw.theory.collapse import rescaled_ratio
from sparselaw.theory.counts import coactivation
from sparselaw.theory.dense_surface import dense_loss
from sparselaw.theory.sparse_surface import SurfaceValue, sparse_loss

PEAK_WIDTH = 5.0  # in standard deviations of the number of coordinates seen; at its edge about 4 % off
SMALL_SIZE = 20
COACTIVATION_SHARE = 0.02
CROWDED = 0.5  # K/D above which pairs are no small correction


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The predicted loss at (N, D). ``caution`` is empty where the prediction can be trusted."""

    N: int
    D: int
    K: float  # expected number of coordinates seen in D samples
    xi: float
    loss: float
    caution: str
    loss_reason: str = ""  # why the loss is infinite, where it is


def predict(inputs: Inputs, *, N: int, D: int, ridge: float = 0.0, noise: float = 0.0) -> Point:
    """The expected population loss of N features trained on D samples.

    ``ridge`` is the paper's gamma (Eq. 9), not divided by D; ``noise`` the variance of the label noise.

    >>> predict(SparseInputs(alpha1=1.0, alpha2=0.3), N=64, D=50_000).loss  # doctest: +ELLIPSIS
    0.000117...
    """
    N, D = check_size("N", N), check_size("D", D)
    ridge, noise = check_not_negative("ridge", ridge), check_not_negative("noise", noise)
    if isinstance(inputs, SparseInputs) and inputs.alpha1 > 0.0:
        sums = sparse_sums(inputs, float(D))
        K = sums.seen()
        value = sparse_loss(sums, float(N), K, ridge, noise)
        spread = math.sqrt(sums.seen_variance_of_count())
        cautions = _sparse_cautions(inputs, N, D, K, spread, ridge)
    else:
        sparse = isinstance(inputs, SparseInputs)
        K = sparse_sums(inputs, float(D)).seen() if isinstance(inputs, SparseInputs) else inputs.dimension
        value = dense_loss(inputs.spectrum, inputs.dimension, float(N), float(D), ridge, noise)
        cautions = _dense_cautions(N, D, sparse, ridge, inputs.dimension)
    return _point(inputs, N, D, K, value, cautions)


def _point(inputs: Inputs, N: int, D: int, K: float, value: SurfaceValue, cautions: list[str]) -> Point:
    return Point(
        N=N,
        D=D,
        K=K,
        xi=rescaled_ratio(inputs, N, D),
        loss=value.loss,
        caution="; ".join(cautions),
        loss_reason=value.reason,
    )


def _sparse_cautions(
    inputs: SparseInputs, N: int, D: int, K: float, spread: float, ridge: float
) -> list[str]:
    cautions = []
    if ridge == 0.0 and abs(N - K) <= max(PEAK_WIDTH * spread, 1.0):
        cautions.append(
            f"at the double-descent peak (N within {PEAK_WIDTH:g} standard deviations of K = {K:.4g}): "
            "the mean over data is infinite or nearly so, compare medians"
        )
    share = coactivation(inputs, float(D)).share
    if K > CROWDED * D:
        cautions.append(
            f"{K:.3g} coordinates are seen in {D} samples: the surface needs K well below D, "
            "here rare coordinates cannot be told apart and the peak moves towards N = D"
        )
    elif share > COACTIVATION_SHARE:
        cautions.append(
            f"co-activation: rare coordinates share samples at D = {D}, "
            f"which adds about {share:.0%} to the data-limited loss and is left out here"
        )
    if N < SMALL_SIZE:
        cautions.append(
            f"N < {SMALL_SIZE}: corrections of relative order 1/N (several per cent) are left out"
        )
    return cautions


def _dense_cautions(N: int, D: int, sparse: bool, ridge: float, dimension: float) -> list[str]:
    cautions = []
    if sparse:
        cautions.append(
            "alpha1 <= 0: the surface of dense Gaussian inputs with the same variances; "
            "the exponent is the paper's, the constant is not proved (least of all at alpha1 = 0)"
        )
    smaller, larger = min(N, D), max(N, D)
    if ridge == 0.0 and smaller < dimension and larger - smaller <= max(1.0, 0.05 * smaller):
        cautions.append(
            "at the double-descent peak (N close to D): the mean over data is infinite or nearly so"
        )
    if smaller < SMALL_SIZE:
        cautions.append(
            f"min(N, D) < {SMALL_SIZE}: corrections of that relative order (several per cent) are left out"
        )
    return cautions
