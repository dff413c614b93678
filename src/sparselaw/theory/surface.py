"""Points of the loss surface: what the law of the Gram matrix says of each (N, D), with terms, error and
words of caution; and the losses of many sizes as one array.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_choice, check_finite, check_not_negative, check_size
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.records import finite, html_record, put
from sparselaw.surface.losses import Losses, leading_surface, wants_median
from sparselaw.surface.losses import surface as sharp_surface
from sparselaw.surface.median import median, median_error

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = ("N", "D", "K", "xi", "loss", "caution", "rank", "loss_error", "median")
NO_MEDIAN = "given near the double-descent peak only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The predicted loss at (N, D). ``caution`` is empty where the prediction can be trusted."""

    N: float  # a whole number, or infinite
    D: int
    K: float  # expected number of coordinates seen in D samples
    xi: float  # nan where the inputs follow no power law
    loss: float  # the sum of ``terms``
    caution: str
    loss_reason: str = ""  # why the loss is infinite, or not known, where it is
    terms: Mapping[str, float] = field(default_factory=dict)  # what adds up to the loss, each with its name
    rank: float = float("nan")  # expected rank of the data: where the double-descent peak stands
    loss_error: float = float("nan")  # relative; an estimate of what the terms leave out
    median: float | None = None  # over data and embeddings, near the peak
    parts: Mapping[str, float] = field(default_factory=dict)  # of unfinished training, what adds up to it
    kappa: float | None = None  # of SGD: minibatches multiply the loss of few passes by 1/(1 - kappa)
    pi: float | None = None  # eps P D^-x: training is short of its end where it is below one

    def as_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {}
        put(row, "N", self.N, "infinite")
        row["D"] = self.D
        put(row, "K", self.K, "infinite: every coordinate of dense inputs is seen")
        put(row, "rank", self.rank, "not known")
        put(row, "xi", self.xi, "these inputs follow no power law")
        known = "not known" if math.isnan(self.loss) else "infinite"
        put(row, "loss", self.loss, f"{known}: {self.loss_reason}")
        put(row, "loss_error", self.loss_error, "no estimate")
        row["terms"] = {name: finite(value) for name, value in self.terms.items()}
        put(row, "median", self.median, NO_MEDIAN)
        if self.parts:
            row["parts"] = {name: finite(value) for name, value in self.parts.items()}
            put(row, "kappa", self.kappa, "no minibatches")
            put(row, "pi", self.pi, "no power law of activations")
        return row | {"caution": self.caution}

    def row(self) -> dict[str, Any]:
        """Its line in a data frame."""
        line = {name: getattr(self, name) for name in COLUMNS}
        return line | dict(self.parts) | ({"kappa": self.kappa, "pi": self.pi} if self.parts else {})

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        return pd.DataFrame([self.row()])

    def _repr_html_(self) -> str:
        plain = {name: value for name, value in self.as_dict().items() if not name.endswith("_reason")}
        parts = plain.pop("terms") | plain.pop("parts", {})
        notes = [text for text in (plain.pop("caution"), self.loss_reason) if text]
        return html_record(f"N = {self.N:g}, D = {self.D:,}", plain | parts, notes)


TRUSTED_MEDIAN = 0.08  # relative error up to which a median needs no caution
TRUSTED_ERROR = 0.03  # the same of the mean

# The leading surface's own.
PEAK_WIDTH = 5.0  # in standard deviations of the rank; at its edge the leading surface is about 4 % off
BESIDE = 0.05  # dense data have one rank: the same, relative to it
SMALL_SIZE = 20
MISSING = 0.02  # share by which the rank may fall short of the coordinates seen


