"""Random features of any activation without shortcuts: the whole kernel on every pattern, by integrals."""

import itertools

import numpy as np

from oracles.nonlinear import every_pattern

POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def pair_mean(f, m, n, v, w, c):
    """E f(X) f(Y) by a product of two Gauss rules: X, and Y given X."""
    s = np.sqrt(v)
    x = m + s * POINTS
    y = n + (c / s if s > 0.0 else 0.0) * POINTS
    rest = np.sqrt(max(w - (c * c / v if v > 0.0 else 0.0), 0.0))
    inner = f(y[:, None] + rest * POINTS) @ WEIGHTS
    return float(WEIGHTS @ (f(x) * inner))


def whole_kernel(inputs, f):
    """Samples as columns, their probabilities, and the kernel between them, weighted."""
    X, chance = every_pattern(inputs)
    X, chance = X[:, chance > 0.0], chance[chance > 0.0]
    G = X.T @ X
    kernel = np.zeros_like(G)
    for i, j in itertools.combinations_with_replacement(range(len(G)), 2):
        kernel[i, j] = kernel[j, i] = pair_mean(f, 0.0, 0.0, G[i, i], G[j, j], G[i, j])
    root = np.sqrt(chance)
    return X, chance, root[:, None] * kernel * root


def typed_kernel(inputs, f, types):
    """For each type |u_1|: the kernel of units with that |u_1|, either sign alike."""
    X, chance = every_pattern(inputs)
    X, chance = X[:, chance > 0.0], chance[chance > 0.0]
    rest = X[1:].T @ X[1:]
    root = np.sqrt(chance)
    found = []
    for u in types:
        kernel = np.zeros_like(rest)
        for i in range(len(rest)):
            for j in range(len(rest)):
                for sign in (u, -u):
                    v, w, c = rest[i, i], rest[j, j], rest[i, j]
                    kernel[i, j] += 0.5 * pair_mean(f, sign * X[0, i], sign * X[0, j], v, w, c)
        found.append(root[:, None] * kernel * root)
    return X, chance, found


def projection_losses(inputs, f, N, samples, draws, rng):
    """sum_j s_j times what is left of x_j outside the span of N features of an odd f, on many samples."""
    p = inputs.probabilities(np.arange(1.0, inputs.dimension + 1.0))
    signs = np.where(rng.random((samples, p.size)) < 0.5, -1, 1)
    drawn = (rng.random((samples, p.size)) < p) * signs
    patterns, counts = np.unique(drawn * drawn[:, :1], axis=0, return_counts=True)
    X = patterns.T * inputs.amplitudes(np.arange(1.0, inputs.dimension + 1.0))[:, None]
    root = np.sqrt(counts / samples)
    targets, losses = X * root, []
    for _ in range(draws):
        basis = np.linalg.qr((f(rng.standard_normal((N, len(X))) @ X) * root).T)[0]
        losses.append(np.sum(targets**2) - np.sum((targets @ basis) ** 2))
    return np.array(losses)


def reflected_kernel(points, f, types):
    """E f(u x) f(u y) as a mean over types |u_1|, |u_j|, signs of both and the integral over the rest."""
    kernel = np.zeros((len(points), len(points)))
    for (a, b), weight in np.ndenumerate(types.weights):
        for one, two in itertools.product((1.0, -1.0), repeat=2):
            fixed, known = np.zeros(points.shape[1]), np.zeros(points.shape[1], dtype=bool)
            if types.first:
                fixed[0], known[0] = one * types.nodes[0][a], True
            if types.other:
                fixed[types.other - 1], known[types.other - 1] = two * types.nodes[1][b], True
            free = np.where(known, 0.0, points)
            for i, j in itertools.combinations_with_replacement(range(len(points)), 2):
                x, y = free[i], free[j]
                value = pair_mean(f, points[i] @ fixed, points[j] @ fixed, x @ x, y @ y, x @ y)
                kernel[i, j] += 0.25 * weight * value
    return np.triu(kernel) + np.triu(kernel, 1).T
