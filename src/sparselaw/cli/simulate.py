"""`sparselaw simulate`: the loss on every (N, D) for every seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import numbers, options
from sparselaw.cli.output import footnotes, note, number, print_json, print_table
from sparselaw.errors import InputError

if TYPE_CHECKING:
    from sparselaw.solvers.settings import SolverSettings
    from sparselaw.trials.task import Record, Task

FEATURES = ["linear", "relu"]
SOLVERS = ["min-norm", "ridge", "gd", "nesterov", "sgd"]


def simulate(
    alpha1: str = options.ALPHA1,
    alpha2: str = options.ALPHA2,
    N: str = typer.Option(..., "-N", "--N", help="Widths: 4,8,16 or start:stop:count."),
    D: str = typer.Option(..., "-D", "--D", help="Sample sizes: 4,8,16 or start:stop:count."),
    inputs: str = options.INPUTS,
    features: str = typer.Option("linear", help="linear or relu."),
    solver: str = typer.Option("min-norm", help="min-norm, ridge, gd, nesterov or sgd."),
    dimension: str = options.DIMENSION,
    noise: str = typer.Option("0", help="Variance of the label noise."),
    ridge: str = typer.Option(None, help="The ridge, for --solver ridge."),
    steps: str = typer.Option(None, help="Number of steps, for --solver gd."),
    step: str = typer.Option(None, help="Step size, for gd and sgd; without it a stable one is chosen."),
    passes: str = typer.Option(None, help="Passes over the data, for --solver sgd."),
    batch: str = typer.Option(None, help="Batch size, for --solver sgd (default 1)."),
    seeds: str = typer.Option("20", help="Trials for each (N, D)."),
    seed: str = typer.Option("0", help="Seed of the first trial; the next have the next numbers."),
    raw: bool = typer.Option(False, "--raw", help="The paper's estimator: one teacher, one test set."),
    n_test: str = typer.Option(None, help="Samples of the test set, with --raw. [default: 50000]"),
    out: str = typer.Option(None, help="Write one row a trial to this .csv or .parquet file."),
    store: str = typer.Option(None, help="Keep the runs in this file (default: in your data folder)."),
    workers: str = typer.Option(None, help="Number of processes (default: all cores)."),
    scheduler: str = typer.Option(None, help="Run on the Dask scheduler at this address, tcp://host:port."),
    retry: bool = typer.Option(False, "--retry", help="Run failed runs again."),
    quiet: bool = typer.Option(False, "--quiet", help="No progress bar."),
    as_json: bool = options.JSON,
) -> None:
    """Measure the loss on every (N, D) for every seed."""
    from sparselaw.sweeps.cells import summarise
    from sparselaw.sweeps.run import SweepStopped
    from sparselaw.sweeps.runs_table import check_out
    from sparselaw.sweeps.simulate import as_frame, grid, run_tasks
    from sparselaw.sweeps.store import Store, default_store

    if n_test is not None and not raw:
        raise InputError("n-test", n_test, "has no effect without --raw", "add --raw or leave out --n-test")
    tasks = grid(
        options.read_inputs(alpha1, alpha2, inputs, dimension),
        numbers.sizes("N", N),
        numbers.sizes("D", D),
        seeds=numbers.size("seeds", seeds),
        seed=numbers.whole("seed", seed),
        features=numbers.choice("features", features, FEATURES),
        solver=make_solver(solver, ridge=ridge, steps=steps, step=step, passes=passes, batch=batch),
        noise=numbers.real("noise", noise),
        estimator="raw" if raw else "exact",
        n_test=numbers.size("n-test", n_test or "50000"),
    )
    if out is not None:
        check_out(out)
    with Store(store or default_store()) as kept:
        try:
            done = run_tasks(
                tasks,
                store=kept,
                workers=None if workers is None else numbers.size("workers", workers),
                scheduler=scheduler,
                retry=retry,
                progress=not quiet,
            )
        except SweepStopped as stopped:
            found = kept.find([task.id for task in tasks])
            write_runs(out, [(task, found[task.id]) for task in tasks if task.id in found])
            note(f"{stopped}; they are in {kept.path}: the same command goes on from there")
            raise
    write_runs(out, done)
    cells = summarise(as_frame(done))
    failed = sum(record.status == "failed" for _, record in done)
    if as_json:
        print_json(
            {"inputs": inputs, "features": features, "solver": solver, "failed": failed, "cells": cells}
        )
    else:
        _print_cells(f"{inputs} inputs, {features} features, {solver}", cells)
    if failed:
        note(f"{failed} of {len(done)} runs failed; --retry runs them again, --out names the reasons")
        raise typer.Exit(1)


def _print_cells(title: str, cells: list[dict[str, Any]]) -> None:
    columns = ["N", "D", "mean", "stderr", "median", "seeds", "theory"]
    marks, cautions = footnotes([c.get("caution", "") for c in cells])
    rows = [[str(c["N"]), str(c["D"]), *(number(c[k]) for k in columns[2:5]), str(c["seeds"]),
             f"{number(c['theory'])} {mark}"] for c, mark in zip(cells, marks, strict=True)]  # fmt: skip
    print_table(title, columns, rows)
    for text in cautions:
        note(f"theory {text}")
    for text in sorted({c[key] for c in cells for key in ("mean_reason", "note") if key in c}):
        note(text)


def make_solver(
    name: str,
    *,
    ridge: str | None = None,
    steps: str | None = None,
    step: str | None = None,
    passes: str | None = None,
    batch: str | None = None,
) -> SolverSettings:
    """The settings named on the command line; one that the solver does not take is refused."""
    from sparselaw.solvers.settings import SGD, GradientDescent, MinNorm, Nesterov, Ridge

    numbers.choice("solver", name, SOLVERS)
    given = {"ridge": ridge, "steps": steps, "step": step, "passes": passes, "batch": batch}
    takes = {"ridge": ["ridge"], "gd": ["steps", "step"], "sgd": ["passes", "step", "batch"]}.get(name, [])
    for option, value in given.items():
        if value is not None and option not in takes:
            raise InputError(option, value, f"is not a setting of {name}", f"leave out --{option}")
    step_size = None if step is None else _positive("step", step)
    if name == "ridge":
        return Ridge(ridge=_not_negative("ridge", _needed("ridge", ridge, name)))
    if name == "gd":
        return GradientDescent(steps=numbers.size("steps", _needed("steps", steps, name)), step=step_size)
    if name == "sgd":
        count = numbers.size("passes", _needed("passes", passes, name))
        return SGD(passes=count, step=step_size, batch=numbers.size("batch", batch or "1"))
    return Nesterov() if name == "nesterov" else MinNorm()


def write_runs(out: str | None, runs: list[tuple[Task, Record]]) -> None:
    """One row a run, to the file named by --out if there is one and anything is finished."""
    from pathlib import Path

    from sparselaw.sweeps.runs_table import write_table
    from sparselaw.sweeps.simulate import as_row

    if out is not None and runs:
        write_table(Path(out), [as_row(task, record) for task, record in runs])


def _needed(name: str, text: str | None, solver: str) -> str:
    if text is None:
        raise InputError(name, "", f"is needed by --solver {solver}", f"give --{name}")
    return text


def _positive(name: str, text: str) -> float:
    value = numbers.real(name, text)
    if value <= 0.0:
        raise InputError(name, text, "must be positive", f"choose {name} > 0")
    return value


def _not_negative(name: str, text: str) -> float:
    from sparselaw.errors import check_not_negative

    return check_not_negative(name, numbers.real(name, text))
