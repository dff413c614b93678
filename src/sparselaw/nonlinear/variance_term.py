"""What D samples leave unknown, and what it costs features that are fewer than the samples tell apart.

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
from sparselaw.inputs.activations import ActivationInputs
from sparselaw.nonlinear.features_limit import plain_limit
from sparselaw.nonlinear.response import Response
from sparselaw.nonlinear.samples import FRESH, draw_samples, features_rank, fresh_samples
from sparselaw.nonlinear.table_cache import cached_arrays
from sparselaw.progress import progress
from sparselaw.search import solve_decreasing

SIZES = (320, 1280)  # of the data sets
MOST_RANK = 400.0  # larger data sets are not drawn
SHARES = (0.35, 0.5, 0.65)  # N over the rank
DRAWS = 20
SMALL = 1e-11  # eigenvalues below this share of the largest are zero
NOTHING = 1e-12  # a loss that is zero but for rounding


@functools.lru_cache(maxsize=64)
def variance_factor(inputs: ActivationInputs, response: Response) -> float:
    """h of the module: one where so few coordinates are there that all are known.

    It is a mean over drawn samples, kept in the cache since it takes some seconds.
    """
    identity = {
        "variance_factor": [inputs.kind, {k: repr(v) for k, v in inputs.parameters().items()}],
        "drawn": [list(SIZES), MOST_RANK, list(SHARES), DRAWS, FRESH],
        **response.identity,
    }
    found = cached_arrays(identity, lambda: {"mean": _mean(inputs, response)})
    return float(found["mean"])


def _mean(inputs: ActivationInputs, response: Response) -> float:
    found: list[float] = []
    with progress("fewer features than samples") as show:
        for i, D in enumerate(SIZES):
            rank = features_rank(inputs, response, float(D))
            limits = {share * rank: plain_limit(inputs, response, share * rank) for share in SHARES}
            if found and rank > MOST_RANK:
                break
            rng = np.random.default_rng([20261117, D])
            rows = []
            for draw in range(DRAWS):
                show(i * DRAWS + draw, len(SIZES) * DRAWS)
                rows.append(_above(drawn_regression(inputs, response, D, rng), limits))
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
    inputs: ActivationInputs, response: Response, D: int, rng: np.random.Generator
) -> DrawnRegression:
    X, seen, _ = draw_samples(inputs, D, rng)
    _, first, often = np.unique(np.sign(X).astype(np.int8), axis=0, return_index=True, return_counts=True)
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
        variances=inputs.variances(seen),
        unseen=inputs.unseen_variance(seen),
    )
