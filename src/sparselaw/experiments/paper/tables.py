"""Tables 3 and 4: the cost of training, predicted and measured, and how often gradient descent diverges."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from sparselaw.experiments.dynamics import cost_table, prepare_training
from sparselaw.experiments.dynamics.iterations import Row as IterationRow
from sparselaw.experiments.dynamics.iterations import exponent
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.item import Context, Printed, Quantity, Result, Row, bars
from sparselaw.failure import FailurePoint, failure_probability, fitted_exponent, local_exponents
from sparselaw.failure.direct import binomial_interval
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Z95, Interval
from sparselaw.plotting.style import COLOURS, THEORY, finish, legend_above
from sparselaw.plotting.theory import failure_curve
from sparselaw.theory.descent import condition_exponents, spike_probability
from sparselaw.trials.task import Task

# Table 3 (tab:threeRegimes): the cost of training as exponents of the iterations.

COSTLY = SparseInputs(alpha1=grids.ALPHA1, alpha2=grids.ALPHA2)
SEEDS = 20
CONDITION_SEEDS = 60  # the smallest eigenvalue scatters most; a draw is cheap
CONDITION_D = (100, 200, 400, 800, 1600, 3200)
COLUMNS = ("regime", "method", "until", "variable", "paper", "corrected", "closed_form", "follows")
REGIMES = {"over": "N > D", "intermediate": "D > N > K", "under": "K > N"}
METHODS = {"gd": "gradient descent", "nesterov": "accelerated", "condition number": "condition number"}


def table_3(context: Context) -> Result:
    """The rows of ``cost_table``, and the condition number by two eigenvalues at two dimensions."""
    seeds = grids.seeds(SEEDS, context.quick)
    rows = cost_table(COSTLY, seeds=seeds, map_=partial(context.remember, "iterations"))
    more = grids.seeds(CONDITION_SEEDS, context.quick)
    conditions = _conditions(context, more)
    quantities = [*(_quantity(row) for row in rows), *conditions]
    followed = [row.follows for row in rows if row.method == "condition number" and row.regime != "under"]
    to_loss = [row.follows for row in rows if row.until == "loss"]
    return Result(
        quantities=quantities,
        rows=[
            *({name: getattr(row, name) for name in COLUMNS} | row.measured.as_dict() for row in rows),
            *(
                {"regime": "over", "method": q["quantity"], "variable": "D", "paper": q["paper"]}
                | {"corrected": q["theory"], **q["measured"]}
                for q in (condition.as_dict() for condition in conditions)
            ),
        ],
        caption=(
            f"Exponents of iterations and of the condition number at ({COSTLY.alpha1:g}, {COSTLY.alpha2:g}): "
            f"95 % intervals from {seeds} seeds ({more} of the last four), the paper's prediction, and that "
            "of the rarest coordinate."
        ),
        draw=lambda figure: _draw_costs(figure, quantities, [row.closed_form for row in rows]),
        size=(7.5, 6.3),
        notes=[
            f"Exponents of the condition number above the peak: {_counted(followed)}. Exponents of the "
            f"iterations to within 1 % of the final loss: {_counted(to_loss)}. "
            "The rarest coordinate seen sets the condition number, but hardly matters to the loss."
        ],
    )


def _counted(follows: Iterable[str]) -> str:
    """How many agree with which power.

    >>> _counted(["paper", "both", "paper"])
    "2 agree with the paper's, 1 agrees with both"
    """
    powers = {"paper": "the paper's", "corrected": "that of the rarest coordinate"}
    return ", ".join(
        f"{count} agree{'s' * (count == 1)} with {powers.get(word, word)}"
        for word, count in Counter(follows).most_common()
    )


def _conditions(context: Context, seeds: int) -> list[Quantity]:
    """By the smallest eigenvalue, and by the middle one of K(D): at M infinite and at the paper's own M."""
    paper, corrected = condition_exponents(COSTLY)
    rarest = (
        "the largest eigenvalue over the smallest, which the rarest coordinate seen sets, not the K(D)-th: "
        f"{corrected:.2f} with infinitely many coordinates"
    )
    quantities = []
    for inputs, where in ((COSTLY, "at M infinite"), (grids.SPARSE, "at the paper's own M")):
        cells = [(inputs, D, seed) for seed in range(seeds) for D in CONDITION_D]
        found = np.array(list(context.map(_condition_numbers, cells)))
        whole, effective = np.moveaxis(found.reshape(seeds, -1, 2), 2, 0)
        for values, name, theory, what in (
            (whole, "condition number", corrected, rarest),
            (effective, "effective condition number", paper, "the largest eigenvalue over the K(D)/2-th"),
        ):
            why = f"{what}; D = {CONDITION_D[0]} to {CONDITION_D[-1]}, N = {grids.CLOSED_FORM.width}"
            name, found_here = f"{name} {where}, N > D, power of D", exponent(CONDITION_D, values)
            quantities.append(Quantity(name, found_here, Printed(paper, 0.005), theory, why))
    return quantities


