"""The sequences of the model over coordinates j, and its sums over the coordinates never seen.

p_j = j^-(alpha1+1) activation probability, c_j = j^-(alpha2+1) squared amplitude, s_j = p_j c_j variance.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from sparselaw.data.arrays import FloatArray
from sparselaw.problem import Problem, SparseInputs
from sparselaw.theory.power_sums import power_sum
from sparselaw.theory.spectral_sums import sparse_sums


def probabilities(problem: SparseInputs, j: FloatArray) -> FloatArray:
    return j ** -(problem.alpha1 + 1.0)


def amplitudes(problem: SparseInputs, j: FloatArray) -> FloatArray:
    """sqrt(c_j)."""
    return j ** (-0.5 * (problem.alpha2 + 1.0))


def variances(problem: Problem, j: FloatArray) -> FloatArray:
    return j**-problem.spectrum


def expected_nonzeros(problem: SparseInputs) -> float:
    """sum_j p_j: the mean number of nonzeros of a sample."""
    return power_sum(problem.alpha1 + 1.0, 1, problem.dimension)


def unseen_variance(problem: SparseInputs, active: FloatArray) -> float:
    """sum_{j not in active} s_j, with no cancellation: losses of 1e-12 must keep their digits.

    Up to a cutoff of about twice the number of active coordinates the complement is added term by term.
    Beyond it few coordinates are active, so that the tail sum minus those few loses nothing.
    """
    cutoff = int(min(problem.dimension, 2 * active.size + 64))
    missing = np.ones(cutoff, dtype=bool)
    near = active <= cutoff
    missing[active[near].astype(np.int64) - 1] = False
    below = math.fsum(variances(problem, 1.0 + np.flatnonzero(missing).astype(np.float64)))
    far = active[~near]
    if cutoff == problem.dimension or far.size == problem.dimension - cutoff:
        return below
    beyond = power_sum(problem.spectrum, cutoff + 1, problem.dimension) - math.fsum(variances(problem, far))
    return below + max(beyond, 0.0)


@functools.lru_cache(maxsize=4096)
def expected_unseen(problem: SparseInputs, D: int) -> float:
    """sum_j s_j (1-p_j)^D: the mean of the unseen variance over the data."""
    return sparse_sums(problem, float(D)).unseen_variance()