def _sharp_cautions(loss: float, error: float, has_median: bool, rough: float) -> list[str]:
    """Where the surface's own estimate of its error is large; ``rough`` is that of the median."""
    if math.isinf(loss):
        size = f", good to about {rough:.0%}" if rough > TRUSTED_MEDIAN else ""
        return [f"at the double-descent peak: compare medians{size}"] if has_median else []
    found = []
    if error > TRUSTED_ERROR:
        where = "near the double-descent peak or at very few features"
        found.append(f"{where}: the loss may be off by about {error:.0%}")
    if has_median and rough > TRUSTED_MEDIAN:
        found.append(f"the median is good to about {rough:.0%}")
    return found


def leading_cautions(inputs: Inputs, N: float, D: float, ridge: float = 0.0) -> list[str]:
    """Of the leading surface: near its peak, where samples are shared, and at few features."""
    law, sharp = inputs.gram(D, sharp=False), inputs.gram(D)
    found = []
    width = PEAK_WIDTH * law.rank_sd if law.rank_sd > 0.0 else BESIDE * law.rank
    if ridge == 0.0 and abs(N - law.rank) <= max(width, 1.0):
        found.append(
            f"at the double-descent peak (N = {N:g}, rank about {law.rank:.4g}): "
            "the mean over data is infinite or nearly so, compare medians"
        )
    if law.rank - sharp.rank > MISSING * sharp.rank:
        found.append(
            f"co-activation: {law.rank:.3g} coordinates are seen in {D:g} samples of rank {sharp.rank:.3g}: "
            "rare coordinates cannot be told apart, which is left out here and is in the sharp surface"
        )
    if min(N, law.rank) < SMALL_SIZE:
        found.append(f"N < {SMALL_SIZE}: corrections of relative order 1/N (several per cent) are left out")
    return found


Surface = Literal["sharp", "leading"]
SURFACES = {"sharp": sharp_surface, "leading": leading_surface}
ABREAST = 64  # numbers of samples whose laws are made side by side
BEYOND = "beyond what the theory can compute"
LARGEST_N = 10**100  # in place of an infinite one
LARGEST_D = 1e100  # beyond it squares of D may be no numbers
RIDGES = (1e-200, 1e200)  # within them N ridge and 1/ridge are numbers
INFINITE_MEAN = (
    "at the double-descent peak: some of the data sets so drawn have |N - rank| <= 1, "
    "where the mean over embeddings is infinite, see the median"
)
INFINITE_LEADING = "N is at the double-descent peak, where the leading surface is infinite"
NOISE_DIVERGES = "label noise is fitted along directions that the data hardly show: infinite without a ridge"


