"""Naive twins of the curves: every point by itself, with its own sums and its own root."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from sparselaw.theory.surface import predict_points


def curve(inputs, N, D, surface="leading", **settings):
    """The loss of each pair, asked for one by one."""
    pairs = zip(*np.broadcast_arrays(np.atleast_1d(N), np.atleast_1d(D)), strict=True)
    return np.array(
        [predict_points(inputs, [int(n)], int(d), surface=surface, **settings)[0].loss for n, d in pairs]
    )


def sums(weight, p, c, D, k):
    """resolved, partial, lost, noise over every count of every coordinate."""
    n = np.arange(0, D + 1)
    total = np.zeros(4)
    for w, p_j, c_j in zip(weight, p, c, strict=True):
        chance, g = w * binom.pmf(n, D, p_j), n * c_j
        s = p_j * c_j
        for i, value in enumerate((g**2, g * k, s * k**2, s * g)):
            total[i] += np.sum(chance * value / (g + k) ** 2)
    return total


def valley(loss, low, high):
    """The lowest of 2,001 places."""
    x = np.linspace(low, high, 2_001)
    values = loss(x)
    return x[np.argmin(values)], values.min()
