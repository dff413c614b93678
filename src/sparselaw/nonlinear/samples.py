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
from sparselaw.gram.nodes import coordinate_nodes, log_survival
from sparselaw.inputs import Inputs
from sparselaw.inputs.activations import ActivationInputs
from sparselaw.nonlinear.features_limit import plain_limit
from sparselaw.nonlinear.parity_sectors import coordinate_cells
from sparselaw.nonlinear.response import Response
from sparselaw.nonlinear.table_cache import cached_arrays, identity_of
from sparselaw.progress import progress
from sparselaw.search import solve_decreasing

FRESH = 600  # samples to try a regression on
RARE = 1e-2  # patterns that are seen less often than this on average hardly ever come twice
DATA_SIZES = (320, 1280)  # of the data sets
MOST_RANK = 400.0  # larger data sets are not drawn
SHARES = (0.35, 0.5, 0.65)  # N over the rank
DRAWS = 20
SMALL = 1e-11  # eigenvalues below this share of the largest are zero
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
    p, count = cells.p.tolist(), cells.count.tolist()
    odds = [x / (1.0 - x) / 2.0 for x in p]
    tail = 0.0 if cells.place.size == 0 else _quiet_tail(inputs, float(cells.place[-1]), law.decay)
    quiet = math.exp(sum(n * math.log1p(-x) for n, x in zip(count, p, strict=True)) - tail)
    seen = listed = independent = fixed = 0.0

    def visit(first: int, P: float, ways: float) -> None:
        nonlocal seen, listed, independent, fixed
        found = -math.expm1(D * math.log1p(-P)) if P < 1.0 else 1.0
        seen += ways * found
        listed += ways * P
        independent += ways * found * (1.0 - found)
        fixed += ways * P * (1.0 - found)
        for k in range(first, len(p)):
            if D * P * odds[k] < RARE:
                break
            # One coordinate of a cell: two of them are too rare to matter, or belong to the cells of one.
            visit(k + 1, P * odds[k], ways * count[k] * 2.0)

    visit(0, quiet, 1.0)
    rare = max(1.0 - listed, 0.0)
    variance = independent + D * rare - D * (fixed + rare) ** 2
    return min(seen + D * rare, D), max(variance, 0.0)


def _quiet_tail(inputs: Inputs, last: float, decay: float) -> float:
    """sum of p_j beyond the last cell."""
    if last + 1.0 >= inputs.dimension:
        return 0.0
    end = math.pow(inputs.dimension, 1.0 - decay) if math.isfinite(inputs.dimension) else 0.0
    return (math.pow(last, 1.0 - decay) - end) / (decay - 1.0)


@functools.lru_cache(maxsize=64)
def variance_factor(inputs: ActivationInputs, response: Response) -> float:
    """h of the module: one where so few coordinates are there that all are known.

    It is a mean over drawn samples, kept in the cache since it takes some seconds.
    """
    identity = {
        "variance_factor": identity_of(inputs),
        "drawn": [list(DATA_SIZES), MOST_RANK, list(SHARES), DRAWS, FRESH],
        **response.identity,
    }
    found = cached_arrays(identity, lambda: {"mean": _mean(inputs, response)})
    return float(found["mean"])


def _mean(inputs: ActivationInputs, response: Response) -> float:
    found: list[float] = []
    with progress("fewer features than samples") as show:
        for i, D in enumerate(DATA_SIZES):
            rank = features_rank(inputs, response, float(D))
            limits = {share * rank: plain_limit(inputs, response, share * rank) for share in SHARES}
            if found and rank > MOST_RANK:
                break
            rng = np.random.default_rng([20261117, D])
            rows = []
            for draw in range(DRAWS):
                show(i * DRAWS + draw, len(DATA_SIZES) * DRAWS)
                found_one = drawn_regression(inputs, response, D, rng)
                assert found_one is not None  # of any number of patterns
                rows.append(_above(found_one, limits))
            above, unknown = np.array(rows).sum(axis=0).T
            found += (above / unknown)[(unknown > NOTHING) & np.isfinite(above)].tolist()
    return sum(found) / len(found) if found else 1.0


def _above(drawn: DrawnRegression, limits: dict[float, float | None]) -> list[tuple[float, float]]:
    """For each N the loss above its limit, and what the factor multiplies there."""
    unknown = drawn.error(drawn.weights(0.0))
    rows = []
    for N, limit in limits.items():
        if limit is None or N > 0.95 * drawn.rank:
            rows.append((math.nan, 0.0))
        else:
            rows.append((drawn.loss(N) - limit, unknown * drawn.rank / (drawn.rank - N)))
    return rows


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
    kernel = response.kernel(norms[:, None], norms[None, :], X @ X.T)
    values, vectors = np.linalg.eigh(root[:, None] * kernel * root)
    kept = values > SMALL * values[-1]
    basis = root[:, None] * vectors[:, kept]
    fresh, squares, share = fresh_samples(inputs, seen, rng)
    near = response.kernel(squares[:, None], norms[None, :], fresh @ X.T)
    even = response.even_kernel(squares[:, None], norms[None, :], fresh @ X.T)
    one = squares[:, None, None]
    return DrawnRegression(
        values=values[kept],
        targets=basis.T @ X,
        fresh=fresh,
        share=share,
        own=response.kernel(one, one, one)[:, 0, 0],
        near=near @ basis,
        even=None if response.slope is None else even @ basis,
        straight=(response.slope or 0.0) ** 2 * (X.T @ basis),
        seen=seen,
        counts=counts,
        variances=inputs.variances(seen),
        unseen=inputs.unseen_variance(seen),
    )
