"""From the two exponents back to the sparsity of the inputs (prop:underparam and thm:over-scaling, inverted).

alpha_N = alpha1 + alpha2 + 1 and alpha_D = alpha_N / (alpha1 + 1) for alpha1 > 0, so

    alpha1 = alpha_N / alpha_D - 1,    alpha2 = alpha_N - alpha1 - 1.

An alpha1 at or below zero is no sparsity of the paper's kind: there both exponents are equal, and a fit with
alpha_N < alpha_D is outside the model.
"""

from __future__ import annotations

from typing import Any

from sparselaw.arrays import FloatArray
from sparselaw.fitting.design import Design
from sparselaw.interval import Interval, drawn_interval


def invert(alpha_N: Any, alpha_D: Any) -> tuple[Any, Any]:
    """(alpha1, alpha2) for numbers or arrays.

    >>> tuple(round(v, 12) for v in invert(2.3, 1.15))
    (1.0, 0.3)
    """
    alpha1 = alpha_N / alpha_D - 1.0
    return alpha1, alpha_N - alpha1 - 1.0


def implied_sparsity(design: Design, best: FloatArray, drawn: FloatArray) -> dict[str, Interval]:
    """From the exponents of a fit, or from alpha1 and alpha2 themselves where the law has them."""
    if design.law.sparsity_names is not None:
        places = [design.names.index(name) for name in design.law.sparsity_names]
        both = zip(("alpha1", "alpha2"), places, strict=True)
        return {name: drawn_interval(float(best[i]), drawn[:, i]) for name, i in both}
    of_N, of_D = design.exponent_places()
    return sparsity_intervals(float(best[of_N]), float(best[of_D]), drawn[:, of_N], drawn[:, of_D])


def sparsity_intervals(
    alpha_N: float, alpha_D: float, draws_N: FloatArray, draws_D: FloatArray
) -> dict[str, Interval]:
    """Both with intervals from the same draws, so that the errors of the exponents stay tied together."""
    best, drawn = invert(alpha_N, alpha_D), invert(draws_N, draws_D)
    return {
        name: drawn_interval(float(b), d)
        for name, b, d in zip(("alpha1", "alpha2"), best, drawn, strict=True)
    }
