"""Nonlinear features without shortcuts: every pattern of few coordinates, sums over signs, integrals."""

import itertools
import math
from collections import Counter

import numpy as np
from scipy import integrate

from oracles.nonlinear import every_pattern, gaussian_moments


def whole_kernel(inputs):
    """Samples as columns, their probabilities, and the ReLU's kernel between them, weighted."""
    X, chance = every_pattern(inputs)
    X, chance = X[:, chance > 0.0], chance[chance > 0.0]
    root = np.sqrt(chance)
    return X, chance, root[:, None] * gaussian_moments(X.T @ X) * root


def even_kernel(x, y):
    """(1/4) E|u.x||u.y|."""
    a, b, g = x @ x, y @ y, x @ y
    r = np.clip(g / math.sqrt(a * b), -1.0, 1.0)
    return math.sqrt(a * b) * (math.sqrt(1.0 - r * r) + r * math.asin(r)) / (2.0 * math.pi)


def sector_entry(odd, left, right):
    """2^-m sum over signs of prod_{odd} e k_e for amplitudes given by coordinate, x_1 = 1."""
    shared = sorted(set(odd) | (set(left) & set(right)))
    names = sorted(set(odd) | set(left) | set(right))
    total = 0.0
    for signs in itertools.product((1.0, -1.0), repeat=len(shared)):
        sign = dict(zip(shared, signs, strict=True))
        x = [1.0] + [(odd | left).get(name, 0.0) for name in names]
        y = [1.0] + [(odd | right).get(name, 0.0) * sign.get(name, 1.0) for name in names]
        total += math.prod(sign[name] for name in odd) * even_kernel(np.array(x), np.array(y))
    return total / 2.0 ** len(shared)


def mean_product(m, n, v, w, c):
    """E|X||Y| by an integral over X, with Y given X in closed form."""

    def inner(x):
        mean, var = n + c / v * (x - m), w - c * c / v
        spread = math.sqrt(max(var, 0.0))
        if spread == 0.0:
            size = abs(mean)
        else:
            z = mean / spread
            size = mean * math.erf(z / math.sqrt(2.0)) + spread * math.sqrt(2.0 / math.pi) * math.exp(
                -z * z / 2.0
            )
        density = math.exp(-((x - m) ** 2) / (2.0 * v)) / math.sqrt(2.0 * math.pi * v)
        return abs(x) * size * density

    wide = 9.0 * math.sqrt(v)
    return integrate.quad(inner, m - wide, m + wide, points=[0.0, m], limit=200)[0]


def projection_losses(inputs, N, samples, draws, rng):
    """sum_j s_j times what is left of x_j outside the span of N ReLU features, on many samples."""
    p = inputs.probabilities(np.arange(1.0, inputs.dimension + 1.0))
    signs = np.where(rng.random((samples, p.size)) < 0.5, -1, 1)
    drawn = (rng.random((samples, p.size)) < p) * signs
    rows = Counter(row.tobytes() for row in (drawn * drawn[:, :1]).astype(np.int8))
    patterns = np.array([np.frombuffer(row, dtype=np.int8) for row in rows], dtype=float)
    counts = np.array(list(rows.values()))
    both = np.concatenate([patterns, -patterns])
    X = both.T * inputs.amplitudes(np.arange(1.0, inputs.dimension + 1.0))[:, None]
    root = np.sqrt(np.tile(counts, 2) / (2.0 * samples))
    losses = []
    for _ in range(draws):
        features = np.maximum(rng.standard_normal((N, len(X))) @ X, 0.0) * root
        basis = np.linalg.qr(features.T)[0]
        targets = X * root
        losses.append(np.sum(targets**2) - np.sum((targets @ basis) ** 2))
    return np.array(losses)


def typed_kernel(points, other, types):
    """(1/4) E|u.x||u.y| as a mean over types |u_1|, |u_j|, signs of both and the integral over the rest."""
    kernel = np.zeros((len(points), len(points)))
    for (a, b), weight in np.ndenumerate(types.weights):
        for one, two in itertools.product((1.0, -1.0), repeat=2):
            fixed = np.zeros(points.shape[1])
            fixed[0] = one * types.nodes[0][a]
            if other >= 0:
                fixed[other] = two * types.nodes[1][b]
            free = np.where(fixed == 0.0, points, 0.0)
            for (i, x), (j, y) in itertools.combinations_with_replacement(enumerate(free), 2):
                value = mean_product(points[i] @ fixed, points[j] @ fixed, x @ x, y @ y, x @ y)
                kernel[i, j] += 0.25 * weight * value / 4.0
    return np.triu(kernel) + np.triu(kernel, 1).T
