"""Figure 1 (fig:phase-diagram): the phase diagram."""

from __future__ import annotations

from matplotlib.figure import Figure

from sparselaw.experiments.paper.item import Context, Item, Result
from sparselaw.inputs.exponents import sparse_exponents
from sparselaw.plotting import phase_diagram


def make(context: Context) -> Result:  # noqa: ARG001
    rows = []
    for i in range(-4, 13):
        for j in range(-16, 9):
            alpha1, alpha2 = i / 4, j / 4
            inside = alpha1 + alpha2 + 1 > 0
            regime = sparse_exponents(alpha1, alpha2).regime if inside else "not defined"
            rows.append({"alpha1": alpha1, "alpha2": alpha2, "regime": regime})
    return Result(
        quantities=(),
        rows=rows,
        caption="Phase diagram. The solid line is the outer boundary alpha1 >= -1, alpha1 + alpha2 + 1 > 0.",
        draw=_draw,
        size=(5.5, 4.5),
    )


def _draw(figure: Figure) -> None:
    phase_diagram(ax=figure.subplots())


ITEM = Item(name="figure-1", title="Phase diagram in (alpha1, alpha2)", make=make)
