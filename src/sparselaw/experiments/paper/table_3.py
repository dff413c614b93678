"""Table 3 (tab:threeRegimes): the cost of training as exponents of the iterations, predicted and measured."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from matplotlib.figure import Figure

from sparselaw.experiments.dynamics import cost_table, prepare_training
from sparselaw.experiments.dynamics.iterations import Row as IterationRow
from sparselaw.experiments.dynamics.iterations import exponent
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.item import Context, Printed, Quantity, Result, bars
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval
from sparselaw.plotting.style import COLOURS, THEORY
from sparselaw.theory import condition_exponents
from sparselaw.trials.task import Task

INPUTS = SparseInputs(alpha1=grids.ALPHA1, alpha2=grids.ALPHA2)
SEEDS = 20
CONDITION_SEEDS = 60  # the smallest eigenvalue scatters most; a draw is cheap
CONDITION_D = (100, 200, 400, 800, 1600, 3200)
COLUMNS = ("regime", "method", "until", "variable", "paper", "corrected", "closed_form", "follows")
REGIMES = {"over": "N > D", "intermediate": "D > N > K", "under": "K > N"}
METHODS = {"gd": "gradient descent", "nesterov": "accelerated", "condition number": "condition number"}


def make(context: Context) -> Result:
    """The rows of ``cost_table``, and the condition number by two eigenvalues at two dimensions."""
    seeds = grids.seeds(SEEDS, context.quick)
    rows: list[IterationRow] = context.remember(
        "iterations",
        {"alpha1": INPUTS.alpha1, "alpha2": INPUTS.alpha2, "seeds": seeds},
        lambda: [asdict(row) for row in cost_table(INPUTS, seeds=seeds, map_=context.map)],
        lambda kept: [IterationRow(**row | {"measured": Interval(**row["measured"])}) for row in kept],
    )
    conditions = _conditions(context, grids.seeds(CONDITION_SEEDS, context.quick))
    followed = [row.follows for row in rows if row.method == "condition number" and row.regime != "under"]
    to_loss = [row.follows for row in rows if row.until == "loss"]
    return Result(
        quantities=[*(_quantity(row) for row in rows), *conditions],
        rows=[{name: getattr(row, name) for name in COLUMNS} | row.measured.as_dict() for row in rows],
        caption=(
            f"Exponents of iterations and of the condition number at ({INPUTS.alpha1:g}, {INPUTS.alpha2:g}): "
            f"95 % intervals from {seeds} seeds, the paper's prediction, and that of the rarest coordinate."
        ),
        draw=lambda figure: _draw(figure, rows),
        size=(7.5, 5.5),
        notes=[
            f"Above the peak the measured condition numbers follow: {', '.join(followed)}. Iterations to "
            f"within 1 % of the final loss follow: {', '.join(to_loss)}. "
            "The rarest coordinate seen sets the condition number, but hardly matters to the loss."
        ],
    )


def _conditions(context: Context, seeds: int) -> list[Quantity]:
    """By the smallest eigenvalue, and by the middle one of K(D): at M infinite and at the paper's own M."""
    paper, corrected = condition_exponents(INPUTS)
    rarest = (
        "the largest eigenvalue over the smallest, which the rarest coordinate seen sets, not the K(D)-th: "
        f"{corrected:.2f} with infinitely many coordinates"
    )
    quantities = []
    for inputs, where in ((INPUTS, "at M infinite"), (grids.SPARSE, "at the paper's own M")):
        cells = [(inputs, D, seed) for seed in range(seeds) for D in CONDITION_D]
        found = np.array(list(context.map(_condition_numbers, cells)))
        whole, effective = np.moveaxis(found.reshape(seeds, -1, 2), 2, 0)
        for values, name, theory, what in (
            (whole, "condition number", corrected, rarest),
            (effective, "effective condition number", paper, "the largest eigenvalue over the K(D)/2-th"),
        ):
            quantities.append(
                Quantity(
                    f"{name} {where}, N > D, power of D",
                    exponent(CONDITION_D, values),
                    Printed(paper, 0.005),
                    theory,
                    f"{what}; D = {CONDITION_D[0]} to {CONDITION_D[-1]}, N = {grids.CLOSED_FORM.width}",
                )
            )
    return quantities


def _condition_numbers(cell: tuple[SparseInputs, int, int]) -> list[float]:
    inputs, D, seed = cell
    eigenvalues = prepare_training(
        Task(inputs=inputs, N=grids.CLOSED_FORM.width, D=D, seed=seed)
    ).equations.eigenvalues
    place = round(inputs.expected_seen(D) / 2.0) - 1
    return [float(eigenvalues[0] / eigenvalues[-1]), float(eigenvalues[0] / eigenvalues[place])]


def _label(row: IterationRow) -> str:
    until = f" to the {row.until}" if row.until else ""
    return f"{METHODS[row.method]}{until}, {REGIMES[row.regime]}, power of {row.variable}"


def _quantity(row: IterationRow) -> Quantity:
    own = ""
    if row.closed_form is not None:
        own = f"; the loss of unfinished training in closed form gives {row.closed_form:.3g} at these sizes"
    return Quantity(
        _label(row),
        row.measured,
        Printed(row.paper, 0.005),
        row.corrected,
        f"theory: with the rarest coordinate seen; the data follow: {row.follows}{own}",
    )


def _draw(figure: Figure, rows: list[IterationRow]) -> None:
    ax = figure.subplots()
    places = range(len(rows), 0, -1)
    best = [row.measured.best for row in rows]
    ends = bars([row.measured for row in rows])
    ax.errorbar(best, places, xerr=ends, fmt="o", color=COLOURS[0], capsize=2, label="measured, 95 %")
    ax.plot([row.paper for row in rows], places, "s", fillstyle="none", color=COLOURS[1], label="paper")
    corrected = [row.corrected for row in rows]
    ax.plot(corrected, places, "d", fillstyle="none", color=COLOURS[2], label="corrected")
    own = [(row.closed_form, place) for row, place in zip(rows, places, strict=True) if row.closed_form]
    ax.plot(*zip(*own, strict=True), "x", color=THEORY, zorder=4, label="closed form, these sizes")
    ax.set_yticks(list(places), [_label(row) for row in rows], fontsize="small")
    ax.set(xlabel="exponent", ylim=(0.3, len(rows) + 0.7))
    figure.legend(loc="outside upper center", ncols=4, fontsize="small")
