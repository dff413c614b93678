"""Linear features phi = u x reduced to the few coordinates that matter.

The readout sees the data through G = F F^T alone, and every solver and norm is unchanged by a rotation of
theta. So a trial with n relevant coordinates needs only an n-column embedding U with U^T U of the right law,
in at most n rows, whatever the width N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.linalg.elimination import Triangle
from sparselaw.linalg.wishart import wishart_root


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearProblem:
    """Targets t = F^T a + noise, features Y^T = F^T U^T, and the population loss of theta (eq:bayes-loss)

    floor + unseen (1 + |theta|^2 / N) + (a - U^T theta)^T Sigma (a - U^T theta).

    The second term averages over the columns of u (and the teacher) of coordinates that the data never
    show: they are independent of theta. Label noise of variance q acts on X^T w, so X eps ~ N(0, q G) = F
    eta: it adds eta ~ N(0, q I) to t.
    """

    factor: Triangle  # F (n, r), G = F F^T
    embedding: FloatArray  # U (k, n), k <= min(N, n)
    covariance: FloatArray  # Sigma, (n,) when diagonal, else (n, n)
    teacher_covariance: FloatArray | None = None  # of a, (n, n); None is the identity
    unseen: float = 0.0
    floor: float = 0.0
    noise: float
    width: int  # N
    samples: int  # D


def draw_embedding(width: int, columns: int, rng: np.random.Generator) -> FloatArray:
    """``columns`` columns of u with entries N(0, 1/width), rotated into min(width, columns) rows.

    For width > columns only W = u^T u ~ Wishart matters; Bartlett's decomposition draws its triangular root,
    so a width of 1e12 costs no more than one just above the number of columns.
    """
    if width <= columns:
        return rng.standard_normal((width, columns)) / math.sqrt(width)
    return wishart_root(width, columns, rng).T / math.sqrt(width)
