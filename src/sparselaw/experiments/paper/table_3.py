"""Table 3 (tab:threeRegimes): the cost of training as exponents of the iterations, predicted and measured."""

from __future__ import annotations

from dataclasses import asdict

from matplotlib.figure import Figure

from sparselaw.experiments.dynamics import Row as IterationRow
from sparselaw.experiments.dynamics import cost_table
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.item import Context, Item, Printed, Quantity, Result
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval
from sparselaw.plotting.style import COLOURS, THEORY

INPUTS = SparseInputs(alpha1=grids.ALPHA1, alpha2=grids.ALPHA2)
SEEDS = 20
COLUMNS = ("regime", "method", "until", "variable", "paper", "corrected", "closed_form", "follows")
REGIMES = {"over": "N > D", "intermediate": "D > N > K", "under": "K > N"}
METHODS = {"gd": "gradient descent", "nesterov": "accelerated", "condition number": "condition number"}


def make(context: Context) -> Result:
    seeds = grids.seeds(SEEDS, context.quick)
    identity = {"alpha1": INPUTS.alpha1, "alpha2": INPUTS.alpha2, "seeds": seeds}
    rows: list[IterationRow] = context.remember(
        "iterations",
        identity,
        lambda: [asdict(row) for row in cost_table(INPUTS, seeds=seeds, map_=context.map)],
        lambda kept: [IterationRow(**row | {"measured": Interval(**row["measured"])}) for row in kept],
    )
    table = [
        {
            **{name: getattr(row, name) for name in COLUMNS},
            "exponent": row.measured.best,
            "low": row.measured.low,
            "high": row.measured.high,
        }
        for row in rows
    ]
    followed = [row.follows for row in rows if row.method == "condition number" and row.regime != "under"]
    to_loss = [row.follows for row in rows if row.until == "loss"]
    notes = [
        "Above the peak the measured condition numbers follow: "
        f"{', '.join(followed)}. Iterations to within 1 % of the final loss follow: {', '.join(to_loss)}. "
        "The rarest coordinate seen sets the condition number, but hardly matters to the loss."
    ]
    return Result(
        quantities=[_quantity(row) for row in rows],
        rows=table,
        caption=(
            f"Exponents of iterations and of the condition number at ({INPUTS.alpha1:g}, {INPUTS.alpha2:g}): "
            f"95 % intervals from {seeds} seeds, the paper's prediction, and that of the rarest coordinate."
        ),
        draw=lambda figure: _draw(figure, rows),
        size=(7.5, 5.5),
        notes=notes,
    )


def _label(row: IterationRow) -> str:
    until = f" to the {row.until}" if row.until else ""
    return f"{METHODS[row.method]}{until}, {REGIMES[row.regime]}, power of {row.variable}"


def _quantity(row: IterationRow) -> Quantity:
    own = ""
    if row.closed_form is not None:
        own = f"; the loss of unfinished training in closed form gives {row.closed_form:.3g} at these sizes"
    return Quantity(
        quantity=_label(row),
        printed=Printed(value=row.paper, rounding=0.005),
        measured=row.measured,
        theory=row.corrected,
        why=f"theory: with the rarest coordinate seen; the data follow: {row.follows}{own}",
    )


def _draw(figure: Figure, rows: list[IterationRow]) -> None:
    ax = figure.subplots()
    places = range(len(rows), 0, -1)
    best = [row.measured.best for row in rows]
    bars = [
        [row.measured.best - row.measured.low for row in rows],
        [row.measured.high - row.measured.best for row in rows],
    ]
    ax.errorbar(best, places, xerr=bars, fmt="o", color=COLOURS[0], capsize=2, label="measured, 95 %")
    ax.plot([row.paper for row in rows], places, "s", fillstyle="none", color=COLOURS[1], label="paper")
    ax.plot(
        [row.corrected for row in rows], places, "d", fillstyle="none", color=COLOURS[2], label="corrected"
    )
    own = [(row.closed_form, place) for row, place in zip(rows, places, strict=True) if row.closed_form]
    if own:  # results kept by an earlier version have none
        ax.plot(*zip(*own, strict=True), "x", color=THEORY, zorder=4, label="closed form, these sizes")
    ax.set_yticks(list(places), [_label(row) for row in rows], fontsize="small")
    ax.set(xlabel="exponent", ylim=(0.3, len(rows) + 0.7))
    figure.legend(loc="outside upper center", ncols=4, fontsize="small")


ITEM = Item(name="table-3", title="Cost of training, predicted and measured", make=make)
