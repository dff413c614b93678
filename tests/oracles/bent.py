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


def joined_square(inputs, j, t, part_mean):
    """sum over samples y of P(y) (E u_j f(u y) sqrt(s_j)/2)^2 given u_1 = t, for the even part f of a ReLU.

    By an integral over u_j, with the rest of u y Gaussian; ``part_mean(m, v)`` is E f of mean m, variance v.
    """
    X, chance = every_pattern(inputs)
    points = np.linspace(-9.0, 9.0, 1201)
    weights = np.exp(-0.5 * points**2)
    weights /= weights.sum()
    s = float(inputs.variances(np.array([float(j)]))[0])
    total = 0.0
    for y, P in zip(X.T, chance, strict=True):
        if P == 0.0:
            continue
        rest = float(np.sum(y[1:] ** 2)) - (y[j - 1] ** 2 if j > 1 else 0.0)
        u = np.full(1, t) if j == 1 else points
        w = np.ones(1) if j == 1 else weights
        means = t * y[0] + (u * y[j - 1] if j > 1 else np.zeros(1))
        total += P * (0.5 * math.sqrt(s) * float(w @ (u * [part_mean(m, rest) for m in means]))) ** 2
    return total


def loss_of_signs(table, N, uneven):
    """The loss without the term of order 1/N where signs of u_1 sum to N ``uneven`` of each type.

    Every sector of one coordinate is a matrix with the coordinate first; each type comes with both signs, as
    two types of half its share.
    """
    w = table.types.weights.ravel()
    shares = np.concatenate([0.5 * (w + uneven), 0.5 * (w - uneven)])
    sectors = []
    for group in table.groups:
        for c, alike in enumerate(group.alike):
            K, own = group.kernel[c, :, :, :, 0], group.straight[c]
            if own.any():
                n = len(K)
                both = np.zeros((n + 1, n + 1, w.size, 2))
                both[0, 0], both[1:, 1:] = own[:, None], K[..., None]
                both[0, 1:] = both[1:, 0] = group.along[c][..., None] * np.array([1.0, -1.0])
                s = 4.0 * float(own @ w)
                sectors.append((alike, s, np.concatenate([both[..., 0], both[..., 1]], axis=2)))
            else:
                sectors.append((alike, 0.0, np.concatenate([K, K], axis=2)))
    tau = np.full(shares.size, N * table.cutoff)
    for _ in range(3000):
        found = np.zeros_like(tau)
        for alike, _, K in sectors:
            r = np.linalg.inv(np.eye(len(K)) + K @ (N * shares / tau))
            found += alike * np.einsum("ij,jit->t", r, K)
        if np.abs(np.log(found / tau)).max() < 1e-13:
            break
        tau = np.sqrt(tau * found)
    return sum(
        alike * s * np.linalg.inv(np.eye(len(K)) + K @ (N * shares / tau))[0, 0]
        for alike, s, K in sectors
        if s
    )


def joint_root(drawn):
    """A root of the kernel on the eigenvectors of a data set and what fresh samples have beyond them.

    Fresh samples are looked at one by one, so what they have beyond needs no joint law.
    """
    along = drawn.near / np.sqrt(drawn.values)
    return along, np.sqrt(np.maximum(drawn.own - np.sum(along**2, axis=1), 0.0))


def gaussian_features_loss(drawn, joint, N, rng):
    """The loss of N Gaussian features drawn on a data set, on its fresh samples."""
    along, beyond = joint
    U = rng.standard_normal((drawn.rank, N))
    theta = np.linalg.lstsq(np.sqrt(drawn.values)[:, None] * U, drawn.targets, rcond=None)[0]
    features = along @ U + beyond[:, None] * rng.standard_normal((len(along), N))
    missed = np.sum((features @ theta - drawn.fresh) ** 2, axis=1)
    return float(drawn.share @ missed) / drawn.share.size + drawn.unseen
