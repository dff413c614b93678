"""Losses measured on real rows: of D of them, of N random features, and with signs or columns scrambled.

With a random teacher (weights of mean 0 and variance 1) and infinitely many features the loss of a row x is
|x - P x|^2, P the projection on the span of the D training rows: averaged over teachers exactly. By a ridge
so small that it decides nothing but the rank,

    |x - P x|^2 = ridge x^T (G + ridge)^-1 x = x^T x - k^T (K + ridge)^-1 k,

G = X^T X over the features seen, K = X X^T over the rows, k = X x: the smaller of the two is factored.

N random features: u has N rows with entries N(0, 1/N); the readout of the features u x is fitted to
``train``. For a random teacher, averaged exactly, the answer to x is B^T-weighted: with Sigma = X^T X / n, A
= u Sigma u^T and B = Sigma u^T A^-1, the loss of a row is |x - B u x|^2.

Random signs leave who is active with whom, and take means and correlations away. Shuffled columns leave how
often and how large each feature is, and take co-activation away as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.interval import Interval, student_factor

RIDGE = 1e-9  # of the mean square of a row
NORMAL = 1.96  # the 95 % point of the normal law
LARGEST = 12_000  # side of the matrix to be factored


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """For each test row: its sum of squares (``energy``), and what the training rows leave open of it."""

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


class Draws:
    """Losses of several draws of training and test rows out of the same ``rows``, and how sure their mean is.

    Two things are uncertain. Which rows train: the variance between draws, and rows/D draws at most are
    independent. Which rows test: where they are few, all draws test on nearly the same ones, and their
    variance does not show between draws; so it is taken row by row, a row of several draws once: sum_t r_t^2
    with r_t the mean over draws of (open_t - share s_t) / sum_u s_u, s_t the sum of squares of row t.
    """

    def __init__(self, rows: int, D: int) -> None:
        self._independent = rows / D
        self._shares: list[float] = []
        self._within: list[float] = []
        self._residual = np.zeros(rows)

    def add(self, test: np.ndarray, found: LeftOpen) -> None:
        """What one draw left open of its test rows."""
        residual = (found.open - found.share * found.energy) / float(found.energy.sum())
        self._shares.append(found.share)
        self._within.append(float(residual @ residual))
        self._residual[test] += residual

    def interval(self) -> Interval:
        """The mean loss with a 95 % interval for rows that nobody has drawn yet."""
        count, best = len(self._shares), float(np.mean(self._shares))
        if count < 2:
            return Interval(math.nan, best, math.nan)
        between = max(float(np.var(self._shares, ddof=1)), float(np.mean(self._within)))
        training = student_factor(count) * math.sqrt(between / min(count, self._independent))
        testing = NORMAL * float(np.linalg.norm(self._residual)) / count
        half = math.hypot(training, testing)
        return Interval(max(best - half, 0.0), best, best + half)


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


LARGEST_PROJECTION = 60_000_000  # features times N held at once


def projected_loss(train: Any, test: Any, N: int, rng: np.random.Generator) -> float:
    """The loss of N random features fitted to ``train``, as a share of the variance of ``test``."""
    features = train.shape[1]
    if features * N > LARGEST_PROJECTION:
        raise InputError(
            "N", N, f"is too large for {features} features", f"choose N <= {LARGEST_PROJECTION // features}"
        )
    u = rng.standard_normal((features, N)) / np.sqrt(N)
    hidden = np.asarray(train @ u)
    second = hidden.T @ hidden
    second[np.diag_indices(N)] += 1e-11 * np.trace(second) / N
    across = np.asarray(train.T @ hidden)
    answers = np.linalg.solve(second, across.T)  # B^T
    shown = np.asarray(test @ u)
    energy = float(test.multiply(test).sum())
    product = float(np.einsum("tn,tn->", shown, np.asarray(test @ answers.T)))
    square = float(np.einsum("tn,tn->", shown, shown @ (answers @ answers.T)))
    return (energy - 2.0 * product + square) / energy


def random_signs(x: Any, rng: np.random.Generator) -> Any:
    """Every nonzero with a fair sign."""
    turned = x.copy()
    turned.data = x.data * rng.choice(np.array([-1.0, 1.0]), x.data.size)
    return turned


def shuffled_columns(x: Any, rng: np.random.Generator) -> Any:
    """The values of each column at other rows, drawn without replacement; at the cost of the nonzeros.

    Each entry takes a random row; where two of a column meet, those after the first draw again.
    """
    from scipy import sparse

    columns = x.tocsc()
    rows = x.shape[0]
    column = np.repeat(np.arange(x.shape[1]), np.diff(columns.indptr))
    full = np.diff(columns.indptr) > rows // 2
    place = rng.integers(0, rows, column.size)
    for j in np.flatnonzero(full):  # frequent columns: a permutation is cheaper than trying again
        inside = slice(columns.indptr[j], columns.indptr[j + 1])
        place[inside] = rng.permutation(rows)[: inside.stop - inside.start]
    while True:
        key = column * rows + place
        order = np.argsort(key, kind="stable")
        again = order[1:][key[order][1:] == key[order][:-1]]
        if not again.size:
            break
        place[again] = rng.integers(0, rows, again.size)
    return sparse.coo_matrix((columns.data, (place, column)), shape=x.shape).tocsr()
