"""A law for the best runs: residuals above it weigh little, residuals below it much.

Sweeps over learning rates hold bad runs, and only the lower edge of the losses is what a well-tuned run
reaches. The objective is Huber's with weight q = 0.1 for a run above the law and 1 - q for one below: with a
small delta the law runs at the lowest tenth of the runs (quantile regression). Huber's objective is flat at
zero, so its gradient is that of a fit with the weights held fixed; they are set again until no run changes
sides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.bootstrap import stream
from sparselaw.fitting.design import Design
from sparselaw.fitting.misfit import misfit
from sparselaw.fitting.objectives import Objective
from sparselaw.fitting.solve import Minimum, global_minimum

BELOW = 0.1  # the part of the runs that lies below the law
MOST_ROUNDS = 40


def envelope_minimum(design: Design, objective: Objective) -> Minimum:
    """From the fit to all runs downwards."""
    minimum = global_minimum(design, objective)
    theta, value = _downwards(design, objective, minimum.theta, np.ones(design.rows))
    return replace(minimum, theta=theta, value=value * objective.unit, basins=theta[None, :])


def envelope_draws(
    design: Design, objective: Objective, minimum: Minimum, group: IntArray | None, draws: int, seed: int
) -> FloatArray:
    """(draws, p): the same for rows, or whole groups, drawn with replacement."""
    units = np.arange(design.rows) if group is None else group
    count = int(units.max()) + 1
    found = []
    for b in range(draws):
        drawn = np.bincount(stream(seed, 0, b).integers(0, count, count), minlength=count)
        counts = drawn[units].astype(np.float64)
        found.append(_downwards(design, objective, minimum.theta, counts)[0])
    return np.array(found) if found else np.empty((0, minimum.theta.size))


def asymmetric(design: Design, objective: Objective, theta: FloatArray, counts: FloatArray) -> float:
    """The objective itself, in the minimiser's unit."""
    residuals = design.residuals(theta)
    z = (residuals * design.inverse_scale)[None, :]
    return float(misfit(z, counts * _weights(residuals), objective.delta)[0])


def _downwards(
    design: Design, objective: Objective, theta: FloatArray, counts: FloatArray
) -> tuple[FloatArray, float]:
    best, lowest = theta, asymmetric(design, objective, theta, counts)
    for _ in range(MOST_ROUNDS):
        weights = counts * _weights(design.residuals(theta))
        theta = design.minimise_many(theta[None, :], objective, weights=weights[None, :])[0][0]
        value = asymmetric(design, objective, theta, counts)
        if value >= lowest * (1.0 - 1e-9):
            break
        best, lowest = theta, value
    return best, lowest


def _weights(residuals: FloatArray) -> FloatArray:
    return np.where(residuals > 0.0, BELOW, 1.0 - BELOW)
