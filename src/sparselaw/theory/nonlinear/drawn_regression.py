"""Infinitely many features on drawn data: what rare coordinates that share samples add to the loss.

Minimum-norm regression with the kernel k = E f(u x) f(u x') on the distinct samples of a
drawn data set has no N in it. Where the odd part of f is linear, it predicts each coordinate by a linear
function, whose error is a sum over coordinates; the even part is an error alone, a mean over fresh samples.
Of other f the whole error is such a mean. Beside it stands the loss where all others are known,
sum_j s_j e_{n_j}(c_j), on the same data; the ratio of the two has little scatter.

With N features, N above their rank r, the kernel is a Wishart matrix about its mean, and the loss grows by
v Y/(N - r - 1): v the mean over fresh samples of what the kernel leaves open, k(x, x) - k_x K^-1 k_x, and Y
the sum over targets of y K^-1 y. For linear features v Y is the loss times r.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.inputs.activations import ActivationInputs
from sparselaw.progress import progress
from sparselaw.theory.nonlinear.drawn_samples import FRESH, draw_samples, fresh_samples
from sparselaw.theory.nonlinear.kept_arrays import kept_arrays
from sparselaw.theory.nonlinear.rare_coordinate import MORE, SAMPLES, RareErrors, interpolation_errors
from sparselaw.theory.nonlinear.response import Response

SIZES = (80, 320, 1280)  # of the data sets
MOST_PATTERNS = 700  # of distinct samples: larger data sets are not drawn
DRAWS = 24
NOTHING = 1e-12  # a loss that is zero but for rounding
SMALL = 1e-11  # eigenvalues below this share of the largest are zero


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """What drawn data sets say: two constants, each a mean over their sizes."""

    shared: (
        float  # the loss is exp(shared D^-x) times the sum without shared samples, x = alpha1/(alpha1 + 1)
    )
    spread: float  # v Y over the loss times the rank
    stderr: float  # of the loss at the largest size, relative

    def factor(self, inputs: Inputs, D: float) -> float:
        """What the data-limited loss is multiplied by."""
        return math.exp(self.shared * math.pow(D, -_fall(inputs)))


@functools.lru_cache(maxsize=64)
def sharing(inputs: ActivationInputs, response: Response) -> Sharing:
    """Kept, since it takes some seconds."""
    identity = {
        "regression": [inputs.kind, {k: repr(v) for k, v in inputs.parameters().items()}],
        "drawn": [list(SIZES), MOST_PATTERNS, DRAWS, FRESH, SAMPLES, MORE],
        **response.identity,
    }
    found = kept_arrays(identity, lambda: _measured(inputs, response))
    return Sharing(**{name: float(value) for name, value in found.items()})


def _measured(inputs: ActivationInputs, response: Response) -> dict[str, Any]:
    errors = interpolation_errors(inputs, response)
    rows, stderr = [], 0.0
    with progress("regressions on drawn data, some seconds") as show:
        for i, D in enumerate(SIZES):
            rng = np.random.default_rng([20250918, D])
            drawn = []
            for k in range(DRAWS):
                show(i * DRAWS + k, len(SIZES) * DRAWS)
                X, seen, counts = draw_samples(inputs, D, rng)
                patterns = X[np.unique(np.sign(X).astype(np.int8), axis=0, return_index=True)[1]]
                if len(patterns) > MOST_PATTERNS:
                    break
                drawn.append(_losses(inputs, response, (patterns, seen, counts), errors, rng))
            if len(drawn) < DRAWS:
                break
            whole, known, spread = np.array(drawn).T
            if min(whole.min(), known.min(), spread.min()) < NOTHING:  # so few coordinates that all are known
                break
            ratio = whole.sum() / known.sum()
            stderr = float(np.std(whole - ratio * known, ddof=1) / math.sqrt(DRAWS) / known.mean() / ratio)
            rows.append((math.pow(D, -_fall(inputs)), math.log(ratio), math.log(spread.sum() / whole.sum())))
    if not rows:
        return {"shared": 0.0, "spread": 1.0, "stderr": 0.0}
    x, log_loss, log_spread = np.array(rows).T
    return {
        "shared": float(x @ log_loss / (x @ x)),
        "spread": math.exp(log_spread.mean()),
        "stderr": stderr,
    }


def _fall(inputs: Inputs) -> float:
    """alpha1/(alpha1 + 1): how fast the share of samples with two rare coordinates falls."""
    decay = inputs.power_activations().decay
    return (decay - 1.0) / decay


def _losses(
    inputs: ActivationInputs,
    response: Response,
    samples: tuple[FloatArray, FloatArray, FloatArray],
    errors: RareErrors,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """The loss of the regression, what it would be with all other coordinates known, and v Y/r."""
    X, seen, counts = samples
    norms, dots = np.sum(X**2, axis=1), X @ X.T
    kernel = response.kernel(norms[:, None], norms[None, :], dots)
    inverse, rank = _inverse(kernel)
    weights = inverse @ X  # (P, K): one target for each coordinate
    s = inputs.variances(seen)
    unseen = inputs.unseen_variance(seen)
    fresh, squares, share = fresh_samples(inputs, seen, rng)
    towards = fresh @ X.T
    if response.slope is None:
        near = response.kernel(squares[:, None], norms[None, :], towards)
        missed = float(share @ np.sum((near @ weights - fresh) ** 2, axis=1)) / FRESH
    else:
        linear = response.slope**2 * (X.T @ weights)  # predicted coordinate, target
        even = response.even_kernel(squares[:, None], norms[None, :], towards)
        missed = float(np.sum(s[:, None] * (np.eye(seen.size) - linear) ** 2))
        missed += float(share @ np.sum((even @ weights) ** 2, axis=1)) / FRESH
        near = even + response.slope**2 * towards
    one = squares[:, None, None]
    open_ = response.kernel(one, one, one)[:, 0, 0] - np.einsum("fp,fp->f", near @ inverse, near)
    left = float(share @ np.maximum(open_, 0.0)) / FRESH
    alone = errors.at(np.log(inputs.squared_amplitudes(seen)))
    often = np.minimum(counts, errors.last).astype(int)
    late = np.where(counts > errors.last, errors.beyond(counts), 1.0)
    known = float((s * late) @ alone[np.arange(seen.size), often])
    return missed + unseen, known + unseen, left * float(np.sum(X * weights)) / rank


def _inverse(kernel: FloatArray) -> tuple[FloatArray, int]:
    """The pseudo-inverse, and the rank: antipodal samples are not independent of each other."""
    values, vectors = np.linalg.eigh(kernel)
    kept = values > SMALL * values[-1]
    part = vectors[:, kept]
    return np.asarray((part / values[kept]) @ part.T, dtype=float), int(kept.sum())
