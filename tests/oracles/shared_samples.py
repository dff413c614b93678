"""Naive twins of the cavity closure: a population of messages drawn at random, and drawn data."""

from __future__ import annotations

import numpy as np


def population_sum(p, c, D, k, *, size, rounds, seed):
    """S(k) = D (1 - k E R) by population dynamics: ``size`` samples with their coordinates drawn afresh.

    Each round draws, for every sample, its active coordinates, and for each of these the R of its other
    Binomial(D-1, p) samples from the last population.
    """
    rng = np.random.default_rng(seed)
    parts = np.zeros((p.size, size))  # c r of each coordinate in each sample
    found = []
    for turn in range(rounds):
        Y, fresh = parts.sum(axis=0), np.zeros_like(parts)
        for j in range(p.size):
            active = np.flatnonzero(rng.random(size) < p[j])
            others = rng.binomial(D - 1, p[j], active.size)
            R = 1.0 / (k + Y - parts[j])  # of samples in which j is active as well, without it
            drawn = R[rng.integers(0, size, int(others.sum()))]
            owner = np.repeat(np.arange(active.size), others)
            fresh[j, active] = c[j] / (1.0 + c[j] * np.bincount(owner, drawn, minlength=active.size))
        parts = fresh
        if turn >= rounds // 3:
            found.append(D * (1.0 - np.mean(k / (k + parts.sum(axis=0)))))
    return np.array(found)


def drawn_spectra(p, c, D, seeds, seed):
    """Eigenvalues of G = X X^T and tr Sigma in their directions, for drawn data."""
    rng = np.random.default_rng(seed)
    spectra = []
    for _ in range(seeds):
        active = rng.random((p.size, D)) < p[:, None]
        X = active * rng.choice([-1.0, 1.0], size=active.shape) * np.sqrt(c)[:, None]
        g, u = np.linalg.eigh(X @ X.T)
        spectra.append((np.maximum(g, 0.0), (u**2).T @ (p * c)))
    return spectra


def covariance_over_counts(p, D, held, other, a, b):
    """Cov over n ~ Binomial(D, p) of sum_v a (1 - (1-held)^n) with the same of b and other: by pairs of v."""
    total = 0.0
    for v in range(held.size):
        for w in range(other.size):
            both = (1.0 - p * (held[v] + other[w] - held[v] * other[w])) ** D
            total += a[v] * b[w] * (both - ((1.0 - p * held[v]) * (1.0 - p * other[w])) ** D)
    return total
