"""`sparselaw simulate`: the loss on every (N, D) for every seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw import numbers
from sparselaw.cli import kept_runs, options
from sparselaw.cli.options import FLOAT, INTEGER, further, of_inputs
from sparselaw.cli.output import footnotes, note, number, print_json, print_table
from sparselaw.errors import InputError

if TYPE_CHECKING:
    from sparselaw.sweeps.cells import Cell
    from sparselaw.sweeps.ratios import RatioStudy
    from sparselaw.trials.task import Record, Task


@options.grouped
def simulate(
    context: typer.Context,
    alpha1: str = options.ALPHA1,
    alpha2: str = options.ALPHA2,
    alpha: str = options.ALPHA,
    N: str = options.WIDTHS,
    D: str = options.SAMPLES,
    inputs: str = options.INPUTS,
    features: str = typer.Option(
        "linear",
        metavar="linear|relu|leaky-relu|gelu|tanh|erf|sign|abs|trained",
        autocompletion=options.names_in("features", "FEATURES"),
        help="The features of the inputs.",
    ),
    solver: str = options.SOLVER,
    dimension: str = options.DIMENSION,
    noise: str = typer.Option("0", metavar=FLOAT, help="Variance of the label noise."),
    ridge: str = typer.Option(None, metavar=FLOAT, help="The ridge, for --solver ridge."),
    steps: str = options.STEPS,
    step: str = options.STEP,
    passes: str = options.PASSES,
    batch: str = options.BATCH,
    momentum: str = options.MOMENTUM,
    seeds: str = typer.Option("20", metavar=INTEGER, help="Trials for each (N, D)."),
    seed: str = kept_runs.SEED,
    raw: bool = typer.Option(False, "--raw", help="The paper's estimator: one teacher, one test set."),
    n_test: str = typer.Option(
        None, metavar=INTEGER, help="Samples of the test set, with --raw. [default: 50000]"
    ),
    outputs: str = typer.Option(
        None, metavar=INTEGER, help="Outputs m, for --features trained; the loss is that of one. [default: 1]"
    ),
    trials: Any = kept_runs.TRIALS,
    as_json: bool = options.JSON,
) -> None:
    """Measure the loss on every (N, D) for every seed."""
    from sparselaw.solvers import from_options
    from sparselaw.sweeps.cells import cells_of
    from sparselaw.sweeps.simulate import grid

    if n_test is not None and not raw:
        raise InputError("n-test", n_test, "has no effect without --raw", "add --raw or leave out --n-test")
    own, others = of_inputs(inputs, further(context))
    settings = {"ridge": ridge, "steps": steps, "step": step, "passes": passes, "batch": batch}
    settings["momentum"] = momentum
    tasks = grid(
        options.read_inputs(alpha1, alpha2, inputs, dimension, alpha, own),
        numbers.sizes("N", N),
        numbers.sizes("D", D),
        seeds=numbers.size("seeds", seeds),
        seed=numbers.whole("seed", seed),
        features=features,
        solver=from_options(solver, {**settings, **others}),
        noise=numbers.real("noise", noise),
        estimator="raw" if raw else "exact",
        n_test=numbers.size("n-test", n_test or "50000"),
        outputs=numbers.size("outputs", outputs or "1"),
    )
    done = kept_runs.run_kept(tasks, **trials)
    cells = cells_of(done)
    extra = _ratios(done)
    if as_json:
        described: dict[str, Any] = {"inputs": inputs, "features": features, "solver": solver}
        described["failed"] = kept_runs.count_failed(done)
        shown = [cell.as_dict() for cell in cells]
        if extra is not None:
            beside = extra.as_dict()
            shown = [own | cell for own, cell in zip(beside.pop("cells"), shown, strict=True)]
            described |= beside
        print_json({**described, "cells": shown})
    else:
        _print_cells(f"{inputs} inputs, {features} features, {solver}", cells)
        for text in extra.says() if extra is not None else ():
            note(text)
    kept_runs.leave_failed(done)


def _ratios(done: list[tuple[Task, Record]]) -> RatioStudy | None:
    """Losses over the unseen variance, where the features are trained."""
    from sparselaw.sweeps.ratios import ratios

    return ratios(done) if done and done[0][0].feature_map.several_outputs else None


def _print_cells(title: str, cells: list[Cell]) -> None:
    marks, cautions = footnotes([cell.caution for cell in cells])
    rows = [
        [str(c.N), str(c.D), number(c.mean), number(c.stderr), number(c.median), str(c.seeds),
         f"{number(c.theory)} {mark}"]
        for c, mark in zip(cells, marks, strict=True)
    ]  # fmt: skip
    print_table(title, ["N", "D", "mean", "stderr", "median", "seeds", "theory"], rows)
    for text in cautions:
        note(f"theory {text}")
    for text in sorted({text for cell in cells for text in (cell.mean_reason, cell.note) if text}):
        note(text)
