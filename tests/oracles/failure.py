"""Naive twins of the failure room: dense data, plain sums, full enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np


def plain_spike_probability(alpha1, alpha2, D, threshold, M):
    """1 - prod (1 - p_j)^D over every j with c_j > threshold * D, one by one."""
    total = math.fsum(
        -math.log1p(-(j ** -(alpha1 + 1.0)))
        for j in range(2, M + 1)
        if j ** (-alpha2 - 1.0) > threshold * D * (1.0 + 4e-15)
    )
    return -math.expm1(-D * total)


def dense_data(rng, alpha1, alpha2, D, M):
    """X (M x D) drawn entry by entry."""
    j = np.arange(1, M + 1)[:, None]
    active = rng.random((M, D)) < j ** -(alpha1 + 1.0)
    return active * np.where(rng.random((M, D)) < 0.5, 1.0, -1.0) * j ** (-(alpha2 + 1.0) / 2.0)


def top_eigenvalue(X):
    """lambda_max(X X^T)."""
    small = X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X
    return float(np.linalg.eigvalsh(small)[-1])


def direct_rate(seed, alpha1, alpha2, D, M, threshold, replicates):
    """How many of the dense data sets fail."""
    rng = np.random.default_rng(seed)
    return sum(
        top_eigenvalue(dense_data(rng, alpha1, alpha2, D, M)) > threshold * D * (1.0 + 1e-11)
        for _ in range(replicates)
    )


def two_coordinates(alpha1, alpha2, D, threshold):
    """P(failure) for M = 2, exactly: a sum over how often x_1 x_2 is +, - and 0.

    [[D, a v], [a v, c n]] with v = n+ - n-, n = n+ + n-.
    """
    p, c = 2.0 ** -(alpha1 + 1.0), 2.0 ** (-alpha2 - 1.0)
    logs = []
    for plus in range(D + 1):
        for minus in range(D + 1 - plus):
            n, v = plus + minus, plus - minus
            top = 0.5 * (D + c * n + math.sqrt((D - c * n) ** 2 + 4.0 * c * v * v))
            if top > threshold * D * (1.0 + 1e-11):
                ways = math.lgamma(D + 1) - math.lgamma(plus + 1) - math.lgamma(minus + 1)
                ways -= math.lgamma(D - n + 1)
                logs.append(ways + n * math.log(p / 2.0) + (D - n) * math.log1p(-p))
    return math.fsum(math.exp(x) for x in logs)


def every_data_set(alpha1, alpha2, D, M, threshold):
    """P(failure) by enumerating all signs and activations of coordinates 2..M."""
    j = np.arange(1, M + 1.0)
    p, amplitude = j ** -(alpha1 + 1.0), j ** (-(alpha2 + 1.0) / 2.0)
    total = 0.0
    for values in itertools.product((-1, 0, 1), repeat=(M - 1) * D):
        signs = np.vstack([np.ones(D), np.array(values).reshape(M - 1, D)])
        chance = np.prod(np.where(signs[1:] == 0, 1.0 - p[1:, None], p[1:, None] / 2.0))
        if top_eigenvalue(signs * amplitude[:, None]) > threshold * D * (1.0 + 1e-11):
            total += chance
    return float(total)


def one_sample(alpha1, alpha2, M, threshold):
    """P(|x|^2 > threshold) for D = 1, by enumerating which coordinates are active."""
    j = np.arange(2, M + 1.0)
    p, c = j ** -(alpha1 + 1.0), j ** (-alpha2 - 1.0)
    total = 0.0
    for active in itertools.product((False, True), repeat=M - 1):
        on = np.array(active)
        if 1.0 + c[on].sum() > threshold * (1.0 + 1e-11):
            total += float(np.prod(np.where(on, p, 1.0 - p)))
    return total
