"""The objective as a function of the exponents, the other parameters at their best for each pair."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.fitting.design import two_size_design
from sparselaw.fitting.kernel import minimise
from sparselaw.fitting.objectives import parse_objective
from sparselaw.fitting.result import FittedLaw


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentProfile:
    """``values[i, j]``: the objective at alpha_N[i], alpha_D[j]; ``lowest`` is the optimum's own."""

    alpha_N: FloatArray
    alpha_D: FloatArray
    values: FloatArray
    lowest: float
    names: tuple[str, str]


def exponent_profile(law: FittedLaw, *, points: int = 41) -> ExponentProfile:
    """Over a window around the optimum, a little wider than the intervals."""
    if law.name == "power":
        raise InputError("law", law.name, "has one exponent", "choose chinchilla or two-power")
    what = parse_objective(law.objective, law.delta)
    design = two_size_design(law.runs, law.name)
    names = law.exponents()
    axes = [_window(law, name, points) for name in names]
    values = np.empty((points, points))
    start = _theta(law, design.centres, design.centre)
    for i, first in enumerate(axes[0]):
        for j, second in enumerate(axes[1]):
            pinned = np.array([first, second])
            lower, upper = design.lower.copy(), design.upper.copy()
            lower[-2:], upper[-2:] = pinned, pinned
            fixed = replace(design, lower=lower, upper=upper)
            theta = np.clip(start, lower, upper)
            values[i, j], _, _ = minimise(
                theta, fixed.x, fixed.intercept, fixed.slope, fixed.sweep, fixed.log_loss,
                fixed.inverse_scale, np.ones(fixed.rows), what.delta, lower, upper,
            )  # fmt: skip
    return ExponentProfile(
        alpha_N=axes[0], alpha_D=axes[1], values=values * what.unit, lowest=law.value, names=names
    )


def _window(law: FittedLaw, name: str, points: int) -> FloatArray:
    found = law.params[name]
    low, high = found.low, found.high
    if not np.isfinite(low):
        low, high = 0.8 * found.best, 1.25 * found.best
    room = 0.3 * (high - low)
    return np.linspace(max(low - room, 0.5 * low), high + room, points)


def _theta(law: FittedLaw, centres: FloatArray, centre: float) -> FloatArray:
    """The law's parameters back on the centred log scale."""
    best = {name: found.best for name, found in law.params.items()}
    names = law.exponents()
    middle = centres[-2:]
    logs = [
        np.log(max(best[c], 1e-300)) - centre - best[e] * m
        for c, e, m in zip(("A", "B"), names, middle, strict=True)
    ]
    floor = [np.log(max(best["E"], 1e-300)) - centre] if law.name == "chinchilla" else []
    return np.array([*floor, *logs, *(best[e] for e in names)])
