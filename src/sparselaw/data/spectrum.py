"""The sequences of the model over coordinates j, and its sums over the coordinates never seen.

p_j = j^-(alpha1+1) activation probability, c_j = j^-(alpha2+1) squared amplitude, s_j = p_j c_j variance.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs, SparseInputs
from sparselaw.sums.power_sums import power_sum
from sparselaw.sums.spectral_sums import sparse_sums


def probabilities(inputs: SparseInputs, j: FloatArray) -> FloatArray:
    return j ** -(inputs.alpha1 + 1.0)


def amplitudes(inputs: SparseInputs, j: FloatArray) -> FloatArray:
    """sqrt(c_j)."""
    return j ** (-0.5 * (inputs.alpha2 + 1.0))


def variances(inputs: Inputs, j: FloatArray) -> FloatArray:
    return j**-inputs.spectrum


def expected_nonzeros(inputs: SparseInputs) -> float:
    """sum_j p_j: the mean number of nonzeros of a sample."""
    return power_sum(inputs.alpha1 + 1.0, 1, inputs.dimension)


def unseen_variance(inputs: SparseInputs, active: FloatArray) -> float:
    """sum_{j not in active} s_j, with no cancellation: losses of 1e-12 must keep their digits.

    Up to a cutoff of about twice the number of active coordinates the complement is added term by term.
    Beyond it few coordinates are active, so that the tail sum minus those few loses nothing.
    """
    cutoff = int(min(inputs.dimension, 2 * active.size + 64))
    missing = np.ones(cutoff, dtype=bool)
    near = active <= cutoff
    missing[active[near].astype(np.int64) - 1] = False
    below = math.fsum(variances(inputs, 1.0 + np.flatnonzero(missing).astype(np.float64)))
    far = active[~near]
    if cutoff == inputs.dimension or far.size == inputs.dimension - cutoff:
        return below
    beyond = power_sum(inputs.spectrum, cutoff + 1, inputs.dimension) - math.fsum(variances(inputs, far))
    return below + max(beyond, 0.0)


@functools.lru_cache(maxsize=4096)
def expected_unseen(inputs: SparseInputs, D: int) -> float:
    """sum_j s_j (1-p_j)^D: the mean of the unseen variance over the data."""
    return sparse_sums(inputs, float(D)).unseen_variance()
