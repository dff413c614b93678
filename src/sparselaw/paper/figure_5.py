"""Figure 5: Linear features, minimum norm, four panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sparselaw.interval import Interval
from sparselaw.paper import panels, settings
from sparselaw.paper.item import Context, Item, Quantity, Result
from sparselaw.paper.precision import loss_ratio
from sparselaw.paper.verdict import Printed
from sparselaw.solvers.settings import MinNorm

FIGURE = panels.FourPanels(
    features="linear",
    solver=MinNorm(),
    N=settings.CLOSED_FORM_N,
    D=settings.CLOSED_FORM_D,
    width=settings.CLOSED_FORM_WIDTH,
    seeds=settings.CLOSED_FORM_SEEDS,
    last=settings.CLOSED_FORM_LAST,
    n_test=settings.N_TEST,
    joint=Printed(value=2.0, rounding=0.05),
    alone=Printed(value=1.11, rounding=0.005),
    ratio=Printed(value=1.80, rounding=0.005),
)


def make(context: Context) -> Result:
    result = panels.make(context, FIGURE)
    return replace(result, quantities=[*result.quantities, _in_tf32(context, result)])


def _in_tf32(context: Context, result: Result) -> Quantity:
    """The joint exponent with the dense D-sweep as TF32 features would have given it."""
    sizes = settings.sizes(FIGURE.D, "D", context.quick)[-FIGURE.last :]
    seeds = 1 if context.quick else 2
    pairs = [(D, seed) for D in reversed(sizes) for seed in range(seeds)]
    ratios = context.remember(
        "tf32", {"sizes": sizes, "seeds": seeds}, lambda: list(context.map(loss_ratio, pairs))
    )
    factor = {
        D: float(np.mean([r for (size, _), r in zip(pairs, ratios, strict=True) if size == D])) for D in sizes
    }
    joint = result.quantities[0].measured
    assert joint is not None
    # In a joint fit each sweep's slope counts by its sum of squares about the mean of log x.
    spread = {"N": _spread(settings.sizes(FIGURE.N, "N", context.quick)), "D": _spread(sizes)}
    x = np.log(sizes)
    moved = -float(
        (x - x.mean()) @ np.log([factor[D] for D in sizes])
    )  # of the dense D-sweep, times its spread
    shift = moved / (2.0 * spread["N"] + spread["D"])
    printed = result.quantities[0].printed
    return Quantity(
        quantity="joint exponent with TF32 features, as the paper computes them",
        printed=printed,
        measured=Interval(joint.low + shift, joint.best + shift, joint.high + shift),
        theory=None,
        why=(
            f"TF32 multiplies the dense loss by {factor[sizes[0]]:.2f} at D = {sizes[0]:,} and by "
            f"{factor[sizes[-1]]:.2f} at D = {sizes[-1]:,}, which moves the joint exponent by {shift:+.2f}"
        ),
    )


def _spread(sizes: Sequence[int]) -> float:
    x = np.log(sizes[-FIGURE.last :])
    return float(np.sum((x - x.mean()) ** 2))


ITEM = Item(name="figure-5", title="Linear features, minimum norm", make=make)
