"""Figure 5 (fig:minNormLinear): linear features, minimum norm, four panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sparselaw.experiments.paper import grids, panels
from sparselaw.experiments.paper.item import Context, Item, Printed, Quantity, Result
from sparselaw.experiments.paper.precision import loss_ratio
from sparselaw.interval import Interval
from sparselaw.solvers import MinNorm

FIGURE = panels.FourPanels(
    features="linear",
    solver=MinNorm(),
    grid=grids.CLOSED_FORM,
    joint=Printed(value=2.0, rounding=0.05),
    alone=Printed(value=1.11, rounding=0.005),
    ratio=Printed(value=1.80, rounding=0.005),
)


def make(context: Context) -> Result:
    result = panels.make(context, FIGURE)
    return replace(result, quantities=[*result.quantities, _in_tf32(context, result)])


def _in_tf32(context: Context, result: Result) -> Quantity:
    """The joint exponent with the dense D-sweep as TF32 features would have given it."""
    sizes = grids.sizes(FIGURE.grid.D, "D", context.quick)[-FIGURE.grid.last :]
    seeds = 2 if context.quick else 3
    pairs = [(D, seed) for D in reversed(sizes) for seed in range(seeds)]
    ratios = context.remember(
        "tf32",
        {"sizes": sizes, "seeds": seeds},
        lambda: list(context.map(loss_ratio, pairs)),
        lambda kept: np.reshape(kept, (len(sizes), seeds)).astype(float)[::-1],  # (sizes, seeds)
    )
    # In a joint fit each sweep's slope counts by its sum of squares about the mean of log x.
    x = np.log(sizes) - np.mean(np.log(sizes))
    models = grids.sizes(FIGURE.grid.N, "N", context.quick)
    shifts = -(x @ np.log(ratios)) / (2.0 * _spread(models) + _spread(sizes))
    best, range_ = float(shifts.mean()), float(np.ptp(shifts))
    joint = result.quantities[0].measured
    assert joint is not None
    return Quantity(
        quantity="joint exponent with TF32 features, as the paper computes them",
        printed=result.quantities[0].printed,
        measured=Interval(joint.low + best - range_, joint.best + best, joint.high + best + range_),
        interval="95 % and range",
        why=(
            f"TF32 multiplies the dense loss by {ratios[0].mean():.2f} at D = {sizes[0]:,} and by "
            f"{ratios[-1].mean():.2f} at D = {sizes[-1]:,}, which moves the joint exponent by {best:+.2f} "
            f"(range over {seeds} data sets {range_:.2f}, added to the interval)"
        ),
    )


def _spread(sizes: Sequence[int]) -> float:
    x = np.log(sizes[-FIGURE.grid.last :])
    return float(np.sum((x - x.mean()) ** 2))


ITEM = Item(name="figure-5", title="Linear features, minimum norm", make=make)
