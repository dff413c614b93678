"""Figure 6 (fig:minNormReLU): ReLU features, minimum norm, four panels; the readings that were tried."""

from __future__ import annotations

from dataclasses import replace

from sparselaw.experiments.paper import grids, panels
from sparselaw.experiments.paper.item import Context, Item, Result
from sparselaw.experiments.paper.relu_readings import readings
from sparselaw.experiments.paper.verdict import Printed
from sparselaw.solvers import MinNorm

FIGURE = panels.FourPanels(
    features="relu",
    solver=MinNorm(),
    grid=grids.CLOSED_FORM,
    joint=Printed(value=1.25, rounding=0.005),
    alone=Printed(value=1.10, rounding=0.005),
    ratio=Printed(value=1.13, rounding=0.005),
)


def make(context: Context) -> Result:
    result = panels.make(context, FIGURE)
    return replace(result, tables=[readings(context, FIGURE)])


ITEM = Item(name="figure-6", title="ReLU features, minimum norm", make=make)
