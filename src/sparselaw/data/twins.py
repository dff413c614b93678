"""Coordinates only ever seen together: the data cannot tell them apart, and they count as one.

Let a group of coordinates be active in the same samples with the same relative signs, with amplitudes x_j.
Only the direction d = x/|x| was ever shown. Turn the coordinates of the group so that d is one of them: the
columns of u and the teacher stay Gaussian. Across d nothing was seen, so that the readout is independent of
what is across, which averages like the coordinates never seen; its cross terms with d average to zero. So the
group is one coordinate of length |x| and variance sum_j d_j^2 s_j, and the rest, sum_j (1 - d_j^2) s_j, is
unseen.

Two rare coordinates seen once each, in the same sample, are the usual reason for dependent rows of X_A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.data.gram import ScaledGram

EQUAL = 1.0 - 1e-12  # correlations of other pairs of integer rows stay below 1 - 1/(2D)


@dataclass(frozen=True, slots=True, kw_only=True)
class Directions:
    """What the data told apart: coordinates, and groups under the place of their first."""

    gram: ScaledGram
    variance: FloatArray  # (K,)
    across: float  # variance within groups that was never seen


def told_apart(gram: ScaledGram, variance: FloatArray) -> Directions:
    """Each group of twins reduced to one coordinate."""
    leader = _leaders(gram.correlation)
    kept = leader == np.arange(leader.size)
    if kept.all():
        return Directions(gram=gram, variance=variance, across=0.0)
    squares = gram.length**2
    total = np.bincount(leader, squares, minlength=leader.size)
    share = squares / total[leader]
    return Directions(
        gram=ScaledGram(
            length=np.sqrt(total[kept]),
            correlation=gram.correlation[np.ix_(kept, kept)],
        ),
        variance=np.bincount(leader, share * variance, minlength=leader.size)[kept],
        across=float(np.sum((1.0 - share) * variance)),
    )


def _leaders(correlation: sparse.csr_array) -> IntArray:
    """The first coordinate with which each is in step, itself if there is none before it."""
    leader = np.arange(correlation.shape[0])
    in_step = np.flatnonzero(np.abs(correlation.data) > EQUAL)[::-1]  # backwards: the first is written last
    rows = np.searchsorted(correlation.indptr, in_step, side="right") - 1
    leader[rows] = correlation.indices[in_step]
    return leader