def _condition_numbers(cell: tuple[SparseInputs, int, int]) -> list[float]:
    inputs, D, seed = cell
    task = Task(inputs=inputs, N=grids.CLOSED_FORM.width, D=D, seed=seed)
    eigenvalues = prepare_training(task).equations.eigenvalues
    return [float(eigenvalues[0] / eigenvalues[i]) for i in (-1, round(inputs.expected_seen(D) / 2.0) - 1)]


def _quantity(row: IterationRow) -> Quantity:
    own = ""
    if row.closed_form is not None:
        own = f"; the loss of unfinished training in closed form gives {row.closed_form:.3g} at these sizes"
    why = f"theory: with the rarest coordinate seen; the data follow: {row.follows}{own}"
    until = f" to the {row.until}" if row.until else ""
    name = f"{METHODS[row.method]}{until}, {REGIMES[row.regime]}, power of {row.variable}"
    return Quantity(name, row.measured, Printed(row.paper, 0.005), row.corrected, why)


def _draw_costs(figure: Figure, quantities: Sequence[Quantity], closed: Sequence[float | None]) -> None:
    """Every number of the table, those that decide its claims among them."""
    ax, places = figure.subplots(), range(len(quantities), 0, -1)
    measured = [q.measured for q in quantities if q.measured]
    best, label = [interval.best for interval in measured], "measured, 95 %"
    ax.errorbar(best, places, xerr=bars(measured), fmt="o", color=COLOURS[0], capsize=2, label=label)
    for values, marker, colour, label in (
        ([q.printed.value for q in quantities if q.printed], "s", COLOURS[1], "paper"),
        ([q.theory or math.nan for q in quantities], "d", COLOURS[2], "corrected"),
    ):
        ax.plot(values, places, marker, fillstyle="none", color=colour, label=label)
    own = [(value, place) for value, place in zip(closed, places, strict=False) if value]
    ax.plot(*zip(*own, strict=True), "x", color=THEORY, zorder=4, label="closed form, these sizes")
    ax.set_yticks(list(places), [q.quantity for q in quantities], fontsize="small")
    ax.set(xlabel="exponent", ylim=(0.3, len(quantities) + 0.7))
    figure.legend(loc="outside upper center", ncols=4, fontsize="small")


# Table 4 (tab:gd_failure_empirical): how often gradient descent diverges, and which of the two mechanisms the
# paper's rows measure.

INPUTS = SparseInputs(alpha1=2.0, alpha2=-1.2, dimension=5000)
THRESHOLD = 1.0005
COUNTS = {500: (185, 500), 1000: (132, 1000), 2000: (40, 2000), 5000: (1, 3000), 10_000: (0, 4000)}
BEYOND = (20_000,)
PRINTED_SLOPES = {(500, 1000): 1.5, (1000, 2000): 2.7, (2000, 5000): 4.5}
# Where the theorem can be seen: small nu, threshold 2, infinitely many coordinates.
THEOREM = (SparseInputs(alpha1=1.5, alpha2=-2.0), SparseInputs(alpha1=1.0, alpha2=-1.6))
THEOREM_D = (30, 100, 300, 1000, 3000, 10_000)


def table_4(context: Context) -> Result:
    """The paper's rows, and the theorem where it can be seen."""
    beyond = () if context.quick else BEYOND
    sizes = THEOREM_D[:4] if context.quick else THEOREM_D
    theorem = [(inputs, sizes, 2.0, 0.2 if context.quick else 0.07) for inputs in THEOREM]
    paper = (INPUTS, (*COUNTS, *beyond), THRESHOLD, 0.1 if context.quick else 0.03)
    points, *spikes = _estimates(context, [paper, *theorem])
    quantities = [_probability(point) for point in points] + _slopes(points)
    quantities += [_theorem(inputs, found) for inputs, found in zip(THEOREM, spikes, strict=True)]
    first = points[0]
    endless = spike_probability(SparseInputs(alpha1=INPUTS.alpha1, alpha2=INPUTS.alpha2), first.D, THRESHOLD)
    notes = [
        "What the rows measure: the theorem's spike needs an activation beyond "
        f"j* = {first.spike_index:.1e}, and there are {INPUTS.dimension:.0f} coordinates, so its probability "
        f"is {first.spike:g}; with infinitely many it would be {endless:.1e} at D = {first.D}, against "
        f"{first.probability.best:.2g} seen. The rest is the bulk: chance correlations with the first "
        "coordinate, which fall exponentially with D. So the growing local exponents are an exponential, not "
        "an approach to nu."
    ]
    rows: list[Row] = [
        {"alpha1": inputs.alpha1, "alpha2": inputs.alpha2, **p.row()}
        for inputs, found in zip((INPUTS, *THEOREM), (points, *spikes), strict=True)
        for p in found
    ]
    return Result(
        quantities=quantities,
        rows=rows,
        caption=(
            f"P(lambda_max(XX^T/D) > {THRESHOLD}) at alpha1 = {INPUTS.alpha1:g}, alpha2 = {INPUTS.alpha2:g}, "
            f"M = {INPUTS.dimension:.0f} (left), and the theorem where it can be seen, threshold 2 (right)."
        ),
        draw=lambda figure: _draw_failures(figure, points, spikes),
        size=(9.0, 4.2),
        notes=notes,
    )


