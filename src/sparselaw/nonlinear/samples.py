"""Samples of sparse inputs: drawn ones, how many of D differ, the rank of nonlinear features of them, and
what they leave unknown.

Given samples, N Gaussian features of kernel k are on average a regression with that kernel and a ridge. With
K the kernel between the patterns, times the square root of how often each occurs on either side, q(x) the
same between them and a fresh sample, and R = (K + ridge)^-1,

    tr K R = N,        loss = bias + V Y/(N - B),        B = tr K^2 R^2,

bias the squared error of the regression, Y the sum over targets of y K R^2 y, and V the mean over fresh
samples of k(x, x) - 2 q R q + q R K R q. For linear features and coordinates that share no samples this is
the loss surface. Above the limit of endless data it has

    h * loss of endless features * r/(r - N),

r the rank, with a factor that hardly depends on N and D: its mean over drawn samples is the constant here.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.nodes import coordinate_nodes, log_survival, power_integral
from sparselaw.inputs import Inputs
from sparselaw.inputs.activations import ActivationInputs
from sparselaw.nonlinear.features_limit import plain_limit
from sparselaw.nonlinear.parity_sectors import coordinate_cells
from sparselaw.nonlinear.response import Response
from sparselaw.nonlinear.table_cache import cached_arrays
from sparselaw.progress import progress
from sparselaw.search import solve_decreasing

FRESH = 600  # samples to try a regression on
RARE = 1e-2  # patterns that are seen less often than this on average hardly ever come twice
DATA_SIZES = (320, 1280)  # of the data sets
MOST_RANK = 400.0  # larger data sets are not drawn
SHARES = (0.35, 0.5, 0.65)  # N over the rank
DRAWS = 20
ZERO_EIGENVALUE = 1e-11  # eigenvalues below this share of the largest are zero
NOTHING = 1e-12  # a loss that is zero but for rounding
HEAD = 0.02  # coordinates with a larger p have a column of draws, the others come as events


def draw_samples(
    inputs: ActivationInputs, D: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Samples (D, K) of the coordinates seen, those coordinates, and in how many samples each is."""
    after = inputs.last_above(HEAD)
    j = np.arange(1.0, after + 1.0)
    row, column = np.nonzero(rng.random((D, after)) < inputs.probabilities(j))
    events = 0 if after >= inputs.dimension else rng.poisson(D * inputs.tail_rate(after))
    rows = np.concatenate([row, rng.integers(D, size=events)])
    coordinates = np.concatenate([j[column], inputs.draw_tail(after, events, rng) if events else np.empty(0)])
    place = np.unique(np.stack([rows.astype(float), coordinates], axis=1), axis=0)
    seen, column = np.unique(place[:, 1], return_inverse=True)
    X = np.zeros((D, seen.size))
    X[place[:, 0].astype(int), column] = np.where(rng.random(len(place)) < 0.5, -1.0, 1.0)
    return X * inputs.amplitudes(seen), seen, np.abs(X).sum(axis=0)


