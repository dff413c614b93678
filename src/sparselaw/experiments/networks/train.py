"""A network trained by full-batch descent on the nonzeros of its samples, all steps in one compiled loop."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit
from sparselaw.experiments.networks.network import DECAY_MEAN, DECAY_SQUARE, EPSILON, Network, NetworkDescent


@dataclass(frozen=True, slots=True)
class Lesson:
    """The distinct samples as sparse rows, each with its share of the D samples and its target.

    With ``classes`` the targets are probabilities of answers and the loss is the cross-entropy; else it is
    the mean square error of an output.
    """

    samples: sparse.csr_array  # (P, K)
    weight: FloatArray  # (P,) sums to one
    targets: FloatArray  # (P, m)
    classes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Layer by layer. ``first`` has a row for each coordinate, the others one for each unit they lead to."""

    first: FloatArray  # (K, N)
    hidden: FloatArray  # (depth - 2, N, N)
    last: FloatArray  # (m, N)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    weights: Weights
    losses: FloatArray  # (steps + 1,) training loss before each step and after the last
    gradient: float  # |last gradient| / |first gradient|


def draw_weights(
    network: Network, descent: NetworkDescent, coordinates: int, outputs: int, rng: np.random.Generator
) -> Weights:
    """Normal entries: the first and the last layer small (``descent.start``), the others keep the size of
    what comes in. A frozen first layer has a readout that starts at zero, as random features have."""
    N = network.width
    gain = 1.0 if network.is_linear else math.sqrt(2.0)
    first = rng.standard_normal((coordinates, N)) * (descent.start / math.sqrt(N))
    hidden = rng.standard_normal((network.depth - 2, N, N)) * (gain / math.sqrt(N))
    last = rng.standard_normal((outputs, N)) * (0.0 if network.frozen else descent.start / math.sqrt(N))
    return Weights(first=first, hidden=hidden, last=last)


def train(network: Network, descent: NetworkDescent, lesson: Lesson, start: Weights) -> Trained:
    """``descent.steps`` steps from ``start``, which stays as it is."""
    theta, first, hidden, last = _flat(start)
    gradient, g_first, g_hidden, g_last = _flat(start)
    samples, losses = lesson.samples, np.zeros(descent.steps + 1)
    ratio = _descend(
        samples.indptr.astype(np.int64), samples.indices.astype(np.int64), samples.data, lesson.weight,
        np.ascontiguousarray(lesson.targets), first, hidden, last, not network.is_linear, lesson.classes,
        network.frozen, g_first, g_hidden, g_last, theta, gradient, descent.rate, descent.warm_up,
        descent.adaptive, losses,
    )  # fmt: skip
    return Trained(weights=Weights(first=first, hidden=hidden, last=last), losses=losses, gradient=ratio)


def _flat(weights: Weights) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """A copy of all weights in one vector, and the layers as views of it."""
    layers = (weights.first, weights.hidden, weights.last)
    theta = np.concatenate([layer.ravel() for layer in layers])
    ends = np.cumsum([layer.size for layer in layers])
    first, hidden, last = (
        part.reshape(layer.shape) for part, layer in zip(np.split(theta, ends[:-1]), layers, strict=True)
    )
    return theta, first, hidden, last


@njit(error_model="numpy")
def _descend(  # type: ignore[no-untyped-def]
    indptr, column, value, weight, targets, first, hidden, last, relu, classes, frozen,
    g_first, g_hidden, g_last, theta, gradient, rate, warm_up, adaptive, losses,
):  # fmt: skip
    """Adam: m and v are running means of the gradient and its square, corrected for their start at zero.

    Without v, where it is not adaptive, it is momentum.
    """
    steps = losses.size - 1
    skipped = first.size if frozen else 0
    mean, square = np.zeros(theta.size), np.zeros(theta.size)
    norm, first_norm = 0.0, 0.0
    for t in range(steps + 1):
        losses[t] = loss_and_gradient(
            indptr, column, value, weight, targets, first, hidden, last, relu, classes, frozen,
            g_first, g_hidden, g_last,
        )  # fmt: skip
        norm = 0.0
        for i in range(skipped, theta.size):
            norm += gradient[i] * gradient[i]
        norm = np.sqrt(norm)
        if t == 0:
            first_norm = norm
        if t == steps or not np.isfinite(norm):
            losses[t + 1 :] = losses[t]
            break
        eta = rate * min(1.0, (t + 1) / warm_up) * 0.5 * (1.0 + np.cos(np.pi * t / steps))
        unbiased = 1.0 / (1.0 - DECAY_SQUARE ** (t + 1))
        eta /= 1.0 - DECAY_MEAN ** (t + 1)
        for i in range(skipped, theta.size):
            g = gradient[i]
            mean[i] = DECAY_MEAN * mean[i] + (1.0 - DECAY_MEAN) * g
            square[i] = DECAY_SQUARE * square[i] + (1.0 - DECAY_SQUARE) * g * g
            size = np.sqrt(square[i] * unbiased) + EPSILON if adaptive else 1.0
            theta[i] -= eta * mean[i] / size
    return norm / first_norm if first_norm > 0.0 else 0.0


# Training loss and gradient of a network over the nonzeros of its samples, compiled.
#
# One distinct sample at a time: what it holds stays in the cache. The first layer adds the rows of its few
# nonzeros; the others are small. Backwards the same way, from the loss's own gradient
#
#     dL/dout = 2 q_p (out - y) / m   (mean square error),     q_p (softmax(out) - y)   (cross-entropy),
#
# q_p the share of sample p. Units that are cut off have no gradient and are passed over.

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
