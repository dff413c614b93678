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
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.interval import Interval, student_factor
from sparselaw.measuring.rarefaction import jackknife_error

RIDGE = 1e-9  # of the mean square of a row
NORMAL = 1.96  # the 95 % point of the normal law
LARGEST = 12_000  # side of the matrix to be factored


class LeftOpen(NamedTuple):
    """For each test row what the training rows leave open of it, and its sum of squares."""

    open: FloatArray
    squares: FloatArray


def left_open(train: Any, test: Any) -> LeftOpen:
    """What the rows of ``train`` leave open of those of ``test``."""
    squares = squares_of(test, axis=1)
    return LeftOpen(Factored(train).rest(test, squares) if train.nnz else squares, squares)


def squares_of(x: Any, axis: int) -> FloatArray:
    """The sum of squares of each column (axis 0) or row (1)."""
    return np.asarray(x.multiply(x).sum(axis=axis)).ravel()


WORK = 2e10  # multiplications for the test rows of a draw
TEST_ROWS = (400, 4000)


class Splits:
    """Draws of D training rows and of test rows out of ``rows``, and how sure the mean of their losses is.

    Where the rows suffice every draw has rows of its own: losses are independent, and the jackknife over
    draws gives Student's interval. Where they do not, draws share rows, and two things are uncertain. Which
    rows train: the variance between draws, of which rows/D at most are independent. Which rows test: all
    draws test on nearly the same ones, so that their variance does not show between draws; it is taken row
    by row, a row of several draws once: sum_t r_t^2 with r_t the mean over draws of
    (open_t - share s_t) / sum_u s_u, s_t the sum of squares of row t. A row that is hard to predict may also
    teach little, so that the two are added as they are and not in squares.
    """

    def __init__(self, rows: int, D: int, count: int, seed: int) -> None:
        self.rows, self.D = rows, D
        most = int(min(max(WORK / D**2, TEST_ROWS[0]), TEST_ROWS[1]))
        self.apart = count * (D + most) <= rows
        self._rngs = [np.random.default_rng([seed, D, i]) for i in range(count)]
        if self.apart:
            orders = np.array_split(self._rngs[0].permutation(rows), count)
        else:
            orders = [rng.permutation(rows) for rng in self._rngs]
        self._parts = [(order[:D], order[D : D + most]) for order in orders]

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.random.Generator]]:
        for (train, test), rng in zip(self._parts, self._rngs, strict=True):
            yield train, test, rng

    def interval(self, found: Sequence[LeftOpen]) -> Interval:
        """The mean loss of the draws with a 95 % interval for rows that nobody has drawn yet."""
        left, whole = (np.array([part.sum() for part in parts]) for parts in zip(*found, strict=True))
        with np.errstate(invalid="ignore"):  # a target that is never active in the test rows
            count, shares = len(found), left / whole
        best = float(left.sum() / whole.sum() if self.apart else shares.mean())
        if count < 2:
            return Interval(math.nan, best, math.nan)
        if self.apart:
            without = (left.sum() - left) / (whole.sum() - whole)
            half = student_factor(count) * jackknife_error(best, without.tolist(), np.ones(count, np.int64))
        else:
            residuals, within = np.zeros(self.rows), []
            for (_, test), draw, share in zip(self._parts, found, shares, strict=True):
                residual = (draw.open - share * draw.squares) / draw.squares.sum()
                residuals[test] += residual
                within.append(residual @ residual)
            between = max(float(np.var(shares, ddof=1)), float(np.mean(within)))
            training = student_factor(count) * math.sqrt(between / min(count, self.rows / self.D))
            half = training + NORMAL * float(np.linalg.norm(residuals)) / count
        return Interval(max(best - half, 0.0), best, best + half)


class Factored:
    """The Cholesky factor of the smaller of K + ridge and G + ridge, of rows with some entry."""

    def __init__(self, train: Any) -> None:
        from scipy.linalg import cholesky

        self.seen = np.unique(train.indices)
        self.rows = rows = train[:, self.seen]
        self.ridge = RIDGE * float(rows.data @ rows.data) / train.shape[0]
        self.by_rows = rows.shape[0] <= self.seen.size
        side = min(rows.shape)
        if side > LARGEST:
            condition = f"needs the factor of a matrix of side {side}"
            raise InputError("D", train.shape[0], condition, f"choose D <= {LARGEST}")
        gram = (rows @ rows.T if self.by_rows else rows.T @ rows).toarray()
        gram[np.diag_indices(side)] += self.ridge
        self.lower = cholesky(gram, lower=True, overwrite_a=True)

    def rest(self, test: Any, squares: FloatArray) -> FloatArray:
        """|x - P x|^2 of each row of these sums of squares."""
        from scipy.linalg import solve_triangular

        inside = test[:, self.seen]
        side = (self.rows @ inside.T if self.by_rows else inside.T).toarray()
        whitened = solve_triangular(self.lower, side, lower=True, overwrite_b=True)
        known = np.einsum("ij,ij->j", whitened, whitened)
        if not self.by_rows:
            known = squares_of(inside, axis=1) - self.ridge * known
        return np.asarray(np.clip(squares - known, 0.0, squares))

    def prediction(self, y: FloatArray, test: Any) -> FloatArray:
        """The answers of the least squares of smallest norm to the targets ``y``."""
        from scipy.linalg import cho_solve

        inside = test[:, self.seen]
        if self.by_rows:
            weights = self.rows.T @ cho_solve((self.lower, True), y)
        else:
            weights = cho_solve((self.lower, True), np.asarray(self.rows.T @ y).ravel())
        return np.asarray(inside @ weights).ravel()


LARGEST_PROJECTION = 60_000_000  # features times N held at once


def projected_loss(train: Any, test: Any, N: int, rng: np.random.Generator) -> LeftOpen:
    """What N random features fitted to ``train`` leave open of each row of ``test``."""
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
    squares = squares_of(test, axis=1)
    product = np.einsum("tn,tn->t", shown, np.asarray(test @ answers.T))
    square = np.einsum("tn,tn->t", shown, shown @ (answers @ answers.T))
    return LeftOpen(squares - 2.0 * product + square, squares)


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
