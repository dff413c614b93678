"""Points of the loss surface: what the law of the Gram matrix says of each N, with terms, error and
cautions.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_choice, check_not_negative, check_size
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.surface.losses import Losses, leading_surface
from sparselaw.surface.losses import surface as sharp_surface
from sparselaw.surface.median import median, median_error, wants_median
from sparselaw.theory.cautions import leading_cautions, sharp_cautions
from sparselaw.theory.collapse import rescaled_ratio
from sparselaw.theory.point import Point

Surface = Literal["sharp", "leading"]
LARGEST_N = 10**100  # in place of an infinite one
RIDGES = (1e-200, 1e200)  # within them N ridge and 1/ridge are numbers
INFINITE_MEAN = (
    "at the double-descent peak: some of the data sets so drawn have |N - rank| <= 1, "
    "where the mean over embeddings is infinite, see the median"
)
INFINITE_LEADING = "N is at the double-descent peak, where the leading surface is infinite"
NOISE_DIVERGES = "label noise is fitted along directions that the data hardly show: infinite without a ridge"


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

    Parameters
    ----------
    inputs
        The law of the inputs.
    N, D
        Numbers of features and of samples.
    ridge
        The paper's gamma (eq:lossEquation), not divided by D.
    noise
        The variance of the label noise.
    surface
        ``"leading"`` leaves out every correction for finite sizes.

    Returns
    -------
    Point
        The loss, what adds up to it, its error and cautions.

    Examples
    --------
    >>> from sparselaw.inputs import SparseInputs
    >>> predict_point(SparseInputs(alpha1=1.0, alpha2=0.3), N=64, D=50_000).loss  # doctest: +ELLIPSIS
    0.000119...
    """
    return predict_points(inputs, [N], D, ridge=ridge, noise=noise, surface=surface)[0]


def predict_points(
    inputs: Inputs,
    N: Sequence[float],
    D: int,
    *,
    ridge: float = 0.0,
    noise: float = 0.0,
    surface: Surface = "sharp",
) -> list[Point]:
    """``predict_point`` for several N at one D: the same numbers."""
    check_inputs(inputs)
    widths, D = [check_width(n) for n in N], check_size("D", D)
    ridge, noise = check_ridge(ridge), check_not_negative("noise", noise)
    check_choice("surface", surface, get_args(Surface))
    if not widths:
        return []
    sizes = np.array([float(min(width, LARGEST_N)) for width in widths])
    found = losses(inputs, sizes, float(D), ridge, noise, surface)
    leading = found if surface == "leading" else losses(inputs, sizes, float(D), ridge, noise, "leading")
    law, seen = inputs.gram(float(D)), inputs.expected_seen(float(D))
    medians = (
        wants_median(law, sizes) if surface == "sharp" and ridge == noise == 0.0 else np.zeros(sizes.size)
    )
    points = []
    for i, width in enumerate(widths):
        middle = median(law, float(sizes[i])) if medians[i] and found.leading[i] > 0.0 else None
        # half of all runs lose no more than the mean: its law is skewed towards large losses
        middle = None if middle is None or math.isnan(middle) else min(middle, float(found.loss[i]))
        error = float(found.error[i])
        if surface == "sharp":
            rough = median_error(law) if middle is not None else 0.0
            cautions = sharp_cautions(float(found.loss[i]), error, middle is not None, rough)
        else:
            cautions = leading_cautions(inputs, float(sizes[i]), float(D), ridge)
        points.append(
            Point(
                N=width,
                D=D,
                K=seen,
                xi=rescaled_ratio(inputs, float(sizes[i]), D) if inputs.exponents is not None else math.nan,
                loss=float(found.loss[i]),
                caution="; ".join(cautions),
                loss_reason=_reason(found, i, surface),
                terms=_terms(found, leading, i, noise, surface),
                rank=law.rank,
                loss_error=error,
                median=middle,
            )
        )
    return points


