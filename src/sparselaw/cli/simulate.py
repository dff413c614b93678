"""`sparselaw simulate`: the loss on every (N, D) for every seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import kept_runs, options
from sparselaw.cli.options import flag, names_in, of_inputs, real, size, sizes, text, word
from sparselaw.cli.output import footnotes, note, number, print_json, print_table
from sparselaw.errors import InputError

if TYPE_CHECKING:
    from sparselaw.sweeps.cells import Cell


def simulate(
    context: typer.Context,
    alpha1: str | None = options.ALPHA1,
    alpha2: str | None = options.ALPHA2,
    alpha: str | None = options.ALPHA,
    N: list[int] = sizes(..., f"Model {options.OF_SIZES}", "-N", "--N"),
    D: list[int] = options.SAMPLES,
    inputs: str = options.INPUTS,
    features: str = word(
        "linear",
        "The features of the inputs.",
        *("linear", "relu", "leaky-relu", "gelu", "tanh", "erf", "sign", "abs", "trained"),
        offered=names_in("features", "FEATURES"),
    ),
    solver: str = options.SOLVER,
    dimension: str | None = options.DIMENSION,
    noise: float = real("0", "Variance of the label noise."),
    ridge: str | None = text(None, "The ridge, for --solver ridge.", options.FLOAT),
    training: dict[str, str | None] = options.TRAINING,
    seeds: int = size("20", "Trials for each (N, D)."),
    seed: int = kept_runs.SEED,
    raw: bool = flag("--raw", "The paper's estimator: one teacher, one test set."),
    n_test: int | None = size(None, "Samples of the test set, with --raw. [default: 50000]"),
    outputs: int | None = size(
        None, "Outputs m, for --features trained; the loss is that of one. [default: 1]"
    ),
    trials: dict[str, Any] = kept_runs.TRIALS,
    json: bool = options.JSON,
) -> None:
    """Measure the loss on every (N, D) for every seed."""
    from sparselaw.solvers import from_options
    from sparselaw.sweeps.cells import cells_of, ratios
    from sparselaw.sweeps.simulate import grid

    if n_test is not None and not raw:
        raise InputError("n-test", n_test, "has no effect without --raw", "add --raw or leave out --n-test")
    own, others = of_inputs(inputs, context)
    tasks = grid(
        options.read_inputs(alpha1, alpha2, inputs, dimension, alpha, own),
        N,
        D,
        seeds=seeds,
        seed=seed,
        features=features,
        solver=from_options(solver, {"ridge": ridge, **training, **others}),
        noise=noise,
        estimator="raw" if raw else "exact",
        n_test=n_test or 50_000,
        outputs=outputs or 1,
    )
    done = kept_runs.run_kept(tasks, **trials)
    cells = cells_of(done)
    trained = bool(done) and done[0][0].feature_map.several_outputs
    beside = ratios(done) if trained else None  # losses over the unseen variance
    if json:
        ratio = {} if beside is None else beside.as_dict()
        own_cells = ratio.pop("cells", [{}] * len(cells))
        shown = [own | cell.as_dict() for own, cell in zip(own_cells, cells, strict=True)]
        described = {"inputs": inputs, "features": features, "solver": solver}
        print_json({**described, "failed": kept_runs.count_failed(done), **ratio, "cells": shown})
    else:
        _print_cells(f"{inputs} inputs, {features} features, {solver}", cells)
        for words in () if beside is None else beside.says():
            note(words)
    kept_runs.leave_failed(done)


def _print_cells(title: str, cells: list[Cell]) -> None:
    marks, cautions = footnotes([cell.caution for cell in cells])
    rows = [
        [str(c.N), str(c.D), number(c.mean), number(c.stderr), number(c.median), str(c.seeds),
         f"{number(c.theory)} {mark}"]
        for c, mark in zip(cells, marks, strict=True)
    ]  # fmt: skip
    print_table(title, ["N", "D", "mean", "stderr", "median", "seeds", "theory"], rows)
    said = sorted({line for cell in cells for line in (cell.mean_reason, cell.note) if line})
    for words in (*(f"theory {caution}" for caution in cautions), *said):
        note(words)
