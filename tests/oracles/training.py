"""Naive twins of unfinished training: recursions step by step, matrices drawn, sums on uniform grids."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm


def one_pass(s, fourth, step, batch, steps, noise=0.0, last=None):
    """The mean loss on fresh samples, N infinite: exact, since the signs kill all cross moments.

    v_j <- rho_j v_j + (eta^2/b) s_j (L + q), L = sum s v. ``last``: the size of one more batch at the end.
    """
    v = np.ones_like(s)
    for size in [batch] * steps + ([last] if last else []):
        rho = 1.0 - 2.0 * step * s + step**2 * (fourth / size + (1.0 - 2.0 / size) * s**2)
        v = rho * v + step**2 / size * s * (s @ v + noise)
    return float(s @ v)


def flow(g, s, N, tau, rng):
    """(population loss, training loss) of one embedding: the flow e' = -u^T u G e from every unit teacher."""
    u = rng.standard_normal((N, g.size)) / np.sqrt(N)
    left = expm(-tau * (u.T @ u) * g)
    return float(s @ (left**2).sum(axis=1)), float(g @ (left**2).sum(axis=1))


def answer_to_noise(g, s, N, age, rng):
    """tr S e^(-T a) u^T u G u^T u e^(-T^T a) of one embedding, T = u^T u G."""
    u = rng.standard_normal((N, g.size)) / np.sqrt(N)
    W = u.T @ u
    left = expm(-age * W * g)
    return float(s @ np.einsum("ij,ij->i", left @ ((W * g) @ W), left))


def volterra(g, s_chi, k_chi, driven, strength, epoch, time, steps):
    """int K(2a) w(a) R da at the end, N infinite, on a uniform grid of ages (midpoints)."""
    width = time / steps
    ages = width * (np.arange(steps) + 0.5)
    place = np.mod(ages / epoch, 1.0)
    weight = 1.0 - 4.0 * np.minimum(place, 1.0 - place)
    falling = np.exp(-2.0 * np.outer(ages, g))
    of_loss, of_error = (strength * width * weight * (falling @ (x * g)) for x in (s_chi, k_chi))
    error = np.empty(steps + 1)
    for i in range(steps + 1):  # R in the middle of a cell is the mean of its ends
        before = 0.5 * (error[i - 1 :: -1][: i - 1] + error[i - 2 :: -1][: i - 1]) if i > 1 else np.empty(0)
        known = of_error[1:i] @ before if i > 1 else 0.0
        own = 0.5 * of_error[0] if i else 0.0
        error[i] = (driven(i * width) + known + (own * error[i - 1] if i else 0.0)) / (1.0 - own)
    means = 0.5 * (error[1:] + error[:-1])
    return float(of_loss @ means[::-1])


def heavy_ball(curvature, step, momentum, steps):
    """What ``steps`` steps leave of an error of each curvature, one step after the other."""
    before = left = np.ones_like(curvature)
    for _ in range(steps):
        before, left = left, left - step * curvature * left + momentum * (left - before)
    return left


def embedded_heavy_ball(g, s, N, step, momentum, steps, rng):
    """(population loss, sum s of what label noise of variance one, a unit for each root g, has become)."""
    u = rng.standard_normal((N, g.size)) / np.sqrt(N)
    T = (u.T @ u) * g
    before = left = np.eye(g.size)
    for _ in range(steps):
        before, left = left, left - step * T @ left + momentum * (left - before)
    noise = (np.eye(g.size) - left) / np.sqrt(g)
    return float(s @ (left**2).sum(axis=1)), float(s @ (noise**2).sum(axis=1))


def one_pass_with_momentum(s, fourth, step, momentum, batch, steps, noise=0.0):
    """As ``one_pass``: second moments of the error and the one before it, exact for the same reason."""
    now, cross, before = np.ones_like(s), np.ones_like(s), np.ones_like(s)
    ahead = 1.0 + momentum - step * s
    for _ in range(steps):
        shaken = step**2 / batch * ((fourth - 2.0 * s**2) * now + s * (s @ now + noise))
        now, cross, before = (
            ahead**2 * now - 2.0 * ahead * momentum * cross + momentum**2 * before + shaken,
            ahead * now - momentum * cross,
            now,
        )
    return float(s @ now)


def early_loss(modes, tau, N):
    """First terms in tau: sum s - 2 tau sum s g + tau^2 [2 sum s g^2 + (sum s sum g^2 + sum g sum s g)/N]."""
    g, s, w = modes.g, modes.variance, modes.weight
    bend = 2.0 * (s @ g**2) + (s.sum() * (w @ g**2) + (w @ g) * (s @ g)) / N
    return float(s.sum() - 2.0 * tau * (s @ g) + tau**2 * bend)


def best_time(a, D, noise):
    """The best time tau of gradient descent with label noise q, N infinite and few passes: c_a D/q.

    c_a = (1-1/a) 2^-(1-1/a) / (2 - 2^(1/a)); the best number of passes c_a/(eps q) does not depend on D.
    """
    few = 1.0 - 1.0 / a
    return few * 2.0**-few / (2.0 - 2.0 ** (1.0 / a)) * D / noise
