"""The theory of some inputs to plan for: its loss surface at real N and D, with the double-descent peak."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.costs import Conditioning, Cost
from sparselaw.inputs import Inputs
from sparselaw.planning.allocate import Allocation, Peak, allocate
from sparselaw.planning.source import Source
from sparselaw.search import chebyshev_places, interpolate

if TYPE_CHECKING:
    from sparselaw.theory.surface import Surface

THEORY_GRID = 25
PEAK_PLACES = 7  # of log D, between which the peaks of the two surfaces are compared by a polynomial
EXHAUSTED = 0.5  # share of the dimension above which the spectrum's end decides


def theory_source(inputs: Inputs, surface: Surface = "sharp") -> Source:
    """The scan is on the leading surface; so is everything else where that is asked for."""
    from sparselaw.theory.surface import losses_at, peak_of

    name, threshold = peak_of(inputs, surface)

    def loss(N: Any, D: Any) -> Any:
        return losses_at(inputs, N, D, surface=surface)

    def rough(N: Any, D: Any) -> Any:
        """The leading surface with its peak where that of the other stands."""
        log_D = np.log(np.asarray(D, np.float64))
        places = chebyshev_places(float(log_D.min()), float(log_D.max()) + 1e-6, PEAK_PLACES)
        ranks = [inputs.grams(np.exp(places), sharp=sharp).rank for sharp in (False, True)]
        moved = np.exp(interpolate(places, np.log(ranks[0] / ranks[1]), log_D))
        return losses_at(inputs, N * moved, D, surface="leading")

    def warnings(cost: Cost, budget: float, found: Allocation) -> tuple[str, ...]:
        """What the dimension decides; and the theory's own, at the whole sizes nearest to the answer."""
        from sparselaw.predicting import predict
        from sparselaw.theory.surface import leading_cautions

        del cost, budget
        best, said = found.best, []
        if not (best.loss > 0.0 and min(best.N, best.D) < EXHAUSTED * inputs.dimension):
            reached = f"N and D reach the dimension {inputs.dimension:g}"
            said.append(f"{reached}: an artefact of it; raise it for this budget")
        N, D = max(round(best.N), 1), max(round(best.D), 1)
        if surface == "leading":
            return (*said, *leading_cautions(inputs, N, D))
        caution = predict(inputs, N=N, D=D).caution
        return (*said, caution) if caution else tuple(said)

    law = inputs.exponents
    peak = Peak(threshold=threshold, name=name)
    scanned = rough if surface == "sharp" else loss
    return Source(
        loss=loss,
        search=partial(allocate, loss, peak=peak, grid=THEORY_GRID, rough=scanned),
        exponents=None if law is None else (law.alpha_N, law.alpha_D),
        conditioning=Conditioning.of_inputs(inputs),
        intervals="none: the theory is not a measurement",
        exact=True,
        warnings=warnings,
        usual_cost="direct",
        peak=peak,
    )
