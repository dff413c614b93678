"""Roots of Wishart matrices."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray


def wishart_root(freedom: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Lower triangular L (size, size) with L L^T ~ Wishart(freedom, I), freedom >= size (Bartlett)."""
    root = np.tril(rng.standard_normal((size, size)), -1)
    root[np.diag_indices(size)] = np.sqrt(rng.chisquare(freedom - np.arange(size, dtype=np.float64)))
    return root
