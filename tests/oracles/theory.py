"""Naive twins of the theory: plain sums over coordinates and counts, plain root finding. Slow and obvious."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import comb, zeta
from scipy.stats import binom


def spectrum(alpha1, alpha2, M):
    """p_j, c_j and s_j for j = 1..M."""
    j = np.arange(1, M + 1, dtype=float)
    p, c = j ** -(alpha1 + 1.0), j ** -(alpha2 + 1.0)
    return p, c, p * c


def count_law(D, p):
    """The counts that matter and their binomial probabilities."""
    width = 12.0 * np.sqrt(D * p + 1.0) + 40.0
    n = np.arange(max(0, int(D * p - width)), min(D, int(D * p + width)) + 1)
    return n, binom.pmf(n, D, p)


def sums(alpha1, alpha2, M, D, k):
    """S - P, P, A0 and T / k as ``gram.law.Moments`` has them at log k, term by term."""
    resolved = partial = lost = noise = 0.0
    for p, c, s in zip(*spectrum(alpha1, alpha2, M), strict=True):
        n, weight = count_law(D, p)
        g = n * c
        resolved += np.sum(weight * g**2 / (g + k) ** 2)
        partial += np.sum(weight * g * k / (g + k) ** 2)
        lost += s * np.sum(weight * k**2 / (g + k) ** 2)
        noise += s * np.sum(weight * g / (g + k) ** 2)
    return resolved, partial, lost, noise


def seen(alpha1, M, D):
    p, _, _ = spectrum(alpha1, 0.0, M)
    return np.sum(1.0 - (1.0 - p) ** D)


def seen_of_infinitely_many(alpha1, D, first=200_000):
    """Term by term, then 1 - (1-p)^D = D p - D (D-1)/2 p^2 + ... by Hurwitz's zeta function."""
    p, _, _ = spectrum(alpha1, 0.0, first)
    near = math.fsum(-np.expm1(D * np.log1p(-p[1:]))) + 1.0
    powers = np.arange(1, 9)
    return near - np.sum((-1.0) ** powers * comb(D, powers) * zeta(powers * (alpha1 + 1.0), first + 1.0))


def surface(alpha1, alpha2, M, N, D, ridge=0.0, noise=0.0):
    """The loss formula as it is written: k from the self-consistent equation, then A and B."""

    def mismatch(log_k):
        k = np.exp(log_k)
        resolved, partial, _, _ = sums(alpha1, alpha2, M, D, k)
        return k * (1.0 - (resolved + partial) / N) - ridge

    if ridge == 0.0 and seen(alpha1, M, D) < N:
        k = 1e-9  # the limit; the ridge is of the same size
        resolved, partial, _, _ = sums(alpha1, alpha2, M, D, k)
        ridge = k * (1.0 - (resolved + partial) / N)
    else:
        k = np.exp(brentq(mismatch, -40.0, 20.0, xtol=1e-13))
    B, _, lost, _ = sums(alpha1, alpha2, M, D, k)
    A = lost / k**2
    loss = lost * N / (N - B)
    if noise:
        first = sum(
            s * np.sum(weight / (n * c + k))
            for p, c, s in zip(*spectrum(alpha1, alpha2, M), strict=True)
            for n, weight in [count_law(D, p)]
        )
        loss += noise * (first - ridge * A / (1.0 - B / N))
    return loss


def dense_surface(v, N, D):
    """k m max/(max - m) with sum v/(v+k) = m, for an explicit spectrum."""
    m, larger = min(N, D), max(N, D)
    log_k = brentq(lambda x: np.sum(v / (v + np.exp(x))) - m, -60.0, 20.0, xtol=1e-13)
    return np.exp(log_k) * m * larger / (larger - m)


def draw_sparse(alpha1, alpha2, M, D, rng):
    """The M x D matrix of sparse inputs."""
    p, c, _ = spectrum(alpha1, alpha2, M)
    active = rng.random((M, D)) < p[:, None]
    return np.where(active, rng.choice([-1.0, 1.0], size=(M, D)) * np.sqrt(c)[:, None], 0.0)


def draw_dense(alpha, M, D, rng):
    """The M x D matrix of dense Gaussian inputs."""
    v = np.arange(1, M + 1) ** -(alpha + 1.0)
    return rng.normal(size=(M, D)) * np.sqrt(v)[:, None]


