"""The loss at one point of the surface, with a word of caution where the theory is not to be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from sparselaw.errors import check_not_negative, check_size
from sparselaw.inputs import ActivationInputs, Inputs, check_inputs
from sparselaw.plain import put
from sparselaw.theory.coactivation import coactivation
from sparselaw.theory.collapse import rescaled_ratio
from sparselaw.theory.count_surface import count_loss
from sparselaw.theory.gaussian_surface import gaussian_loss
from sparselaw.theory.surface_value import SurfaceValue

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
    xi: float  # nan where the inputs follow no power law
    loss: float  # the sum of ``terms``
    caution: str
    loss_reason: str = ""  # why the loss is infinite, where it is
    terms: Mapping[str, float] = field(default_factory=dict)  # what adds up to the loss, each with its name

    def as_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {"N": self.N, "D": self.D}
        put(row, "K", self.K, "infinite: every coordinate of dense inputs is seen")
        put(row, "xi", self.xi, "these inputs follow no power law")
        put(row, "loss", self.loss, f"infinite: {self.loss_reason}")
        return row | {"caution": self.caution}


def predict_point(inputs: Inputs, *, N: int, D: int, ridge: float = 0.0, noise: float = 0.0) -> Point:
    """The expected population loss of N features trained on D samples.

    ``ridge`` is the paper's gamma (eq:lossEquation), not divided by D; ``noise`` the variance of the label
    noise.

    >>> from sparselaw.inputs import SparseInputs
    >>> predict_point(SparseInputs(alpha1=1.0, alpha2=0.3), N=64, D=50_000).loss  # doctest: +ELLIPSIS
    0.000117...
    """
    check_inputs(inputs)
    N, D = check_size("N", N), check_size("D", D)
    ridge, noise = check_not_negative("ridge", ridge), check_not_negative("noise", noise)
    K, value, cautions = _SURFACES[inputs.closed_form](inputs, N, D, ridge, noise)
    return Point(
        N=N,
        D=D,
        K=K,
        xi=rescaled_ratio(inputs, N, D) if inputs.exponents is not None else math.nan,
        loss=value.loss,
        caution="; ".join(cautions),
        loss_reason=value.reason,
        terms={"leading": value.loss},
    )


def loss_at(inputs: Inputs, N: float, D: float) -> float:
    """The loss without ridge and noise at real sizes: for curves and for the search of a best one."""
    if inputs.closed_form == "gaussian":
        return _gaussian(inputs, N, D, 0.0, 0.0).loss
    sums = cast(ActivationInputs, inputs).count_sums(D)
    return count_loss(sums, N, sums.seen(), 0.0, 0.0).loss


def peak_of(inputs: Inputs) -> tuple[str, Callable[[float], float]]:
    """What the double-descent peak meets, and the N at which it stands for D samples."""
    if inputs.closed_form == "gaussian":
        return "D", lambda D: D
    return "K", inputs.expected_seen


_Found = tuple[float, SurfaceValue, list[str]]


def _count_point(inputs: Inputs, N: int, D: int, ridge: float, noise: float) -> _Found:
    activations = cast(ActivationInputs, inputs)
    sums = activations.count_sums(float(D))
    K = sums.seen()
    value = count_loss(sums, float(N), K, ridge, noise)
    spread = math.sqrt(sums.seen_variance_of_count())
    return K, value, _count_cautions(activations, N, D, K, spread, ridge)


def _gaussian_point(inputs: Inputs, N: int, D: int, ridge: float, noise: float) -> _Found:
    value = _gaussian(inputs, float(N), float(D), ridge, noise)
    return inputs.expected_seen(float(D)), value, _gaussian_cautions(inputs, N, D, ridge)


_SURFACES = {"counts": _count_point, "gaussian": _gaussian_point}


def _gaussian(inputs: Inputs, N: float, D: float, ridge: float, noise: float) -> SurfaceValue:
    return gaussian_loss(inputs.variance_sums(min(N, D)), inputs.dimension, N, D, ridge, noise)


def _count_cautions(
    inputs: ActivationInputs, N: int, D: int, K: float, spread: float, ridge: float
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


def _gaussian_cautions(inputs: Inputs, N: int, D: int, ridge: float) -> list[str]:
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
