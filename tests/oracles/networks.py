"""Networks the plain way: dense matrices, whole batches, numpy's own products; test sets drawn in full."""

from __future__ import annotations

import numpy as np


def forward(X, layers, relu):
    """The outputs and what every layer passed on, first the inputs themselves."""
    passed = [X]
    for W in layers[:-1]:
        z = passed[-1] @ W
        passed.append(np.where(z > 0.0, z, 0.0) if relu else z)
    return passed[-1] @ layers[-1], passed


def loss(X, weight, Y, layers, relu, classes):
    out, _ = forward(X, layers, relu)
    if classes:
        log_p = out - np.log(np.exp(out).sum(axis=1, keepdims=True))
        return -float(np.sum(weight[:, None] * Y * log_p))
    return float(np.sum(weight[:, None] * (out - Y) ** 2)) / Y.shape[1]


def gradients(X, weight, Y, layers, relu, classes):
    out, passed = forward(X, layers, relu)
    if classes:
        p = np.exp(out) / np.exp(out).sum(axis=1, keepdims=True)
        back = weight[:, None] * (p - Y)
    else:
        back = 2.0 * weight[:, None] * (out - Y) / Y.shape[1]
    found = []
    for place in range(len(layers) - 1, -1, -1):
        found.append(passed[place].T @ back)
        back = back @ layers[place].T
        if relu and place > 0:
            back = back * (passed[place] > 0.0)
    return found[::-1]


def adam(X, weight, Y, layers, relu, classes, frozen, steps, rate, warm_up):
    """All weights after ``steps`` steps of full-batch Adam."""
    layers = [W.copy() for W in layers]
    m, v = [np.zeros_like(W) for W in layers], [np.zeros_like(W) for W in layers]
    for t in range(1, steps + 1):
        eta = rate * min(1.0, t / warm_up) * (1.0 + np.cos(np.pi * (t - 1) / steps)) / 2.0
        for place, g in enumerate(gradients(X, weight, Y, layers, relu, classes)):
            if frozen and place == 0:
                continue
            m[place] = 0.9 * m[place] + 0.1 * g
            v[place] = 0.99 * v[place] + 0.01 * g**2
            m_hat, v_hat = m[place] / (1.0 - 0.9**t), v[place] / (1.0 - 0.99**t)
            layers[place] = layers[place] - eta * m_hat / (np.sqrt(v_hat) + 1e-10)
    return layers


def test_inputs(p, amplitude, count, rng):
    """Dense rows: coordinate j is +-amplitude_j with probability p_j."""
    active = rng.random((count, p.size)) < p
    return np.where(active, np.where(rng.random((count, p.size)) < 0.5, -1.0, 1.0), 0.0) * amplitude


test_inputs.__test__ = False
