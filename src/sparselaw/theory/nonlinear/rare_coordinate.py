"""How well a rare coordinate is known after n samples that show it, with infinitely many features.

All other coordinates are known: features of samples without j span the functions of u without u_j. The rest
of a feature with x_j = e sqrt(c) in it has the kernel k(g + e e' c) - k(g), k that of the activation at
covariance g and the whole norms. From n samples, each with the other coordinates as they come, the target x_j
is fitted exactly, and e_n(c) is the squared error at a fresh sample that shows j, over c. In the limit of a
small c the kernel of a ReLU is that of a step, (pi - angle)/(2 pi): two samples that differ in every sign
give all. Where the odd part of f is not linear, samples in new company are always a little off; e_n then
falls with a power of n, which goes on beyond the largest n that is drawn.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.theory.nonlinear.kept_arrays import kept_arrays
from sparselaw.theory.nonlinear.response import Response

SAMPLES = 14  # the largest n of many draws
MORE = 112  # the largest n of few draws, where the error does not end before
ENDED = 5e-4  # an error of SAMPLES below which there is nothing more
TESTS = 24
DRAWS, FEWER = 1200, 40
COORDINATES = 64  # of the other coordinates; fainter ones change no angle
JITTER = 1e-10  # samples may occur twice
SQUARES = 4.0 ** -np.arange(0.0, 8.0)  # c: 1, 1/4, ..., 4^-7


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
    """Means over drawn samples. Kept, since they take a second or two."""
    identity = {
        "rare": [inputs.kind, {k: repr(v) for k, v in inputs.parameters().items()}],
        "drawn": [SAMPLES, MORE, TESTS, DRAWS, FEWER, COORDINATES],
        **response.identity,
    }
    found = kept_arrays(identity, lambda: _drawn(inputs, response))
    return RareErrors(table=np.asarray(found["table"]), fall=float(found["fall"]))


def _drawn(inputs: Inputs, response: Response) -> dict[str, Any]:
    first = _errors(inputs, response, SAMPLES, DRAWS)
    if first[:, -1].max() < ENDED:
        return {"table": first, "fall": math.inf}
    more = _errors(inputs, response, MORE, FEWER)
    scale = first[:, -1] / more[:, SAMPLES]
    table = np.concatenate([first, more[:, SAMPLES + 1 :] * scale[:, None]], axis=1)
    half = MORE // 2
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
