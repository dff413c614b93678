"""Figure 4 (fig:MLP): ReLU features trained with Nesterov's method, four panels."""

from __future__ import annotations

from sparselaw.experiments.paper import grids, panels
from sparselaw.experiments.paper.item import Context, Item, Printed, Result
from sparselaw.solvers import Nesterov

FIGURE = panels.FourPanels(
    features="relu",
    solver=Nesterov(),
    grid=grids.NESTEROV,
    joint=Printed(value=1.5, rounding=0.05),
    alone=Printed(value=1.2, rounding=0.05),
    ratio=Printed(value=1.25, rounding=0.005),
)


def make(context: Context) -> Result:
    return panels.make(context, FIGURE)


ITEM = Item(name="figure-4", title="ReLU features trained with Nesterov's method", make=make)
