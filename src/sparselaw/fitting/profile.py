"""The objective as a function of the exponents, the other parameters at their best for each pair."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.fitting.design import prepare
from sparselaw.fitting.fitted_law import FittedLaw
from sparselaw.fitting.objectives import parse_objective
from sparselaw.laws import two_exponent_laws


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
    kind = type(law.law)
    if kind.exponent_names is None:
        raise InputError("law", law.name, "has one exponent", f"choose {two_exponent_laws()}")
    objective = parse_objective(law.objective, law.delta)
    design = prepare(kind, law.runs)
    places = list(design.exponent_places())
    axes = [_window(law, name, points) for name in kind.exponent_names]
    values = np.empty((points, points))
    best = np.array([law.params[name].best for name in design.names])
    start, weights = design.theta_of(best), np.ones(design.rows)
    for i, first in enumerate(axes[0]):
        for j, second in enumerate(axes[1]):
            best[places] = first, second
            pinned = design.theta_of(best)[places]
            lower, upper = design.lower.copy(), design.upper.copy()
            lower[places], upper[places] = pinned, pinned
            fixed = replace(design, lower=lower, upper=upper)
            values[i, j] = fixed.minimise(start, objective, weights).value
    return ExponentProfile(
        alpha_N=axes[0],
        alpha_D=axes[1],
        values=values * objective.unit,
        lowest=law.value,
        names=kind.exponent_names,
    )


def _window(law: FittedLaw, name: str, points: int) -> FloatArray:
    found = law.params[name]
    low, high = found.low, found.high
    if not np.isfinite(low):
        low, high = 0.8 * found.best, 1.25 * found.best
    room = 0.3 * (high - low)
    return np.linspace(max(low - room, 0.5 * low), high + room, points)
