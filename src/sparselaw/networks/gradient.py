"""Training loss and gradient of a network over the nonzeros of its samples, compiled.

One distinct sample at a time: what it holds stays in the cache. The first layer adds the rows of its few
nonzeros; the others are small. Backwards the same way, from the loss's own gradient

    dL/dout = 2 q_p (out - y) / m   (mean square error),     q_p (softmax(out) - y)   (cross-entropy),

q_p the share of sample p. Units that are cut off have no gradient and are passed over.
"""

from __future__ import annotations

import numpy as np

from sparselaw.compiled import njit

SUMS = {"reassoc", "contract"}  # sums may be taken in any order; infinities stay what they are


@njit(error_model="numpy")
def loss_and_gradient(  # type: ignore[no-untyped-def]
    indptr, column, value, weight, targets, first, hidden, last, relu, classes, frozen,
    g_first, g_hidden, g_last,
):  # fmt: skip
    """The loss; the gradients are written to the last three arguments. A frozen first layer has none."""
    N, m, layers = first.shape[1], last.shape[0], hidden.shape[0]
    act, delta = np.zeros((layers + 1, N)), np.zeros((layers + 1, N))
    out, residual = np.zeros(m), np.zeros(m)
    g_first[:] = 0.0
    g_hidden[:] = 0.0
    g_last[:] = 0.0
    loss = 0.0
    for p in range(weight.size):
        act[0] = 0.0
        for k in range(indptr[p], indptr[p + 1]):
            _add(value[k], first[column[k]], act[0])
        if relu:
            _cut(act[0])
        for layer in range(layers):
            _forward(hidden[layer], act[layer], act[layer + 1])
            if relu:
                _cut(act[layer + 1])
        _forward(last, act[layers], out)
        q = weight[p]
        loss += (
            _cross_entropy(out, targets[p], q, residual) if classes else _square(out, targets[p], q, residual)
        )
        delta[:] = 0.0
        _backward(last, residual, act[layers], g_last, delta[layers], relu)
        for layer in range(layers - 1, -1, -1):
            _backward(hidden[layer], delta[layer + 1], act[layer], g_hidden[layer], delta[layer], relu)
        if not frozen:
            for k in range(indptr[p], indptr[p + 1]):
                _add(value[k], delta[0], g_first[column[k]])
    return loss


@njit(error_model="numpy")
def _add(scale, source, place):  # type: ignore[no-untyped-def]
    for i in range(place.size):
        place[i] += scale * source[i]


@njit(error_model="numpy")
def _cut(row):  # type: ignore[no-untyped-def]
    for i in range(row.size):
        row[i] = max(row[i], 0.0)


@njit(error_model="numpy", fastmath=SUMS)
def _forward(weights, act, out):  # type: ignore[no-untyped-def]
    for o in range(out.size):
        total = 0.0
        for i in range(act.size):
            total += weights[o, i] * act[i]
        out[o] = total


@njit(error_model="numpy")
def _backward(weights, above, act, gradient, below, relu):  # type: ignore[no-untyped-def]
    for o in range(above.size):
        if above[o] != 0.0:
            _add(above[o], act, gradient[o])
            _add(above[o], weights[o], below)
    if relu:
        for i in range(act.size):
            below[i] = below[i] if act[i] > 0.0 else 0.0


@njit(error_model="numpy")
def _square(out, target, q, residual):  # type: ignore[no-untyped-def]
    loss = 0.0
    for o in range(out.size):
        error = out[o] - target[o]
        loss += error * error
        residual[o] = 2.0 * q * error / out.size
    return q * loss / out.size


@njit(error_model="numpy")
def _cross_entropy(out, target, q, residual):  # type: ignore[no-untyped-def]
    largest = out[0]
    for o in range(1, out.size):
        largest = max(largest, out[o])
    total = 0.0
    for o in range(out.size):
        total += np.exp(out[o] - largest)
    log_total = largest + np.log(total)
    loss = 0.0
    for o in range(out.size):
        loss += target[o] * (log_total - out[o])
        residual[o] = q * (np.exp(out[o] - log_total) - target[o])
    return q * loss
