"""The loss of infinitely many nonlinear features trained on D samples.

    loss = sum_j s_j sum_n P(n_j = n) e_n(c_j),    n_j ~ Binomial(D, p_j),

e_n the error of a coordinate that n samples have shown, e_0 = 1. As D grows this is a constant times the
unseen variance sum_j s_j (1 - p_j)^D: the exponent alpha_D is that of linear features. Rare coordinates that
share samples add a part that falls with D.

**One rare coordinate** (``interpolation_errors``). All other coordinates are known: features of samples
without j span the functions of u without u_j. The rest of a feature with x_j = e sqrt(c) in it has the kernel
k(g + e e' c) - k(g), k that of the activation at covariance g and the whole norms. From n samples, each with
the other coordinates as they come, the target x_j is fitted exactly, and e_n(c) is the squared error at a
fresh sample that shows j, over c. In the limit of a small c the kernel of a ReLU is that of a step,
(pi - angle)/(2 pi): two samples that differ in every sign give all. Where the odd part of f is not linear,
samples in new company are always a little off; e_n then falls with a power of n, which goes on beyond the
largest n that is drawn.

**Shared samples** (``sharing``). Minimum-norm regression with the kernel k = E f(u x) f(u x') on the distinct
samples of a drawn data set has no N in it. Where the odd part of f is linear, it predicts each coordinate by
a linear function, whose error is a sum over coordinates; the even part is an error alone, a mean over fresh
samples. Of other f the whole error is such a mean. Beside it stands the loss where all others are known,
sum_j s_j e_{n_j}(c_j), on the same data; the ratio of the two has little scatter.

With N features, N above their rank r, the kernel is a Wishart matrix about its mean, and the loss grows by
v Y/(N - r - 1): v the mean over fresh samples of what the kernel leaves open, k(x, x) - k_x K^-1 k_x, and Y
the sum over targets of y K^-1 y. For linear features v Y is the loss times r.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.nodes import coordinate_nodes, power_integral
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.nonlinear.response import Response
from sparselaw.nonlinear.samples import FRESH, DrawnRegression, drawn_regression
from sparselaw.nonlinear.table_cache import cached_arrays
from sparselaw.progress import progress

RARE = 1e-6  # coordinates that fewer than this many samples show are as unseen

# The table of e_n(c).
SAMPLES = 14  # the largest n of many draws
MORE = 112  # the largest n of few draws, where the error does not end before
ENDED = 5e-4  # an error of SAMPLES below which there is nothing more
TESTS = 24
DRAWS, FEWER = 1200, 40
COORDINATES = 64  # of the other coordinates; fainter ones change no angle
JITTER = 1e-10  # samples may occur twice
SQUARES = 4.0 ** -np.arange(0.0, 8.0)  # c: 1, 1/4, ..., 4^-7

# Regressions on drawn data sets.
SIZES = (80, 320, 1280)
MOST_PATTERNS = 700  # of distinct samples: larger data sets are not drawn
DATA_SETS = 24  # of each size
NOTHING = 1e-12  # a loss that is zero but for rounding


@functools.lru_cache(maxsize=4096)
def data_limit(inputs: Inputs, response: Response, D: float) -> float:
    """The loss for any number of samples."""
    law, a = inputs.power_activations(), inputs.power_law().spectrum
    reach = (math.log(D) - math.log(RARE)) / law.decay
    errors = interpolation_errors(inputs, response)
    nodes = coordinate_nodes(inputs.dimension, reach, max(a, law.decay * errors.last))
    p = np.exp(-law.decay * nodes.log_j)
    log_c = law.growth * nodes.log_j
    each = errors.at(log_c)
    n = np.arange(min(errors.last, D) + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ways = np.cumsum(np.concatenate([[0.0], np.log((D - n[:-1]) / n[1:])]))
        quiet = np.where(p[:, None] < 1.0, (D - n) * np.log1p(-p[:, None]), np.where(n < D, -np.inf, 0.0))
        chance = np.exp(log_ways + n * np.log(p)[:, None] + quiet)
    mean = np.sum(chance * each[:, : n.size], axis=1)
    mean += np.maximum(1.0 - chance.sum(axis=1), 0.0) * each[:, -1] * errors.beyond(D * p)
    found = float((nodes.weight * p * np.exp(log_c)) @ mean)
    end = math.log(inputs.dimension + 0.5)
    alone = found + (power_integral(1.0 - a, nodes.log_end, end) if nodes.log_end < end else 0.0)
    shared = sharing(cast(ActivationInputs, inputs), response).shared
    return alone * math.exp(shared * math.pow(D, -_fall(inputs)))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RareErrors:
    """e_n(c): ``table`` (SQUARES.size, n + 1) for n = 0, 1, ...; ``fall`` its exponent beyond."""

    table: FloatArray
    fall: float

    @property
    def last(self) -> int:
        return len(self.table[0]) - 1

    def at(self, log_c: FloatArray) -> FloatArray:
        """e_n(c_j), (coordinates, n), between the values of c in the table, and constant below the last."""
        place = np.clip(-log_c / math.log(4.0), 0.0, SQUARES.size - 1.0)
        low = np.minimum(place.astype(int), SQUARES.size - 2)
        share = (place - low)[:, None]
        found: FloatArray = (1.0 - share) * self.table[low] + share * self.table[low + 1]
        return found

    def beyond(self, n: FloatArray) -> FloatArray:
        """What the last error is multiplied by at a larger n."""
        if math.isinf(self.fall):
            return np.zeros_like(n)
        return np.asarray(np.power(np.maximum(n / self.last, 1.0), -self.fall))


@functools.lru_cache(maxsize=32)
def interpolation_errors(inputs: Inputs, response: Response) -> RareErrors:
    """Means over drawn samples."""
    settings = [SAMPLES, MORE, TESTS, DRAWS, FEWER, COORDINATES]
    kept = cached_arrays("rare", inputs, [response.digest], settings, lambda: _drawn(inputs, response))
    return RareErrors(table=np.asarray(kept["table"]), fall=float(kept["fall"]))


def _drawn(inputs: Inputs, response: Response) -> dict[str, Any]:
    first = _errors(inputs, response, SAMPLES, DRAWS)
    if first[:, -1].max() < ENDED:
        return {"table": first, "fall": math.inf}
    more, half = _errors(inputs, response, MORE, FEWER), MORE // 2
    scale = first[:, -1] / more[:, SAMPLES]
    table = np.concatenate([first, more[:, SAMPLES + 1 :] * scale[:, None]], axis=1)
    fall = math.log(table[:, half].mean() / table[:, MORE].mean()) / math.log(MORE / half)
    return {"table": table, "fall": fall}


def _errors(inputs: Inputs, response: Response, samples: int, draws: int) -> FloatArray:
    rng = np.random.default_rng(20250917)
    law = inputs.power_activations()
    j = np.arange(1.0, min(inputs.dimension, COORDINATES) + 1.0)
    shape = (draws, samples + TESTS, j.size)
    signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    others = np.where(rng.random(shape) < j**-law.decay, signs, 0.0) * j ** (0.5 * law.growth)
    own = np.where(rng.random(shape[:2]) < 0.5, -1.0, 1.0)
    own[:, samples:] = 1.0  # fresh samples: the other sign is the same by symmetry
    dots = others[:, :samples] @ np.swapaxes(others, 1, 2)
    norms = np.sum(others**2, axis=2)
    alike = own[:, :samples, None] * own[:, None, :]
    errors = np.ones((SQUARES.size, samples + 1))
    for i, c in enumerate(SQUARES):
        left, right = norms[:, :samples, None] + c, norms[:, None, :] + c
        kernel = (response.kernel(left, right, dots + c * alike) - response.kernel(left, right, dots)) / c
        factor = np.linalg.cholesky(kernel[:, :, :samples] + JITTER * np.eye(samples))
        both = np.concatenate([kernel[:, :, samples:], own[:, :samples, None]], axis=2)
        solved = np.linalg.solve(factor, both)
        predicted = np.cumsum(solved[:, :, :-1] * solved[:, :, -1:], axis=1)
        errors[i, 1:] = np.mean((1.0 - predicted) ** 2, axis=(0, 2))
    return errors


class Sharing(NamedTuple):
    """What drawn data sets say: two constants, each a mean over their sizes."""

    shared: float  # the loss is exp(shared D^-x) times the sum without them, x = alpha1/(alpha1 + 1)
    variance_factor: float  # v Y over the loss times the rank


@functools.lru_cache(maxsize=64)
def sharing(inputs: ActivationInputs, response: Response) -> Sharing:
    settings = [list(SIZES), MOST_PATTERNS, DATA_SETS, FRESH, SAMPLES, MORE]
    made = cached_arrays(
        "sharing", inputs, [response.digest], settings, lambda: {"found": _measured(inputs, response)}
    )
    return Sharing(*(float(x) for x in made["found"]))


def _measured(inputs: ActivationInputs, response: Response) -> tuple[float, float]:
    errors = interpolation_errors(inputs, response)
    rows = []
    with progress("regressions on drawn data") as show:
        for i, D in enumerate(SIZES):
            rng = np.random.default_rng([20250918, D])
            drawn: list[tuple[float, float, float]] = []
            while len(drawn) < DATA_SETS:
                show(i * DATA_SETS + len(drawn), len(SIZES) * DATA_SETS)
                found = drawn_regression(inputs, response, D, rng, MOST_PATTERNS)
                if found is None:
                    break
                drawn.append(_losses(inputs, found, errors))
            if len(drawn) < DATA_SETS or np.min(drawn) < NOTHING:  # or so few coordinates that all are known
                break
            whole, known, variance = np.sum(drawn, axis=0)
            rows.append((math.pow(D, -_fall(inputs)), math.log(whole / known), math.log(variance / whole)))
    if not rows:
        return 0.0, 1.0
    x, log_loss, log_factor = np.array(rows).T
    return float(x @ log_loss / (x @ x)), math.exp(log_factor.mean())


def _fall(inputs: Inputs) -> float:
    """alpha1/(alpha1 + 1): how fast the share of samples with two rare coordinates falls."""
    decay = inputs.power_activations().decay
    return (decay - 1.0) / decay


def _losses(
    inputs: ActivationInputs, drawn: DrawnRegression, errors: RareErrors
) -> tuple[float, float, float]:
    """The loss of the regression, what it would be with all other coordinates known, and v Y/r."""
    open_ = drawn.own - drawn.near**2 @ (1.0 / drawn.values)
    left = float(drawn.share @ np.maximum(open_, 0.0)) / drawn.share.size
    pull = float(np.sum(drawn.targets * drawn.weights(0.0)))
    alone = errors.at(np.log(inputs.squared_amplitudes(drawn.seen)))
    often = np.minimum(drawn.counts, errors.last).astype(int)
    late = np.where(drawn.counts > errors.last, errors.beyond(drawn.counts), 1.0)
    known = float((drawn.variances * late) @ alone[np.arange(drawn.seen.size), often])
    return drawn.error(drawn.weights(0.0)), known + drawn.unseen, left * pull / drawn.rank
