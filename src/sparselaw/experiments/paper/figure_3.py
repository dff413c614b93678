"""Figure 3 (fig:compute-scaling): loss against compute for many N.

With the predicted frontier, the fitted one, and that of the surface.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from sparselaw.arrays import FloatArray
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.item import Context, Item, Printed, Quantity, Result, Row
from sparselaw.experiments.paper.losses import Measured, SweepSpec, measure
from sparselaw.fitting import Sweep, fit_power
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval, student_interval
from sparselaw.planning import frontier_curve
from sparselaw.plotting.style import COLOURS, THEORY, sequence
from sparselaw.solvers import MinNorm
from sparselaw.theory import frontier

MODELS = (16, 24, 32, 48, 64, 96, 128, 192, 256)
RATIOS = np.geomspace(0.1, 2.6, 27)  # of D^(1/(alpha1+1)) to N
SEEDS = 12
TAIL = 6  # curves of the largest N, from which exponent and constant are read
INPUTS = SparseInputs(alpha1=grids.ALPHA1, alpha2=grids.ALPHA2)


def make(context: Context) -> Result:
    models = [N for N in MODELS if not context.quick or N <= grids.QUICK_LARGEST["N"]]
    curves = measure(context, [_spec(N, grids.seeds(SEEDS, context.quick)) for N in models])
    optimum = frontier(INPUTS)
    exponent, constant, envelope = _envelope(curves)
    best = frontier_curve(INPUTS, envelope[0][-TAIL:])
    at_these = float(np.mean(best.loss * best.budget**optimum.alpha_C))
    quantities = [
        Quantity(
            quantity="alpha_C, from the lower envelope",
            printed=Printed(value=INPUTS.exponents.alpha_C, rounding=5e-4),
            measured=exponent,
            theory=optimum.alpha_C,
            why="the paper's value is its formula; it draws the line and fits none",
        ),
        Quantity(
            quantity="loss* C^alpha_C on the envelope",
            printed=None,
            measured=constant,
            theory=at_these,
            why=(
                f"for large budgets the surface has {optimum.best.constant:.2f}; "
                f"its optimum is on the side {optimum.best.side} at xi = {optimum.best.xi:.2f}; "
                f"the other side's best costs {optimum.other.constant:.2f} C^-{optimum.alpha_C:.3f}"
            ),
        ),
    ]
    rows: list[Row] = [{**row, "C": _compute(row["N"], row["D"])} for curve in curves for row in curve.rows()]
    return Result(
        quantities=quantities,
        rows=rows,
        caption=(
            f"Median loss against C = N D min(N, D), one curve for each N; {curves[0].spec.seeds} seeds. "
            "Dashed: the best of the surface at each budget, not fitted. Dotted: through the lowest points."
        ),
        draw=lambda figure: _draw(figure, curves, envelope),
        size=(7.0, 5.0),
    )


def _spec(N: int, seeds: int) -> SweepSpec:
    sizes = sorted({round((xi * N) ** (grids.ALPHA1 + 1.0)) for xi in RATIOS})
    return SweepSpec(
        inputs=INPUTS, variable="D", sizes=sizes, fixed=N, features="linear", solver=MinNorm(), seeds=seeds
    )


def _compute(N: int, D: float) -> float:
    return float(N * D * min(N, D))


def _envelope(curves: list[Measured]) -> tuple[Interval, Interval, tuple[FloatArray, FloatArray]]:
    """The lowest loss C^alpha_C of every curve: its exponent, its constant, and the points."""
    alpha_C = INPUTS.exponents.alpha_C
    places, losses = [], []
    for curve in curves:
        C = np.array([_compute(curve.spec.fixed, D) for D in curve.x])
        i = int(np.argmin(curve.median * C**alpha_C))
        places.append(C[i])
        losses.append(curve.median[i])
    C, loss = np.array(places), np.array(losses)
    scaled = loss * C**alpha_C
    fit = fit_power({"envelope": Sweep(x=C, loss=loss)}, last=TAIL)
    tail = scaled[-TAIL:]
    return fit.exponent, student_interval(tail.tolist()), (C, loss)


def _draw(figure: Figure, curves: list[Measured], envelope: tuple[FloatArray, FloatArray]) -> None:
    ax = figure.subplots()
    for colour, curve in zip(sequence(len(curves)), curves, strict=True):
        C = [_compute(curve.spec.fixed, D) for D in curve.x]
        ax.loglog(
            C,
            curve.median,
            "-o",
            color=colour,
            markersize=2.5,
            linewidth=0.8,
            label=f"N = {curve.spec.fixed}",
        )
    limit = frontier(INPUTS)
    budgets = np.geomspace(envelope[0][0] / 10, envelope[0][-1] * 30, 50)
    label = rf"surface, to {limit.best.constant:.2f} $C^{{-{limit.alpha_C:.3f}}}$"
    ax.loglog(budgets, frontier_curve(INPUTS, budgets).loss, "--", color=THEORY, label=label)
    fit = fit_power({"envelope": Sweep(x=envelope[0], loss=envelope[1])}, last=TAIL)
    label = rf"lowest points: slope {fit.exponent.best:.3f}"
    ax.loglog(budgets, fit.A["envelope"] * budgets**-fit.exponent.best, ":", color=COLOURS[1], label=label)
    ax.set(xlabel="compute C = N D min(N, D)", ylabel="population loss (median)")
    ax.legend(ncols=2)


ITEM = Item(name="figure-3", title="Loss against compute", make=make)