def losses(
    inputs: Inputs,
    N: FloatArray,
    D: float,
    ridge: float = 0.0,
    noise: float = 0.0,
    surface: Surface = "sharp",
) -> Losses:
    """The surface at several real N and one real D: the one way to every loss of the theory."""
    if surface == "leading":
        return leading_surface(inputs.gram(D, sharp=False), N, ridge, noise)
    return sharp_surface(inputs.gram(D), N, ridge, noise)


def losses_at(
    inputs: Inputs,
    N: FloatArray,
    D: FloatArray,
    ridge: float = 0.0,
    noise: float = 0.0,
    surface: Surface = "sharp",
) -> FloatArray:
    """The losses of pairs of real sizes; pairs of the same D share its law."""
    N, D = np.broadcast_arrays(np.asarray(N, float), np.asarray(D, float))
    out = np.empty(N.shape)
    for d in np.unique(D):
        here = d == D
        out[here] = losses(inputs, N[here], float(d), ridge, noise, surface).loss
    return out


def ridge_losses(inputs: Inputs, N: float, D: float, noise: float) -> Callable[[float], float]:
    """The loss as a function of the ridge, on the surface that ``predict`` answers with."""
    law = inputs.gram(D)
    return lambda ridge: float(sharp_surface(law, N, ridge, noise).loss[0])


def loss_at(inputs: Inputs, N: float, D: float, surface: Surface = "leading") -> float:
    """The loss without ridge and noise at real sizes."""
    return float(losses(inputs, np.array([float(N)]), float(D), surface=surface).loss[0])


def peak_of(inputs: Inputs, surface: Surface = "leading") -> tuple[str, Callable[[float], float]]:
    """What the double-descent peak of a surface meets, and the N at which it stands for D samples."""
    law = inputs.exponents
    name = "D" if law is not None and law.alpha_N == law.alpha_D else "K"
    return name, functools.partial(_peak, inputs, surface)


@functools.lru_cache(maxsize=1024)
def _peak(inputs: Inputs, surface: Surface, D: float) -> float:
    """Kept: a plan and its picture look for the same peak."""
    if surface == "leading" and inputs.closed_form == "counts":
        return inputs.expected_seen(D)  # the rank of the counts, without their law
    return inputs.gram(D, sharp=surface == "sharp").rank


def rank_of(inputs: Inputs, D: float) -> float:
    """The expected rank of D samples: at most the coordinates seen, and at most D."""
    return inputs.gram(D).rank


def check_ridge(ridge: float) -> float:
    """Return ``ridge``: zero, or a number that can be multiplied by N and divided by."""
    number, (least, most) = check_not_negative("ridge", ridge), RIDGES
    if number != 0.0 and not least <= number <= most:
        remedy = f"choose 0, or between {least:g} and {most:g}"
        raise InputError("ridge", number, "is beyond what the theory can compute", remedy)
    return number


def check_width(N: float) -> float:
    """A whole number of features of at least one, or infinitely many."""
    return N if N == math.inf else check_size("N", N)


def _terms(found: Losses, leading: Losses, i: int, noise: float, surface: Surface) -> dict[str, float]:
    """What adds up to the loss."""
    if surface == "leading":
        return {"leading": float(found.loss[i])}
    first = float(leading.leading[i])
    first = first if math.isfinite(first) else float(found.leading[i])
    terms = {
        "leading": first,
        "co-activation": float(found.leading[i]) - first,
        "finite N": float(found.finite_N[i]),
        "scatter of the data": float(found.scatter[i]),
    }
    if found.infinite[i]:
        terms = {"leading": first, "peak": math.inf}
    return terms | ({"label noise": float(found.noise[i])} if noise > 0.0 else {})


def _reason(found: Losses, i: int, surface: Surface) -> str:
    if math.isfinite(found.loss[i]):
        return ""
    if found.infinite[i]:
        return INFINITE_MEAN if surface == "sharp" else INFINITE_LEADING
    return NOISE_DIVERGES if math.isinf(found.loss[i]) else "beyond what the theory can compute"