def _estimates(
    context: Context, wanted: Sequence[tuple[SparseInputs, tuple[int, ...], float, float]]
) -> list[list[FailurePoint]]:
    """The points of each curve (inputs, sizes, threshold, relative error), all of them on all workers."""
    cells = [(inputs, D, *rest) for inputs, sizes, *rest in wanted for D in sizes]
    found = iter(context.remember("failure", _estimate, cells))
    rows = [[next(found) for _ in sizes] for _, sizes, _, _ in wanted]
    ends = ("probability", "bulk")
    return [[FailurePoint(**p | {end: Interval(**p[end]) for end in ends}) for p in curve] for curve in rows]


def _estimate(setting: tuple[SparseInputs, int, float, float]) -> dict[str, Any]:
    inputs, D, threshold, error = setting
    return asdict(failure_probability(inputs, D, threshold, relative_error=error)[0])


def _probability(point: FailurePoint) -> Quantity:
    printed = None
    if point.D in COUNTS:
        failures, replicates = COUNTS[point.D]
        value, theirs = failures / replicates, binomial_interval(failures, replicates)
        printed = Printed(value, 0.0, below=value - theirs.low, above=theirs.high - value)
        if failures == 0:
            printed = Printed(1.0 / replicates, 0.0, bound=True)
    why = f"theory: the spike of the theorem alone; bulk {point.bulk}; by {point.method} sampling"
    return Quantity(f"P(diverge) at D = {point.D:,}", point.probability, printed, point.spike, why)


def _slopes(points: list[FailurePoint]) -> list[Quantity]:
    quantities = []
    for slope in local_exponents(points):
        low, high, printed = slope.D_low, slope.D_high, None
        if (low, high) in PRINTED_SLOPES:
            variance = sum(1.0 / failures - 1.0 / drawn for failures, drawn in (COUNTS[low], COUNTS[high]))
            noise = float(Z95 * np.sqrt(variance) / np.log(high / low))  # 95 %, from the paper's counts
            printed = Printed(PRINTED_SLOPES[low, high], 0.05, below=noise, above=noise)
        name = f"local exponent, D = {low:,} to {high:,}"
        why = "theory: nu of the theorem, which these rows do not measure"
        quantities.append(Quantity(name, slope.exponent, printed, INPUTS.exponents.nu, why))
    return quantities


def _theorem(inputs: SparseInputs, points: list[FailurePoint]) -> Quantity:
    spike = [f"{p.spike / p.probability.best:.2f}" for p in (points[0], points[-1])]
    return Quantity(
        f"exponent at (alpha1, alpha2) = ({inputs.alpha1:g}, {inputs.alpha2:g}), threshold 2",
        fitted_exponent([p for p in points if p.D >= 100]),
        theory=inputs.exponents.nu,
        why=f"the spike's share of the failures goes from {spike[0]} to {spike[1]} along D",
    )


def _draw_failures(figure: Figure, points: list[FailurePoint], spikes: list[list[FailurePoint]]) -> None:
    left, right = figure.subplots(1, 2)
    failure_curve(points, ax=left)
    seen = {D: k / n for D, (k, n) in COUNTS.items() if k}
    left.plot(list(seen), list(seen.values()), "s", color=COLOURS[1], fillstyle="none", label="paper")
    left.set_ylim(1e-12, 2.0)
    left.set_title("the paper's settings", fontsize="medium")
    legend_above(left)
    for inputs, found, colour in zip(THEOREM, spikes, COLOURS, strict=False):
        D = [p.D for p in found]
        best, ends = [p.probability.best for p in found], bars([p.probability for p in found])
        label = f"({inputs.alpha1:g}, {inputs.alpha2:g}): $\\nu$ = {inputs.exponents.nu:.2f}"
        right.errorbar(D, best, yerr=ends, fmt="o", color=colour, capsize=2, label=label)
        right.plot(D, [p.spike for p in found], color=colour, linewidth=1.0)
    finish(right, "samples $D$", "P(gradient descent fails)", "the theorem (lines: exact spike law)")
