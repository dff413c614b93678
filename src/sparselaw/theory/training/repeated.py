"""What repeated samples are worth: the fresh ones of one pass that would give the same loss."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sparselaw.inputs import Inputs
from sparselaw.theory.training.schedule import Descent
from sparselaw.theory.training.unfinished import train

PASSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """``epochs``: D samples passed over ``passes`` times are worth ``epochs`` D fresh ones."""

    passes: float
    loss: float
    epochs: float


def loss_of_visits(
    inputs: Inputs, N: float, visits: float, unique: float, descent: Descent, noise: float = 0.0
) -> float:
    """The loss after ``visits`` samples, of which ``unique`` are different: the quasi-static form."""
    D = min(unique, visits)
    return train(inputs, N, D, replace(descent, passes=visits / D), noise, "quasi-static", judged=False).loss


def effective_data(
    inputs: Inputs, N: float, loss: float, descent: Descent, noise: float = 0.0, *, start: float
) -> float:
    """The fresh samples of one pass that give this loss; infinite where no number of them does."""
    low, high = math.log(start) - 3.0, math.log(start) + 3.0

    def above(x: float) -> bool:
        return loss_of_visits(inputs, N, math.exp(x), math.inf, descent, noise) > loss

    while not above(low) and low > 0.0:
        low -= 3.0
    while above(high):
        high += 3.0
        if high > math.log(1e30):
            return math.inf
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if above(middle) else (low, middle)
    return math.exp(0.5 * (low + high))


def worth_of_passes(
    inputs: Inputs,
    N: float,
    D: float,
    descent: Descent,
    noise: float = 0.0,
    passes: tuple[float, ...] = PASSES,
) -> list[Repeated]:
    """Loss and worth after each number of passes over D samples."""
    found, start = [], D
    for many in passes:
        loss = loss_of_visits(inputs, N, many * D, D, descent, noise)
        worth = effective_data(inputs, N, loss, descent, noise, start=start)
        start = worth if math.isfinite(worth) else start
        found.append(Repeated(passes=many, loss=loss, epochs=worth / D))
    return found


def decay_of_worth(found: list[Repeated]) -> float:
    """R of the data-constrained law, epochs = 1 + R (1 - e^(-(P-1)/R)), by least squares in the logarithm."""
    passes = np.array([one.passes for one in found])
    epochs = np.log([one.epochs for one in found])

    def miss(log_R: float) -> float:
        R = math.exp(log_R)
        return float(np.sum((np.log(1.0 - R * np.expm1(-(passes - 1.0) / R)) - epochs) ** 2))

    grid = np.linspace(-3.0, 20.0, 461)
    return float(np.exp(grid[int(np.argmin([miss(x) for x in grid]))]))
