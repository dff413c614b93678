"""Trials beside the curves: how long they will take, and each cell as its seeds come in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparselaw import numbers
from sparselaw.errors import InputError
from sparselaw.explore.call import Call, Training, code_of, input_options, input_python, shell
from sparselaw.explore.views.surface_view import features_of, power
from sparselaw.interval import Z95
from sparselaw.records import finite
from sparselaw.sweeps.cells import cells_of
from sparselaw.sweeps.simulate import grid
from sparselaw.sweeps.sweep import cost_of, stream
from sparselaw.theory.scaling_limit import rescaled_ratio
from sparselaw.trials.run import check_fits
from sparselaw.trials.task import Record, Task

MOST_RUNS = 5000
LONGEST = 3600.0  # seconds of estimated work: beyond, the command line is the better place


def estimate(call: Call) -> dict[str, Any]:
    """Runs, cells and seconds before anything is started; refused where it cannot be run."""
    tasks = _tasks(call)
    seconds = sum(cost_of(task) for task in tasks) / call.session.bench.workers
    return {
        "runs": len(tasks),
        "cells": len({(task.N, task.D) for task in tasks}),
        "seconds": seconds,
        "code": _code(call, tasks[0]),
    }


def simulate(call: Call) -> Iterator[dict[str, Any]]:
    """A line for each run that ends: its cell so far, and how much is done."""
    tasks = _tasks(call)
    work = sum(cost_of(task) for task in tasks)
    done = 0.0
    cells: dict[tuple[int, int], list[tuple[Task, Record]]] = {}
    yield {"runs": len(tasks)}
    bench = call.session.bench
    with bench.pool(call.stop) as pool:
        for task, record in stream(tasks, executor=pool, workers=bench.workers, stop=call.stop):
            done += cost_of(task)
            cell = cells.setdefault((task.N, task.D), [])
            cell.append((task, record))
            count = sum(len(runs) for runs in cells.values())
            yield {"cell": _cell(task, cell), "runs_done": count, "share": done / work}


def _tasks(call: Call) -> list[Task]:
    training = Training.of(call)
    tasks = grid(
        call.inputs(),
        _sizes(call, "N"),
        _sizes(call, "D"),
        seeds=call.size("seeds", 8),
        solver=training.solver,
        noise=training.noise,
        features=features_of(call),
    )
    if len(tasks) > MOST_RUNS:
        raise InputError(
            "seeds", call.size("seeds", 8), f"makes {len(tasks):,} runs", f"ask for at most {MOST_RUNS:,}"
        )
    tasks[0].inputs.check_drawable()
    for task in {(task.N, task.D): task for task in tasks}.values():
        check_fits(task)
    seconds = sum(cost_of(task) for task in tasks) / call.session.bench.workers
    if seconds > LONGEST:
        raise InputError(
            "sizes",
            f"{seconds / 3600.0:.1f} h",
            "is longer than an hour",
            "choose smaller sizes, or the command",
        )
    return tasks


def _sizes(call: Call, name: str) -> list[int]:
    return numbers.sizes(name, call.text(f"sim_{name}", "0"))


def _cell(task: Task, runs: list[tuple[Task, Record]]) -> dict[str, Any]:
    (cell,) = cells_of(runs, theory=False)
    row = cell.as_dict()
    mean, law = cell.mean, task.inputs.exponents
    if mean is not None:
        error = Z95 * (cell.stderr or 0.0)
        row |= {"low": finite(max(mean - error, mean * 1e-3)), "high": finite(mean + error)}
    if law is not None:
        xi = rescaled_ratio(task.inputs, task.N, task.D)
        row |= {"xi": xi, "scale": finite(power(task.N, law.alpha_N))}
    return row


def _code(call: Call, task: Task) -> dict[str, str]:
    training, seeds, features = Training.of(call), call.size("seeds", 8), features_of(call)
    listed = {"N": call.text("sim_N"), "D": call.text("sim_D"), "seeds": seeds}
    further = training.python(trial=True)
    if features != "linear":
        listed["features"] = features
        further += f', features="{features}"'
    command = shell("simulate", **input_options(task.inputs), **listed, **training.options(trial=True))
    run = f"runs = sl.simulate(model, N={_sizes(call, 'N')}, D={_sizes(call, 'D')}, seeds={seeds}{further})"
    return code_of(command, input_python(task.inputs), run)
