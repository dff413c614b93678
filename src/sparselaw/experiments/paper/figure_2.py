"""Figure 2 (fig:scaling-collapse): collapse and double descent, with the closed-form S(xi) through it."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.item import Context, Item, Printed, Quantity, Result, Row
from sparselaw.experiments.paper.losses import Measured, SweepSpec, measure
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval, median_interval
from sparselaw.plotting import scaling_curve
from sparselaw.plotting.style import sequence
from sparselaw.solvers import MinNorm
from sparselaw.theory import predict, rescaled_ratio, scaling_function

# The paper says "a wide range of (N, D)"; these cover xi from 0.05 to 30.
MODELS = (16, 32, 64, 128, 256)
FINE = np.geomspace(0.47, 0.68, 12)  # around the peak
RATIOS = np.unique(np.concatenate([np.geomspace(0.06, 20.0, 25), FINE]))
SEEDS = 12
INPUTS = SparseInputs(alpha1=grids.ALPHA1, alpha2=grids.ALPHA2)  # infinitely many coordinates
LARGEST_D = 500_000


def make(context: Context) -> Result:
    models = [N for N in MODELS if not context.quick or N <= grids.QUICK_LARGEST["N"]]
    specs = [_spec(N, grids.seeds(SEEDS, context.quick)) for N in models]
    curves = measure(context, specs)
    points = [point for found in context.map(_points, curves) for point in found]
    peak = _peak(curves)
    score = _score(points)
    quantities = [
        Quantity(
            quantity="place of the peak, xi",
            printed=Printed(value=INPUTS.exponents.xi_crit, rounding=5e-4),
            measured=peak,
            theory=INPUTS.exponents.xi_crit,
            interval="range",
            why="the paper's value is its formula; measured: the largest median on the grid of xi",
        ),
        Quantity(
            quantity="median |loss N^alpha_N / S(xi) - 1| away from the peak",
            printed=None,
            measured=score,
            theory=0.0,
            why="the closed form S(xi) against the measured medians, N >= 64, more than 25 % from the peak",
        ),
    ]
    return Result(
        quantities=quantities,
        rows=points,
        caption=(
            f"Scaling collapse at (alpha1, alpha2) = ({grids.ALPHA1:g}, {grids.ALPHA2:g}): medians of "
            f"{specs[0].seeds} seeds for N = {models[0]} to {models[-1]}; the line is the closed form."
        ),
        draw=lambda figure: _draw(figure, curves),
        size=(7.0, 5.0),
    )


def _spec(N: int, seeds: int) -> SweepSpec:
    D = {round((xi * N) ** (grids.ALPHA1 + 1.0)) for xi in RATIOS}
    return SweepSpec(
        inputs=INPUTS,
        variable="D",
        sizes=sorted(d for d in D if 16 <= d <= LARGEST_D),
        fixed=N,
        features="linear",
        solver=MinNorm(),
        seeds=seeds,
    )


def _points(curve: Measured) -> list[Row]:
    N = curve.spec.fixed
    rows = []
    for D, median, row in zip(curve.spec.sizes, curve.median, curve.rows(), strict=True):
        xi = rescaled_ratio(INPUTS, N, D)
        scaled = float(median) * N**INPUTS.exponents.alpha_N
        closed, point = scaling_function(INPUTS, xi), predict(INPUTS, N=N, D=D)
        surface = point.loss if point.median is None else point.median  # at the peak the mean is infinite
        rows.append({**row, "xi": xi, "scaled_median": scaled, "S": closed, "surface": surface})
    return rows


def _peak(curves: list[Measured]) -> Interval:
    """The xi with the largest median over the largest models; the interval is the spacing of the grid."""
    places = []
    for curve in curves[-3:]:
        xi = np.array([rescaled_ratio(INPUTS, curve.spec.fixed, int(D)) for D in curve.x])
        near = (xi >= FINE[0] * 0.99) & (xi <= FINE[-1] * 1.01)
        places.append(float(xi[near][np.argmax(curve.median[near])]))
    step = float(FINE[1] / FINE[0])
    best = float(np.exp(np.mean(np.log(places))))
    return Interval(min(places) / step, best, max(places) * step)


def _score(points: list[Row]) -> Interval:
    """Median deviation from S with its 95 % interval: cells have seeds of their own."""
    crit = INPUTS.exponents.xi_crit
    off = [
        abs(p["scaled_median"] / p["S"] - 1.0)
        for p in points
        if p["N"] >= 64 and abs(math.log(p["xi"] / crit)) > 0.25 and math.isfinite(p["S"])
    ]
    return median_interval(off)


def _draw(figure: Figure, curves: list[Measured]) -> None:
    ax = figure.subplots()
    scaling_curve(INPUTS, ax=ax)
    for colour, curve in zip(sequence(len(curves)), curves, strict=True):
        N = curve.spec.fixed
        xi = [rescaled_ratio(INPUTS, N, int(D)) for D in curve.x]
        scaled = curve.median * N**INPUTS.exponents.alpha_N
        ax.loglog(xi, scaled, "o", color=colour, label=f"N = {N}", zorder=3)
    ax.set_ylim(1.0, 1e3)
    ax.legend(ncols=2)


ITEM = Item(name="figure-2", title="Scaling collapse and double descent", make=make)
