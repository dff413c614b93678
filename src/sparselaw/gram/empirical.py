"""Rows of somebody's own features as a law of the Gram matrix: the singular values of the rows themselves.

G = X^T X of D training rows, exactly, by the eigenvalues of the smaller of X X^T and X^T X. Sigma is the
second moment of other rows: v^T Sigma v of every eigenvector is the variance that it carries, and what the
eigenvectors leave out is unseen. Nothing is assumed of the rows. Several draws of training rows are
averaged; how their t differ is the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import Atoms

TOLERANCE = 1e-11  # of the largest eigenvalue: smaller ones are rounding


@dataclass(frozen=True)
class GivenRows(Atoms):
    """The mean law over ``draws`` of training rows."""

    draws: tuple[Atoms, ...] = ()

    def error(self, x: FloatArray) -> FloatArray:
        if len(self.draws) < 2:
            return np.zeros(np.shape(x))
        t = np.array([draw.at(x).t for draw in self.draws])
        error = t.std(axis=0, ddof=1) / np.sqrt(len(self.draws))
        return np.asarray(error / np.maximum(t.mean(axis=0), 1e-300))


def law_of_rows(train: Any, other: Any) -> Atoms:
    """The law of one data set, dense or sparse: an atom for each direction that its rows ``train`` show.

    ``other`` are other rows of the same columns: the population.
    """
    rows, columns = train.shape
    if rows <= columns:
        g, left = np.linalg.eigh(_dense(train @ train.T))
        kept = g > TOLERANCE * max(float(g[-1]), 1e-300)
        g, left = g[kept], left[:, kept]
        along = (_dense(other @ train.T) @ left) / np.sqrt(g)
    else:
        g, directions = np.linalg.eigh(_dense(train.T @ train))
        kept = g > TOLERANCE * max(float(g[-1]), 1e-300)
        g, directions = g[kept], directions[:, kept]
        left = _dense(train @ directions) / np.sqrt(g)
        along = _dense(other @ directions)
    variance = (along**2).mean(axis=0)
    total = float(_squares(other).sum()) / other.shape[0]
    return Atoms(
        np.ones(g.size),
        np.log(g),
        variance,
        unseen=max(total - float(variance.sum()), 0.0),
        most=float(min(rows, columns)),
        log_single=np.log(g * (left**4).sum(axis=0)),
    )


def mean_law(draws: list[Atoms]) -> GivenRows:
    """Every draw with the same share."""
    share = 1.0 / len(draws)
    ranks = np.array([draw.rank for draw in draws])
    return GivenRows(
        np.concatenate([share * draw.weight for draw in draws]),
        np.concatenate([draw.log_g for draw in draws]),
        np.concatenate([share * draw.variance for draw in draws]),
        unseen=share * sum(draw.unseen for draw in draws),
        rank=float(ranks.mean()),
        most=max(draw.most for draw in draws),
        log_single=np.concatenate([d.log_single for d in draws if d.log_single is not None]),
        draws=tuple(draws),
    )


def _dense(matrix: Any) -> FloatArray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=float)


def _squares(matrix: Any) -> FloatArray:
    return np.asarray(matrix.data if hasattr(matrix, "tocsr") else matrix, dtype=float) ** 2