def trained_loss(X, variances, N, rng, ridge=0.0, noise=0.0):
    """Draw u, train on X, and return the population loss averaged over teacher and label noise."""
    M = len(variances)
    u = rng.normal(size=(N, M)) / np.sqrt(N)
    features = u @ X
    if ridge:
        readout = np.linalg.solve(features @ features.T + ridge * np.eye(N), features)
    else:
        readout = np.linalg.pinv(features.T, rcond=1e-10)
    error = np.eye(M) - u.T @ readout @ X.T
    return np.sum(variances[:, None] * error**2) + noise * np.sum(variances[:, None] * (u.T @ readout) ** 2)


def power_of_resolved(p, c, D, k, m, lost=False):
    """E sum f^m, f = n c/(n c + k), or E sum s (1-f)^2 f^m, count by count."""
    total = 0.0
    for probability, amplitude in zip(p, c, strict=True):
        n = np.arange(D + 1.0)
        f = n * amplitude / (n * amplitude + k)
        weight = binom.pmf(n, D, probability)
        total += np.sum(weight * f**m * (probability * amplitude * (1.0 - f) ** 2 if lost else 1.0))
    return total


def finite_width_loss(p, c, D, k, N):
    """The loss with its terms of order 1/N, as the formula is written."""
    B, C, F = (power_of_resolved(p, c, D, k, m) for m in (2, 3, 4))
    A = [power_of_resolved(p, c, D, k, m, lost=True) for m in range(3)]
    v, t, d = N / (N - B), B / (N - B), (B - C) / (N - B) ** 2
    b, e = 2 * (v * C - t * B), 3 * (v * F - t * C)
    T = t * d - (b - e) / (N - B) ** 2 - 2 * (B - C) * b / (N - B) ** 3
    return A[0] * (v + T) + (-2 * t * A[1] + 3 * v * A[2] + A[1] * b / (N - B)) / (N - B) - 2 * v * d * A[1]


def log_cutoff(p, c, D, N):
    """log k with E sum f = N."""
    return brentq(lambda x: power_of_resolved(p, c, D, np.exp(x), 1) - N, -25.0, 15.0, xtol=1e-10)


def loss_of_counts(n, c, s, N):
    """The leading loss of one data set with a diagonal Gram."""
    g = n * c
    k = np.exp(brentq(lambda x: np.sum(g / (g + np.exp(x))) - N, -60.0, 20.0, xtol=1e-12))
    f = g / (g + k)
    return np.sum(s * (1.0 - f) ** 2) * N / (N - np.sum(f**2))


def dense_given_embedding(u, v, D):
    """Exact mean over data and teacher for N < D - 1."""
    N = u.shape[0]
    A = (u * v) @ u.T
    left = v.sum() - np.trace(np.linalg.solve(A, (u * v**2) @ u.T))
    return left * (1.0 + N / (D - N - 1.0))


def embedded(g, s, N, ridge, draws, seed):
    """Loss and label noise of drawn embeddings, entries of variance 1/N, for a diagonal Gram matrix."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        W = rng.standard_normal((N, g.size)) / np.sqrt(N)
        Q = W.T @ np.linalg.solve((W * g) @ W.T + ridge * np.eye(N), W)
        left = np.eye(g.size) - Q * g
        found.append([np.sum(s @ left**2), np.sum(s @ (Q**2 * g))])
    return np.array(found)


def dense_trials(v, N, D, ridge, draws, seed):
    """Loss and what label noise of variance one adds, of drawn dense data and embeddings, entries of 1/N."""
    rng = np.random.default_rng(seed)
    losses, noises = [], []
    for _ in range(draws):
        W = rng.normal(size=(N, v.size)) / np.sqrt(N)
        X = rng.normal(size=(v.size, D)) * np.sqrt(v)[:, None]
        F = W @ X
        if ridge > 0.0:
            H = W.T @ np.linalg.solve(F @ F.T + ridge * np.eye(N), F)
        else:
            H = W.T @ np.linalg.pinv(F.T)
        losses.append(np.sum(v[:, None] * (np.eye(v.size) - H @ X.T) ** 2))
        noises.append(np.sum(v[:, None] * H**2))
    return np.array(losses), np.array(noises)
