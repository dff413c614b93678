"""How well a rare coordinate is known after n samples that show it, with infinitely many features.

All other coordinates are known: features of samples without j span the functions of u without u_j. The rest
of a feature with x_j = e sqrt(c) in it has the kernel k(g + e e' c) - k(g), k that of the activation at
covariance g and the whole norms. From n samples, each with the other coordinates as they come, the target x_j
is fitted exactly, and e_n(c) is the squared error at a fresh sample that shows j, over c. In the limit of a
small c the kernel is that of a step, (pi - angle)/(2 pi): two samples that differ in every sign give all.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.theory.nonlinear.fold import Fold

SAMPLES = 14  # the largest n: beyond, the error is below 1e-4
TESTS = 24
DRAWS = 1200
COORDINATES = 64  # of the other coordinates; fainter ones change no angle
JITTER = 1e-10  # samples may occur twice
SQUARES = 4.0 ** -np.arange(0.0, 8.0)  # c: 1, 1/4, ..., 4^-7


def interpolation_errors(inputs: Inputs, fold: Fold) -> FloatArray:
    """e_n(c), (SQUARES.size, SAMPLES + 1), as a mean over drawn samples; n = 0, 1, ..., SAMPLES."""
    return _both_errors(inputs, fold)[0]


def odd_errors(inputs: Inputs, fold: Fold) -> FloatArray:
    """o_n(c): of it the part that is linear in x_j, (1 - the coefficient found)^2."""
    return _both_errors(inputs, fold)[1]


@functools.lru_cache(maxsize=32)
def _both_errors(inputs: Inputs, fold: Fold) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(20250917)
    law = inputs.power_activations()
    j = np.arange(1.0, min(inputs.dimension, COORDINATES) + 1.0)
    shape = (DRAWS, SAMPLES + TESTS, j.size)
    signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    others = np.where(rng.random(shape) < j**-law.decay, signs, 0.0) * j ** (0.5 * law.growth)
    own = np.where(rng.random(shape[:2]) < 0.5, -1.0, 1.0)
    own[:, SAMPLES:] = 1.0  # fresh samples: the other sign is the same by symmetry
    dots = others[:, :SAMPLES] @ np.swapaxes(others, 1, 2)
    norms = np.sum(others**2, axis=2)
    alike = own[:, :SAMPLES, None] * own[:, None, :]
    errors, odd = np.ones((SQUARES.size, SAMPLES + 1)), np.ones((SQUARES.size, SAMPLES + 1))
    slopes = fold.slope**2 * own[:, :SAMPLES, None]
    for i, c in enumerate(SQUARES):
        left, right = norms[:, :SAMPLES, None] + c, norms[:, None, :] + c
        kernel = (fold.kernel(left, right, dots + c * alike) - fold.kernel(left, right, dots)) / c
        factor = np.linalg.cholesky(kernel[:, :, :SAMPLES] + JITTER * np.eye(SAMPLES))
        both = np.concatenate([kernel[:, :, SAMPLES:], slopes, own[:, :SAMPLES, None]], axis=2)
        solved = np.linalg.solve(factor, both)
        predicted = np.cumsum(solved[:, :, :-1] * solved[:, :, -1:], axis=1)
        errors[i, 1:] = np.mean((1.0 - predicted[:, :, :-1]) ** 2, axis=(0, 2))
        odd[i, 1:] = np.mean((1.0 - predicted[:, :, -1]) ** 2, axis=0)
    return errors, odd


def errors_at(errors: FloatArray, log_c: FloatArray) -> FloatArray:
    """e_n(c_j), (coordinates, n), between the values of c in the table, and constant below the last."""
    place = np.clip(-log_c / math.log(4.0), 0.0, SQUARES.size - 1.0)
    low = np.minimum(place.astype(int), SQUARES.size - 2)
    share = (place - low)[:, None]
    found: FloatArray = (1.0 - share) * errors[low] + share * errors[low + 1]
    return found
