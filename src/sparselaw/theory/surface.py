"""The loss at one point of the surface: leading order or sharp, with its terms, its error and cautions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Literal, cast, get_args

from sparselaw.errors import InputError, check_choice, check_not_negative, check_size
from sparselaw.inputs import ActivationInputs, Inputs, check_inputs
from sparselaw.theory.cautions import count_cautions, error_caution, gaussian_cautions
from sparselaw.theory.collapse import rescaled_ratio
from sparselaw.theory.count_setting import count_setting, rank_setting
from sparselaw.theory.count_surface import count_loss
from sparselaw.theory.gaussian_surface import gaussian_loss
from sparselaw.theory.point import Point
from sparselaw.theory.sharp_counts import Sharp, sharp_count_loss
from sparselaw.theory.sharp_gaussian import sharp_gaussian_loss
from sparselaw.theory.surface_value import SurfaceValue

Surface = Literal["sharp", "leading"]
LARGEST_D = 1e15  # beyond, the corrections are below every other error or cannot be computed
LARGEST_N = 10**100  # in place of an infinite one
RIDGES = (1e-200, 1e200)  # within them N ridge and 1/ridge are numbers
SMALLEST_ALPHA1 = 0.1  # below, infinitely many coordinates are too faint and too many to be added up


def predict_point(
    inputs: Inputs,
    *,
    N: float,
    D: int,
    ridge: float = 0.0,
    noise: float = 0.0,
    surface: Surface = "sharp",
) -> Point:
    """The expected population loss of N features trained on D samples; N may be infinite.

    ``ridge`` is the paper's gamma (eq:lossEquation), not divided by D; ``noise`` the variance of the label
    noise. ``surface="leading"`` leaves out every correction for finite sizes.

    >>> from sparselaw.inputs import SparseInputs
    >>> predict_point(SparseInputs(alpha1=1.0, alpha2=0.3), N=64, D=50_000).loss  # doctest: +ELLIPSIS
    0.000119...
    """
    check_inputs(inputs)
    width, D = check_width(N), check_size("D", D)
    N = int(min(width, LARGEST_N))
    ridge, noise = check_ridge(ridge), check_not_negative("noise", noise)
    check_choice("surface", surface, get_args(Surface))
    found = _POINTS[inputs.closed_form](inputs, N, D, ridge, noise, surface == "sharp")
    return Point(
        N=width,
        D=D,
        K=inputs.expected_seen(float(D)),
        xi=rescaled_ratio(inputs, N, D) if inputs.exponents is not None else math.nan,
        loss=found.value.loss,
        caution="; ".join(found.cautions),
        loss_reason=found.value.reason,
        terms=found.value.terms,
        rank=found.rank,
        loss_error=found.value.error,
        median=found.value.median,
    )


def check_ridge(ridge: float) -> float:
    """Return ``ridge``: zero, or a number that can be multiplied by N and divided by."""
    number, (least, most) = check_not_negative("ridge", ridge), RIDGES
    if number != 0.0 and not least <= number <= most:
        remedy = f"choose 0, or between {least:g} and {most:g}"
        raise InputError("ridge", number, "is beyond what the theory can compute", remedy)
    return number


def ridge_losses(inputs: Inputs, N: float, D: float, noise: float) -> Callable[[float], float]:
    """The leading surface as a function of the ridge: the sums are prepared once."""
    if inputs.closed_form == "gaussian":
        return lambda ridge: _gaussian(inputs, N, D, ridge, noise).loss
    sums = cast(ActivationInputs, inputs).count_sums(D)
    seen = sums.seen()
    return lambda ridge: count_loss(sums, N, seen, ridge, noise).loss


def check_width(N: float) -> float:
    """A whole number of features of at least one, or infinitely many."""
    return N if N == math.inf else check_size("N", N)


def loss_at(inputs: Inputs, N: float, D: float, surface: Surface = "leading") -> float:
    """The loss without ridge and noise at real sizes: for curves and for the search of a best one."""
    if inputs.closed_form == "gaussian":
        if surface == "leading":
            return _gaussian(inputs, N, D, 0.0, 0.0).loss
        return sharp_gaussian_loss(inputs.variance_sums(min(N, D)), inputs.dimension, N, D).loss
    activations = cast(ActivationInputs, inputs)
    if surface == "sharp" and sharp_applies(activations, D):
        return sharp_count_loss(count_setting(activations, D), N, median=False).loss
    sums = activations.count_sums(D)
    return count_loss(sums, N, sums.seen(), 0.0, 0.0).loss


def peak_of(inputs: Inputs, surface: Surface = "leading") -> tuple[str, Callable[[float], float]]:
    """What the double-descent peak of a surface meets, and the N at which it stands for D samples."""
    if inputs.closed_form == "gaussian":
        return "D", lambda D: D
    return "K", functools.partial(_seen if surface == "leading" else rank_of, inputs)


@functools.lru_cache(maxsize=1024)
def _seen(inputs: Inputs, D: float) -> float:
    """Kept: a plan and its picture look for the same peak."""
    return inputs.expected_seen(D)


def rank_of(inputs: Inputs, D: float) -> float:
    """The expected rank of D samples: at most the coordinates seen, and at most D."""
    if inputs.closed_form == "gaussian":
        return min(D, inputs.dimension)
    activations = cast(ActivationInputs, inputs)
    if not sharp_applies(activations, D):
        return min(inputs.expected_seen(D), D)
    return rank_setting(activations, D).mean


class _Found:
    def __init__(self, value: Sharp, rank: float, cautions: list[str]) -> None:
        self.value, self.rank, self.cautions = value, rank, cautions


def sharp_applies(inputs: ActivationInputs, D: float) -> bool:
    """Whether the corrections can be computed for these inputs."""
    if D > LARGEST_D:
        return False
    law = inputs.exponents
    if law is None or math.isfinite(inputs.dimension):
        return True
    return law.alpha_N / law.alpha_D - 1.0 >= SMALLEST_ALPHA1


def _count_point(inputs: Inputs, N: int, D: int, ridge: float, noise: float, sharp: bool) -> _Found:
    activations = cast(ActivationInputs, inputs)
    if sharp and sharp_applies(activations, D):
        setting = count_setting(activations, float(D))
        value = sharp_count_loss(setting, float(N), ridge, noise)
        return _Found(value, setting.rank.mean, error_caution(value))
    sums = activations.count_sums(float(D))
    seen = sums.seen()
    leading = count_loss(sums, float(N), seen, ridge, noise)
    cautions = count_cautions(activations, N, D, seen, math.sqrt(sums.seen_variance_of_count()), ridge)
    value = Sharp(leading.loss, {"leading": leading.loss}, math.nan, None, leading.reason)
    return _Found(value, rank_of(inputs, float(D)), cautions)


def _gaussian_point(inputs: Inputs, N: int, D: int, ridge: float, noise: float, sharp: bool) -> _Found:
    leading = _gaussian(inputs, float(N), float(D), ridge, noise)
    rank = min(float(D), inputs.dimension)
    if not sharp:
        value = Sharp(leading.loss, {"leading": leading.loss}, math.nan, None, leading.reason)
        return _Found(value, rank, gaussian_cautions(inputs, N, D, ridge))
    cautions = [inputs.closed_form_caution] if inputs.closed_form_caution else []
    spectrum = inputs.variance_sums(float(min(N, D)))
    value = sharp_gaussian_loss(spectrum, inputs.dimension, float(N), float(D), ridge, noise)
    return _Found(value, rank, cautions + error_caution(value))


_POINTS = {"counts": _count_point, "gaussian": _gaussian_point}


def _gaussian(inputs: Inputs, N: float, D: float, ridge: float, noise: float) -> SurfaceValue:
    return gaussian_loss(inputs.variance_sums(min(N, D)), inputs.dimension, N, D, ridge, noise)
