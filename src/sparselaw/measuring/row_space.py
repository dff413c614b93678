"""The learning curve of real rows: what D of them leave open of the others.

With a random teacher (weights of mean 0 and variance 1) and infinitely many features the loss of a row x is
|x - P x|^2, P the projection on the span of the D training rows: averaged over teachers exactly. By a ridge
so small that it decides nothing but the rank,

    |x - P x|^2 = ridge x^T (G + ridge)^-1 x = x^T x - k^T (K + ridge)^-1 k,

G = X^T X over the features seen, K = X X^T over the rows, k = X x: the smaller of the two is factored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError

RIDGE = 1e-9  # of the mean square of a row
LARGEST = 12_000  # side of the matrix to be factored


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """For each test row: its energy, and what the training rows leave open of it."""

    energy: FloatArray
    open: FloatArray

    @property
    def share(self) -> float:
        return float(self.open.sum() / self.energy.sum())


def left_open(train: Any, test: Any) -> LeftOpen:
    """What the rows of ``train`` leave open of those of ``test``."""
    energy = np.asarray(test.multiply(test).sum(axis=1)).ravel()
    factor = Factored.of(train)
    if factor is None:
        return LeftOpen(energy, energy)
    return LeftOpen(energy, np.clip(factor.rest(test, energy), 0.0, energy))


@dataclass(frozen=True, slots=True)
class Factored:
    """The Cholesky factor of the smaller of K + ridge and G + ridge."""

    rows: Any
    seen: np.ndarray
    ridge: float
    lower: FloatArray
    by_rows: bool

    @staticmethod
    def of(train: Any) -> Factored | None:
        from scipy.linalg import cholesky

        seen = np.unique(train.indices)
        if not seen.size:
            return None
        rows = train[:, seen]
        ridge = RIDGE * float(rows.data @ rows.data) / train.shape[0]
        by_rows = rows.shape[0] <= seen.size
        side = min(rows.shape[0], seen.size)
        if side > LARGEST:
            raise InputError(
                "D", train.shape[0], f"needs the factor of a matrix of side {side}", f"choose D <= {LARGEST}"
            )
        gram = (rows @ rows.T if by_rows else rows.T @ rows).toarray()
        gram[np.diag_indices(side)] += ridge
        return Factored(rows, seen, ridge, cholesky(gram, lower=True, overwrite_a=True), by_rows)

    def rest(self, test: Any, energy: FloatArray) -> FloatArray:
        """|x - P x|^2 of each row."""
        from scipy.linalg import solve_triangular

        inside = test[:, self.seen]
        unseen = energy - np.asarray(inside.multiply(inside).sum(axis=1)).ravel()
        side = (self.rows @ inside.T if self.by_rows else inside.T).toarray()
        whitened = solve_triangular(self.lower, side, lower=True, overwrite_b=True)
        squares = np.einsum("ij,ij->j", whitened, whitened)
        if self.by_rows:
            return np.asarray(energy - squares)
        return np.asarray(unseen + self.ridge * squares)

    def prediction(self, y: FloatArray, test: Any) -> FloatArray:
        """The answers of the least squares of smallest norm to the targets ``y``."""
        from scipy.linalg import cho_solve

        inside = test[:, self.seen]
        if self.by_rows:
            weights = cho_solve((self.lower, True), y)
            return np.asarray(inside @ (self.rows.T @ weights)).ravel()
        weights = cho_solve((self.lower, True), np.asarray(self.rows.T @ y).ravel())
        return np.asarray(inside @ weights).ravel()
