"""The theory of some inputs to plan for: its loss surface at real N and D, with the double-descent peak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.costs import Conditioning, Cost
from sparselaw.inputs import Inputs
from sparselaw.interval import Interval
from sparselaw.planning.allocate import Allocation, Peak
from sparselaw.planning.planned import Ends, Planned

if TYPE_CHECKING:
    from sparselaw.theory import Surface

THEORY_GRID, THEORY_STEPS = 25, 24  # N is good to six digits
EXHAUSTED = 0.5  # share of the dimension above which the spectrum's end decides


def planned_theory(inputs: Inputs, surface: Surface = "sharp") -> Planned:
    """The theory is not a measurement: its intervals have no width."""
    from sparselaw.theory import losses_at, peak_of

    name, threshold = peak_of(inputs, surface)
    _, first_peak = peak_of(inputs, "leading")

    def loss(N: Any, D: Any) -> Any:
        return losses_at(inputs, N, D, surface=surface)

    def rough(N: Any, D: Any) -> Any:
        """The leading surface with its peak where that of the other stands."""
        N, D = np.broadcast_arrays(np.asarray(N, np.float64), np.asarray(D, np.float64))
        moved = [first_peak(float(d)) / threshold(float(d)) for d in D.ravel()]
        return losses_at(inputs, N * np.reshape(moved, D.shape), D, surface="leading")

    def warnings(cost: Cost, budget: float, found: Allocation) -> tuple[str, ...]:
        del cost, budget
        return (*_exhausted(found, inputs), *_caution(found, inputs, surface))

    law = inputs.exponents
    return Planned(
        loss=loss,
        exponents=None if law is None else (law.alpha_N, law.alpha_D),
        conditioning=Conditioning.of_inputs(inputs),
        intervals="none: the theory is not a measurement",
        ends=_no_width,
        warnings=warnings,
        usual_cost="direct",
        peak=Peak(threshold=threshold, name=name),
        grid=THEORY_GRID,
        steps=THEORY_STEPS,
        rough=rough if surface == "sharp" else loss,
        dear=surface == "sharp",
    )


def _no_width(cost: Cost, budget: float, found: Allocation) -> Ends:
    del cost, budget
    N, D, loss = (Interval(value, value, value) for value in (found.best.N, found.best.D, found.best.loss))
    return N, D, loss


def _exhausted(found: Allocation, inputs: Inputs) -> tuple[str, ...]:
    if found.best.loss > 0.0 and min(found.best.N, found.best.D) < EXHAUSTED * inputs.dimension:
        return ()
    return (f"N and D reach the dimension {inputs.dimension:g}: an artefact of it; raise it for this budget",)


def _caution(found: Allocation, inputs: Inputs, surface: Surface) -> tuple[str, ...]:
    """The theory's own, at the whole sizes nearest to the answer."""
    from sparselaw.predicting import predict
    from sparselaw.theory.surface import leading_cautions

    N, D = max(round(found.best.N), 1), max(round(found.best.D), 1)
    if surface == "leading":
        return tuple(leading_cautions(inputs, N, D))
    caution = predict(inputs, N=N, D=D).caution
    return (caution,) if caution else ()
