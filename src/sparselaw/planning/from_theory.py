"""The theory of some inputs to plan for: its loss surface at real N and D, with the double-descent peak."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.costs import Conditioning, Cost
from sparselaw.inputs import Inputs
from sparselaw.planning.allocate import Allocation, Peak, allocate
from sparselaw.planning.source import Source, no_width

if TYPE_CHECKING:
    from sparselaw.theory import Surface

THEORY_GRID, THEORY_STEPS = 25, 24  # N is good to six digits
EXHAUSTED = 0.5  # share of the dimension above which the spectrum's end decides


def theory_source(inputs: Inputs, surface: Surface = "sharp") -> Source:
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
    peak = Peak(threshold=threshold, name=name)
    search = partial(
        allocate,
        loss,
        peak=peak,
        grid=THEORY_GRID,
        steps=THEORY_STEPS,
        rough=rough if surface == "sharp" else loss,
        costly=surface == "sharp",
    )
    return Source(
        loss=loss,
        search=search,
        exponents=None if law is None else (law.alpha_N, law.alpha_D),
        conditioning=Conditioning.of_inputs(inputs),
        intervals="none: the theory is not a measurement",
        ends=no_width,
        warnings=warnings,
        usual_cost="direct",
        peak=peak,
    )


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
