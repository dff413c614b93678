"""Figures 1 to 3, of linear features: the phase diagram, the collapse, and the loss against compute."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from sparselaw.arrays import FloatArray
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.grids import Measured, SweepSpec, measure
from sparselaw.experiments.paper.item import Context, Printed, Quantity, Result, Row
from sparselaw.fitting import PowerFit, Sweep, fit_power
from sparselaw.inputs import SparseInputs
from sparselaw.inputs.base import sparse_exponents
from sparselaw.interval import Interval, median_interval, student_interval
from sparselaw.planning import frontier_curve
from sparselaw.plotting import phase_diagram, scaling_curve
from sparselaw.plotting.style import COLOURS, THEORY, finish, legend_above, sequence
from sparselaw.predicting import predict
from sparselaw.theory.scaling_limit import frontier, rescaled_ratio, scaling_function

INPUTS = SparseInputs(alpha1=grids.ALPHA1, alpha2=grids.ALPHA2)  # infinitely many coordinates
SEEDS = 12
LARGEST_D = 500_000


def _curves(context: Context, models: Sequence[int], ratios: FloatArray, smallest: int = 1) -> list[Measured]:
    """A curve in D for each N; the ratios are those of D^(1/(alpha1+1)) to N."""
    specs, seeds = [], grids.seeds(SEEDS, context.quick)
    for N in grids.sizes(models, "N", context.quick):
        D = {round((xi * N) ** (grids.ALPHA1 + 1.0)) for xi in ratios}
        sizes = sorted(size for size in D if smallest <= size <= LARGEST_D)
        specs.append(SweepSpec(INPUTS, "D", sizes, N, seeds))
    return measure(context, specs)


# Figure 1 (fig:phase-diagram).


def phases(_: Context) -> Result:
    """The regimes on a grid."""
    rows: list[Row] = []
    for alpha1, alpha2 in itertools.product(np.arange(-4, 13) / 4, np.arange(-16, 9) / 4):
        inside = alpha1 + alpha2 + 1 > 0
        regime = sparse_exponents(alpha1, alpha2).regime if inside else "not defined"
        rows.append({"alpha1": float(alpha1), "alpha2": float(alpha2), "regime": regime})
    return Result(
        quantities=(),
        rows=rows,
        caption="Phase diagram. The solid line is the outer boundary alpha1 >= -1, alpha1 + alpha2 + 1 > 0.",
        draw=lambda figure: phase_diagram(ax=figure.subplots()),
        size=(5.5, 4.5),
    )


# Figure 2 (fig:scaling-collapse): collapse and double descent, with the closed-form S(xi) through it.

# The paper says "a wide range of (N, D)"; these cover xi from 0.05 to 30.
COLLAPSE_MODELS = (16, 32, 64, 128, 256)
FINE = np.geomspace(0.47, 0.68, 12)  # around the peak
COLLAPSE_RATIOS = np.unique(np.concatenate([np.geomspace(0.06, 20.0, 25), FINE]))


def collapse(context: Context) -> Result:
    """Losses of all sizes on one curve, and where its peak is."""
    curves = _curves(context, COLLAPSE_MODELS, COLLAPSE_RATIOS, smallest=16)
    points = [point for found in context.map(_points, curves) for point in found]
    crit = INPUTS.exponents.xi_crit
    off = [
        abs(p["scaled_median"] / p["S"] - 1.0)
        for p in points
        if p["N"] >= 64 and abs(math.log(p["xi"] / crit)) > 0.25 and math.isfinite(p["S"])
    ]
    where = (
        "the paper's value is its formula; measured: where the median loss is largest, on a grid; the "
        "range is that of the three largest models and a step of the grid either way"
    )
    why = "the closed form S(xi) against the measured medians, N >= 64, more than 25 % from the peak"
    name, printed = "median |loss N^alpha_N / S(xi) - 1| away from the peak", Printed(crit, 5e-4)
    return Result(
        quantities=[
            Quantity("place of the peak, xi", _peak(curves), printed, crit, where, interval="range"),
            Quantity(name, median_interval(off), theory=0.0, why=why),  # cells have seeds of their own
        ],
        rows=points,
        caption=(
            f"Scaling collapse at (alpha1, alpha2) = ({grids.ALPHA1:g}, {grids.ALPHA2:g}): medians of "
            f"{curves[0].spec.seeds} seeds for N = {curves[0].spec.fixed} to {curves[-1].spec.fixed}; "
            "the line is the closed form."
        ),
        draw=lambda figure: _draw_collapse(figure, curves),
        size=(7.0, 5.0),
    )


def _points(curve: Measured) -> list[Row]:
    N = curve.spec.fixed
    rows = []
    for row in curve.rows():
        xi = rescaled_ratio(INPUTS, N, row["D"])
        scaled = row["median"] * N**INPUTS.exponents.alpha_N
        closed, point = scaling_function(INPUTS, xi), predict(INPUTS, N=N, D=row["D"])
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


def _draw_collapse(figure: Figure, curves: list[Measured]) -> None:
    ax = figure.subplots()
    scaling_curve(INPUTS, ax=ax)
    for colour, curve in zip(sequence(len(curves)), curves, strict=True):
        N = curve.spec.fixed
        xi = [rescaled_ratio(INPUTS, N, int(D)) for D in curve.x]
        scaled = curve.median * N**INPUTS.exponents.alpha_N
        ax.loglog(xi, scaled, "o", color=colour, label=f"$N$ = {N}", zorder=3)
    ax.set_ylim(1.0, 1e3)
    legend_above(ax, 3)


# Figure 3 (fig:compute-scaling): loss against compute for many N, with the predicted frontier, the fitted
# one, and that of the surface.

COMPUTE_MODELS = (16, 24, 32, 48, 64, 96, 128, 192, 256)
COMPUTE_RATIOS = np.geomspace(0.1, 2.6, 27)  # of D^(1/(alpha1+1)) to N
TAIL = 6  # curves of the largest N, from which exponent and constant are read


def loss_against_compute(context: Context) -> Result:
    """The lower envelope beside the frontier of the surface."""
    curves = _curves(context, COMPUTE_MODELS, COMPUTE_RATIOS)
    optimum = frontier(INPUTS)
    fit, constant, envelope = _envelope(curves)
    best = frontier_curve(INPUTS, envelope[-TAIL:])
    at_these = float(np.mean(best.loss * best.budget**optimum.alpha_C))
    printed = Printed(INPUTS.exponents.alpha_C, 5e-4)
    drawn = "the paper's value is its formula; it draws the line and fits none"
    why = (
        f"for large budgets the surface has {optimum.best.constant:.2f}; "
        f"its optimum is on the side {optimum.best.side} at xi = {optimum.best.xi:.2f}; "
        f"the other side's best costs {optimum.other.constant:.2f} C^-{optimum.alpha_C:.3f}"
    )
    quantities = [
        Quantity("alpha_C, from the lower envelope", fit.exponent, printed, optimum.alpha_C, drawn),
        Quantity("loss* C^alpha_C on the envelope", constant, theory=at_these, why=why),
    ]
    rows: list[Row] = [{**row, "C": _compute(row["N"], row["D"])} for curve in curves for row in curve.rows()]
    return Result(
        quantities=quantities,
        rows=rows,
        caption=(
            f"Median loss against C = N D min(N, D), one curve for each N; {curves[0].spec.seeds} seeds. "
            "Dashed: the best of the surface at each budget, not fitted. Dotted: through the lowest points."
        ),
        draw=lambda figure: _draw_compute(figure, curves, envelope, fit),
        size=(7.0, 5.0),
    )


def _compute(N: int, D: float) -> float:
    return float(N * D * min(N, D))


def _envelope(curves: list[Measured]) -> tuple[PowerFit, Interval, FloatArray]:
    """The lowest loss C^alpha_C of every curve: its power, its constant, and where it is."""
    alpha_C = INPUTS.exponents.alpha_C
    lowest = []
    for curve in curves:
        C = np.array([_compute(curve.spec.fixed, D) for D in curve.x])
        i = int(np.argmin(curve.median * C**alpha_C))
        lowest.append((C[i], curve.median[i]))
    C, loss = np.array(lowest).T
    fit = fit_power({"envelope": Sweep(x=C, loss=loss)}, last=TAIL)
    return fit, student_interval((loss * C**alpha_C)[-TAIL:].tolist()), C


def _draw_compute(figure: Figure, curves: list[Measured], best: FloatArray, fit: PowerFit) -> None:
    ax = figure.subplots()
    for colour, curve in zip(sequence(len(curves)), curves, strict=True):
        C = [_compute(curve.spec.fixed, D) for D in curve.x]
        style = {"color": colour, "markersize": 2.5, "linewidth": 0.8}
        ax.loglog(C, curve.median, "-o", **style, label=f"$N$ = {curve.spec.fixed}")
    limit = frontier(INPUTS)
    budgets = np.geomspace(best[0] / 10, best[-1] * 30, 50)
    label = rf"surface, to {limit.best.constant:.2f} $C^{{-{limit.alpha_C:.3f}}}$"
    ax.loglog(budgets, frontier_curve(INPUTS, budgets).loss, "--", color=THEORY, label=label)
    label = rf"lowest points: slope {fit.exponent.best:.3f}"
    ax.loglog(budgets, fit.A["envelope"] * budgets**-fit.exponent.best, ":", color=COLOURS[1], label=label)
    finish(ax, r"compute $C = N D\,\min(N, D)$", "population loss (median)", columns=3)
