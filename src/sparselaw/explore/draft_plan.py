"""The theory to plan for while a slider is dragged: one table along the budget curve serves every search.

Beyond the peak, N > K, the loss is a formula. Before it, loss/near changes slowly along the curve, near being
the scaling limit: it is found at a few places, and a polynomial goes through them. What is read off is the
loss over C_D D^-alpha_D as a function of (K - N)/N, which is next to the same for a budget beside this one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import parse_cost
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.planning import Peak, Planned, planned_for
from sparselaw.planning.allocate import log_sizes
from sparselaw.sums.chebyshev import chebyshev_places, interpolate
from sparselaw.theory.count_curve import count_losses_at, endless_losses, rough_losses, seen_along

PLACES = 5  # where the loss is found
MORE_PLACES = 9  # where the end of a finite dimension may be felt
TABLE = 121
DEEPEST = 7.0  # below the peak, in log N: far enough to show the valley
CLOSEST = 0.02
TINY = 1e-300


def draft_planned(inputs: Inputs, budget: float, cost: str | None) -> Planned:
    """The leading surface of the inputs, good enough along this budget and for a budget next to it."""
    planned = planned_for(inputs, "leading")
    if inputs.closed_form != "counts" or inputs.exponents is None:
        return planned
    activations, law = cast(ActivationInputs, inputs), inputs.exponents
    spending = parse_cost(planned.usual_cost if cost is None else cost, planned.conditioning)

    def bought(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.exp(x), np.asarray(spending.data_for(np.exp(x), budget))

    x = log_sizes(spending, budget, TABLE)
    data = bought(x)[1][::-1]  # rising
    known = seen_along(activations, data)
    log_K = _Smooth(np.log(data), np.log(known.mean))
    log_unseen = _Smooth(np.log(data), np.log(np.maximum(known.unseen, TINY)))
    beyond = x - log_K.values[::-1]
    if not beyond[0] < 0.0 < beyond[-1]:
        return planned  # no peak on the curve
    wall = float(np.interp(0.0, beyond, x))
    low, high = max(0.0, wall - DEEPEST), wall - CLOSEST
    if high <= low:
        return planned
    endless = bool(np.isinf(inputs.dimension))

    def log_near(N: FloatArray, D: FloatArray) -> FloatArray:
        return np.log((rough_losses if endless else endless_losses)(activations, N, D))

    def log_limit(D: FloatArray) -> FloatArray:
        return np.asarray(np.log(inputs.data_constant()) - law.alpha_D * np.log(D))

    def log_odds(N: FloatArray, D: FloatArray) -> FloatArray:
        return np.asarray(np.log(np.expm1(log_K.at(np.log(D)) - np.log(N))))

    with np.errstate(all="ignore"):
        places = chebyshev_places(low, high, PLACES if endless else MORE_PLACES)
        bend = np.log(count_losses_at(activations, *bought(places))) - log_near(*bought(places))
        N, D = bought(np.linspace(high, low, TABLE))
        odds = log_odds(N, D)
        height = log_near(N, D) + interpolate(places, bend, np.log(N)) - log_limit(D)
        table = _Smooth(odds, height + odds)  # without its pole
    if not np.isfinite(table.values).all():
        return planned

    def loss(N: Any, D: Any) -> Any:
        N, D = np.broadcast_arrays(np.asarray(N, np.float64), np.asarray(D, np.float64))
        with np.errstate(all="ignore"):
            odds, log_D = log_odds(N, D), np.log(D)
            K, unseen = np.exp(log_K.at(log_D)), np.exp(log_unseen.at(log_D))
            below = np.exp(log_limit(D) + table.at(odds) - odds)
            return np.where(N < K, below, np.where(unseen > 2.0 * TINY, unseen * N / (N - K), 0.0))

    def threshold(D: float) -> float:
        return float(np.exp(log_K.at(np.log(D))))

    return replace(planned, loss=loss, rough=loss, peak=Peak(threshold=threshold, name="K"))


class _Smooth:
    """A curve through many values at rising places: cubic between them, straight beyond."""

    def __init__(self, places: FloatArray, values: FloatArray) -> None:
        self.places, self.values, self._slopes = places, values, np.gradient(values, places)

    def at(self, x: FloatArray) -> FloatArray:
        inside = np.clip(x, self.places[0], self.places[-1])
        i = np.clip(np.searchsorted(self.places, inside) - 1, 0, self.places.size - 2)
        width = self.places[i + 1] - self.places[i]
        t = (inside - self.places[i]) / width
        first, last, rise = (
            self._slopes[i] * width,
            self._slopes[i + 1] * width,
            self.values[i + 1] - self.values[i],
        )
        bend = t * (1.0 - t) * ((first - rise) * (1.0 - t) + (rise - last) * t)
        beyond = np.where(x < inside, self._slopes[0], self._slopes[-1]) * (x - inside)
        return np.asarray(self.values[i] + t * rise + bend + beyond)