def fresh_samples(
    inputs: ActivationInputs, seen: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fresh samples (F, K) in the coordinates seen, their squared norms, and what each counts for.

    In half of them one of the coordinates seen is made active, each as likely: rare ones are what is missed.
    """
    drawn, place, _ = draw_samples(inputs, FRESH, rng)
    squares = np.sum(drawn**2, axis=1)
    X = np.zeros((FRESH, seen.size))
    _, here, there = np.intersect1d(seen, place, return_indices=True)
    X[:, here] = drawn[:, there]
    rows, chosen = np.arange(0, FRESH, 2), rng.integers(seen.size, size=(FRESH + 1) // 2)
    new = X[rows, chosen] == 0.0
    added = inputs.amplitudes(seen)[chosen[new]] * np.where(rng.random(int(new.sum())) < 0.5, -1.0, 1.0)
    X[rows[new], chosen[new]] = added
    squares[rows[new]] += added**2
    more = (X != 0.0) @ (1.0 / inputs.probabilities(seen)) / seen.size
    return X, squares, 1.0 / (0.5 + 0.5 * more)


@functools.lru_cache(maxsize=4096)
def features_rank(inputs: Inputs, response: Response, D: float) -> float:
    """The expected rank of very many nonlinear features on D samples.

    Where f is odd or even, a sample and its negative are the same: the rank is the number of samples that
    differ by more than their sign. Where neither part is linear, they are two.

    Where the odd part is linear, a sample and its negative have features that differ by u x: every sample
    that differs from the others by more than its sign adds a direction, and so does each coordinate that such
    a pair makes known. A pair is looked for among samples that show j with nothing else, with coordinate 2,
    or with 3.
    """
    if not response.even or response.slope == 0.0:
        return distinct_samples(inputs, D)
    if response.slope is None:
        return min(2.0 * distinct_samples(inputs, D / 2.0), D)
    law = inputs.power_activations()
    nodes = coordinate_nodes(inputs.dimension, math.log(D / RARE) / law.decay, 2.0 * law.decay)
    p = np.exp(-law.decay * nodes.log_j)
    quiet = math.exp(-log_survival(law.decay, 2.0, inputs.dimension))
    odds = [x / (1.0 - x) / 2.0 for x in (2.0**-law.decay, 3.0**-law.decay)]
    unpaired = np.ones_like(p)
    with np.errstate(divide="ignore"):
        alone = np.where(p < 1.0, quiet * p / (1.0 - p) / 2.0, 0.5 * quiet)
    for share, classes in ((1.0, 2.0), (odds[0], 4.0), (odds[1], 4.0)):
        pair = np.expm1(-0.5 * D * np.minimum(alone * share, 1.0)) ** 2
        unpaired *= (1.0 - pair) ** classes
    return min(distinct_samples(inputs, D) + float(nodes.weight @ (1.0 - unpaired)), D)


def distinct_samples(inputs: Inputs, D: float) -> float:
    """The expected number of samples that differ by more than their common sign.

    sum over patterns of 1 - (1 - P)^D, P the probability of a pattern or its negative; what is too rare to be
    listed is seen once each.
    """
    return _occupied(inputs, D)[0]


def rank_deviation(inputs: Inputs, response: Response, D: float) -> float:
    """The standard deviation of the rank of very many features: that of the number of different samples."""
    if response.even and response.slope is None:
        return math.sqrt(2.0 * _occupied(inputs, D / 2.0)[1])
    return math.sqrt(_occupied(inputs, D)[1])


@functools.lru_cache(maxsize=1024)
def _occupied(inputs: Inputs, D: float) -> tuple[float, float]:
    """Mean and variance of the number of patterns seen.

    With Q = (1 - P)^D of each pattern the variance is sum Q (1 - Q) - D (sum P Q)^2: that of independent
    patterns, less what the fixed number of samples takes away.
    """
    law = inputs.power_activations()
    reach = (D / RARE) ** (1.0 / law.decay)
    cells = coordinate_cells(inputs, max(reach, 2.0) ** -inputs.power_law().spectrum)
    odds, twice = (0.5 * cells.p / (1.0 - cells.p)).tolist(), (2.0 * cells.count).tolist()
    quiet = float(cells.count @ np.log1p(-cells.p))
    if cells.place.size and cells.place[-1] + 1.0 < inputs.dimension:  # sum of p_j beyond the last cell
        quiet -= power_integral(1.0 - law.decay, math.log(cells.place[-1]), math.log(inputs.dimension))
    patterns: list[tuple[float, float]] = []  # P, and how many have it

    def visit(first: int, P: float, ways: float) -> None:
        patterns.append((P, ways))
        for k in range(first, len(odds)):
            if D * P * odds[k] < RARE:
                break
            # One coordinate of a cell: two of them are too rare to matter, or belong to the cells of one.
            visit(k + 1, P * odds[k], ways * twice[k])

    visit(0, math.exp(quiet), 1.0)
    P, ways = np.array(patterns).T
    with np.errstate(divide="ignore"):
        found = -np.expm1(D * np.log1p(-P))
    rare = max(1.0 - float(ways @ P), 0.0)
    fixed = float(ways @ (P * (1.0 - found))) + rare
    variance = float(ways @ (found * (1.0 - found))) + D * rare - D * fixed**2
    return min(float(ways @ found) + D * rare, D), max(variance, 0.0)


@functools.lru_cache(maxsize=64)
def variance_factor(inputs: ActivationInputs, response: Response) -> float:
    """h of the module, a mean over drawn samples; one where all coordinates are known anyway."""
    settings = [list(DATA_SIZES), MOST_RANK, list(SHARES), DRAWS, FRESH]
    kept = cached_arrays(
        "variance factor", inputs, [response.digest], settings, lambda: {"h": _mean_factor(inputs, response)}
    )
    return float(kept["h"])


def _mean_factor(inputs: ActivationInputs, response: Response) -> float:
    found: list[float] = []
    with progress("fewer features than samples") as show:
        for i, D in enumerate(DATA_SIZES):
            rank = features_rank(inputs, response, float(D))
            limits = [(share * rank, plain_limit(inputs, response, share * rank)) for share in SHARES]
            if found and rank > MOST_RANK:
                break
            rng = np.random.default_rng([20261117, D])
            sums = np.zeros((2, len(limits)))  # the loss above its limit, and what the factor multiplies
            for draw in range(DRAWS):
                show(i * DRAWS + draw, len(DATA_SIZES) * DRAWS)
                drawn = drawn_regression(inputs, response, D, rng)
                assert drawn is not None  # of any number of patterns
                unknown = drawn.error(drawn.weights(0.0))
                for k, (N, limit) in enumerate(limits):
                    if limit is None or N > 0.95 * drawn.rank:
                        sums[:, k] += math.nan
                    else:
                        sums[:, k] += drawn.loss(N) - limit, unknown * drawn.rank / (drawn.rank - N)
            found += [float(above / unknown) for above, unknown in sums.T if unknown > NOTHING]
    return sum(found) / len(found) if found else 1.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DrawnRegression:
    """A data set in the eigenvectors of K: r of them, P patterns, C coordinates seen, F fresh samples."""

    values: FloatArray  # (r,)
    targets: FloatArray  # (r, C)
    fresh: FloatArray  # (F, C)
    share: FloatArray  # (F,): what each fresh sample counts for
    own: FloatArray  # (F,): k(x, x)
    near: FloatArray  # (F, r): q, of the whole kernel
    even: FloatArray | None  # (F, r): of its even part, where the odd one is linear; then
    straight: FloatArray  # (C, r): what is predicted of each coordinate
    seen: FloatArray  # (C,): the coordinates, and
    counts: FloatArray  # in how many samples each is
    variances: FloatArray  # (C,)
    unseen: float

    @property
    def rank(self) -> int:
        return int(self.values.size)

    def ridge(self, N: float) -> float:
        def resolved(log_ridge: float) -> tuple[float, float]:
            share = self.values / (self.values + math.exp(log_ridge))
            return float(share.sum()), float(np.sum(share * (share - 1.0)))

        return math.exp(solve_decreasing(resolved, N, math.log(float(np.median(self.values)))))

    def weights(self, ridge: float) -> FloatArray:
        return np.asarray(self.targets / (self.values + ridge)[:, None])

    def error(self, weights: FloatArray) -> float:
        if self.even is None:
            missed = float(self.share @ np.sum((self.near @ weights - self.fresh) ** 2, axis=1))
            return missed / self.share.size + self.unseen
        odd = np.eye(self.variances.size) - self.straight @ weights
        even = float(self.share @ np.sum((self.even @ weights) ** 2, axis=1)) / self.share.size
        return float(self.variances @ np.sum(odd**2, axis=1)) + even + self.unseen

    def loss(self, N: float) -> float:
        ridge = self.ridge(N)
        resolved, weights = self.values / (self.values + ridge), self.weights(ridge)
        squares = self.near**2
        open_ = self.own - squares @ ((2.0 - resolved) / (self.values + ridge))
        left = float(self.share @ open_) / self.share.size
        pull = float(np.sum(self.values[:, None] * weights**2))
        return self.error(weights) + left * pull / (N - float(resolved @ resolved))


def drawn_regression(
    inputs: ActivationInputs, response: Response, D: int, rng: np.random.Generator, most: float = math.inf
) -> DrawnRegression | None:
    """On D drawn samples; None where more than ``most`` of them differ."""
    X, seen, counts = draw_samples(inputs, D, rng)
    _, first, often = np.unique(np.sign(X).astype(np.int8), axis=0, return_index=True, return_counts=True)
    if first.size > most:
        return None
    X, root = X[first], np.sqrt(often.astype(float))
    norms = np.sum(X**2, axis=1)
    values, vectors = np.linalg.eigh(
        root[:, None] * response.kernel(norms[:, None], norms[None, :], X @ X.T) * root
    )
    kept = values > ZERO_EIGENVALUE * values[-1]
    basis = root[:, None] * vectors[:, kept]
    fresh, squares, share = fresh_samples(inputs, seen, rng)
    products, slope = fresh @ X.T, response.slope or 0.0
    curved = response.kernel_of_parts(squares[:, None], norms[None, :], products)
    one = squares[:, None, None]
    return DrawnRegression(
        values=values[kept],
        targets=basis.T @ X,
        fresh=fresh,
        share=share,
        own=response.kernel(one, one, one)[:, 0, 0],
        near=(slope**2 * products + curved) @ basis,
        even=None if response.slope is None else curved @ basis,
        straight=slope**2 * (X.T @ basis),
        seen=seen,
        counts=counts,
        variances=inputs.variances(seen),
        unseen=inputs.unseen_variance(seen),
    )