def predict_points(
    inputs: Inputs,
    N: Sequence[float],
    D: int,
    *,
    ridge: float = 0.0,
    noise: float = 0.0,
    surface: Surface = "sharp",
) -> list[Point]:
    """The points of several N, which may be infinite, at one D; the settings are those of ``predict``."""
    check_inputs(inputs)
    widths, D = [check_width(n) for n in N], check_samples(D)
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
    xi = inputs.exponents.xi if inputs.exponents is not None else None
    points = []
    for i, width in enumerate(widths):
        size, loss, error = (float(values[i]) for values in (sizes, found.loss, found.error))
        middle = median(law, size) if medians[i] and found.leading[i] > 0.0 else math.nan
        has_median = not math.isnan(middle)
        if surface == "sharp":
            rough = median_error(law) if has_median else 0.0
            cautions = _sharp_cautions(loss, error, has_median, rough)
        else:
            cautions = leading_cautions(inputs, size, float(D), ridge)
        points.append(
            Point(
                N=width,
                D=D,
                K=seen,
                xi=math.nan if xi is None else xi(size, D),
                loss=loss,
                caution="; ".join(cautions),
                loss_reason=_reason(loss, bool(found.infinite[i]), surface),
                terms=_terms(found, leading, i, noise, surface),
                rank=law.rank,
                loss_error=error,
                # half of all runs lose no more than the mean: its law is skewed towards large losses
                median=min(middle, loss) if has_median else None,
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
    return SURFACES[surface](inputs.gram(D, sharp=surface == "sharp"), N, ridge, noise)


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
    different, of_each = np.unique(D, return_inverse=True)
    of_each, out = of_each.ravel(), np.empty(N.size)
    for first in range(0, different.size, ABREAST):
        here = np.flatnonzero((of_each >= first) & (of_each < first + ABREAST))
        some, sizes = different[first : first + ABREAST], N.ravel()[here]
        if some.size == 1:
            out[here] = losses(inputs, sizes, float(some[0]), ridge, noise, surface).loss
            continue
        law = inputs.grams(some, sharp=surface == "sharp").take(of_each[here] - first)
        out[here] = SURFACES[surface](law, sizes, ridge, noise).loss
    return out.reshape(N.shape)


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
    return float(inputs.gram(D, sharp=surface == "sharp").rank)


def rank_of(inputs: Inputs, D: float) -> float:
    """The expected rank of D samples: at most the coordinates seen, and at most D."""
    return float(inputs.gram(D).rank)


def asymptotic_seen(inputs: Inputs, D: float) -> float:
    """The directions that D samples resolve, to leading order: K(D) ~ g D^s (eq:K-of-D), or D itself."""
    law = inputs.exponents
    if law is None:
        return min(inputs.expected_seen(D), D)
    return min(law.seen_constant * math.pow(D, law.seen_exponent), inputs.dimension)


def check_ridge(ridge: float) -> float:
    """Return ``ridge``: zero, or a number that can be multiplied by N and divided by."""
    number, (least, most) = check_not_negative("ridge", ridge), RIDGES
    if number != 0.0 and not least <= number <= most:
        raise InputError("ridge", number, f"is {BEYOND}", f"choose 0, or between {least:g} and {most:g}")
    return number


def check_samples(D: float) -> int:
    """A whole number of samples of at least one, not too many to compute with."""
    number = check_size("D", D)
    if number > LARGEST_D:
        raise InputError("D", float(number), f"is {BEYOND}", f"choose D <= {LARGEST_D:g}")
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


def _reason(loss: float, infinite: bool, surface: Surface) -> str:
    if math.isfinite(loss):
        return ""
    if infinite:
        return INFINITE_MEAN if surface == "sharp" else INFINITE_LEADING
    return NOISE_DIVERGES if math.isinf(loss) else BEYOND


Sizes = float | Sequence[float] | FloatArray


def curve(
    inputs: Inputs,
    *,
    N: Sizes,
    D: Sizes,
    ridge: float = 0.0,
    noise: float = 0.0,
    surface: Surface = "sharp",
) -> FloatArray:
    """The losses for several N at one D, or for one N at several D; infinite at the peak.

    Parameters
    ----------
    inputs
        The law of the inputs.
    N, D
        Real numbers of features and of samples, one of them a list.
    ridge, noise, surface
        As for ``predict``.

    Returns
    -------
    FloatArray
        The losses in the order of the list.

    Examples
    --------
    >>> from sparselaw.inputs import SparseInputs
    >>> curve(SparseInputs(alpha1=1.5, alpha2=0.3), N=8, D=[100, 10_000], surface="leading").round(5).tolist()
    [0.02833, 0.00369]
    """
    check_inputs(inputs)
    ridge, noise = check_ridge(ridge), check_not_negative("noise", noise)
    check_choice("surface", surface, get_args(Surface))
    sizes, data = _sizes("N", N), _sizes("D", D)
    if sizes.size != 1 and data.size != 1:
        raise InputError("D", data.size, "N and D are both lists", "give one N or one D")
    return losses_at(inputs, sizes, data, ridge, noise, surface)


def _sizes(name: str, values: Sizes) -> FloatArray:
    found = np.atleast_1d(np.asarray(values, dtype=float))
    for value in found[~(np.isfinite(found) & (found > 0.0))][:1]:
        check_finite(name, float(value))
        raise InputError(name, float(value), "must be positive", f"choose {name} >= 1")
    if found.ndim != 1 or not found.size:
        raise InputError(name, found.size, "must be a number or a list", f"give {name} = 100 or [10, 100]")
    return found
