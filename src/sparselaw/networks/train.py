"""Trains a network by full-batch descent, all steps in one compiled loop."""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit
from sparselaw.networks.adam import DECAY_MEAN, DECAY_SQUARE, EPSILON
from sparselaw.networks.descent import NetworkDescent
from sparselaw.networks.gradient import loss_and_gradient
from sparselaw.networks.lesson import Lesson, Trained, Weights
from sparselaw.networks.network import Network


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
    losses = np.zeros(descent.steps + 1)
    ratio = _descend(
        lesson.indptr.astype(np.int64), lesson.column.astype(np.int64), lesson.value, lesson.weight,
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
