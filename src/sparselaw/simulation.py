"""Measures the loss on a grid of sizes: the convenient function around trials, in one process."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sparselaw import trial
from sparselaw.errors import InputError, check_size
from sparselaw.problem import DenseInputs, Problem, SparseInputs
from sparselaw.solvers.settings import MinNorm, Nesterov, Ridge, SolverSettings
from sparselaw.task import Estimator, Features, Record, Task

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    model: Problem,
    N: int | Sequence[int],
    D: int | Sequence[int],
    *,
    seeds: int = 20,
    seed: int = 0,
    features: Features = "linear",
    solver: SolverSettings | str = "min-norm",
    noise: float = 0.0,
    estimator: Estimator = "exact",
    n_test: int = 50_000,
) -> pd.DataFrame:
    """The loss at every (N, D) for every seed, one row a trial.

    ``solver`` is a record of settings (``Ridge(ridge=0.1)``) or the name of one that needs none ("min-norm",
    "nesterov"). Trial i of a cell has the seed ``seed + i``.
    """
    tasks = grid(
        model, N, D, seeds=seeds, seed=seed, features=features, solver=solver, noise=noise,
        estimator=estimator, n_test=n_test,
    )  # fmt: skip
    return as_frame(run_tasks(tasks))


def grid(
    model: Problem,
    N: int | Sequence[int],
    D: int | Sequence[int],
    *,
    seeds: int = 20,
    seed: int = 0,
    solver: SolverSettings | str = "min-norm",
    **settings: Any,
) -> list[Task]:
    """The tasks of a grid: for each N, each D, each seed."""
    settings["solver"] = _settings_of(solver)
    return [
        Task(problem=model, N=n, D=d, seed=seed + i, **settings)
        for n in _sizes("N", N)
        for d in _sizes("D", D)
        for i in range(check_size("seeds", seeds))
    ]


def run_tasks(tasks: Iterable[Task]) -> Iterator[tuple[Task, Record]]:
    """The records as they are finished."""
    for task in tasks:
        yield task, trial.run(task)


def as_frame(results: Iterable[tuple[Task, Record]]) -> pd.DataFrame:
    """One row a trial."""
    import pandas as pd

    return pd.DataFrame([as_row(task, record) for task, record in results])


def as_row(task: Task, record: Record) -> dict[str, Any]:
    """A trial as plain values, under the column names that runs have everywhere."""
    sparse = isinstance(task.problem, SparseInputs)
    return {
        "N": task.N,
        "D": task.D,
        "loss": record.loss,
        "seed": task.seed,
        "inputs": "sparse" if sparse else "dense",
        "features": task.features,
        "solver": task.solver.name,
        "alpha1": getattr(task.problem, "alpha1", math.nan),
        "alpha2": getattr(task.problem, "alpha2", math.nan),
        "alpha": getattr(task.problem, "alpha", math.nan),
        "dimension": task.problem.dimension,
        "status": record.status,
        "reason": record.reason,
        "noise": task.noise,
        "ridge": _ridge_of(task.solver),
        "estimator": task.estimator,
        "averaged": "+".join(record.averaged),
        **{
            name: getattr(record, name)
            for name in (
                "control", "control_mean", "seen", "rank", "iterations", "restarts", "gradient"
            )
        },
    }  # fmt: skip


def theory_loss(problem: Problem, N: int, D: int, ridge: float | None, noise: float) -> float | None:
    """The closed-form surface at (N, D), or None; ``ridge`` None means neither ridge nor min-norm."""
    del problem, N, D, ridge, noise
    return None


def problem_of(row: Mapping[Any, Any]) -> Problem:
    """The problem that a row of runs describes."""
    if row["inputs"] == "dense":
        return DenseInputs(alpha=row["alpha"], dimension=row["dimension"])
    return SparseInputs(alpha1=row["alpha1"], alpha2=row["alpha2"], dimension=row["dimension"])


def _sizes(name: str, value: int | Sequence[int]) -> list[int]:
    if isinstance(value, str):
        raise InputError(name, value, "is text", f"give a number or a list of numbers for {name}")
    return [check_size(name, item) for item in (value if isinstance(value, Iterable) else [value])]


def _settings_of(solver: SolverSettings | str) -> SolverSettings:
    if not isinstance(solver, str):
        return solver
    named: dict[str, SolverSettings] = {"min-norm": MinNorm(), "nesterov": Nesterov()}
    if solver not in named:
        remedy = "give min-norm, nesterov, or a record such as Ridge(ridge=0.1)"
        raise InputError("solver", solver, "is not a solver that needs no settings", remedy)
    return named[solver]


def _ridge_of(solver: SolverSettings) -> float | None:
    if isinstance(solver, MinNorm):
        return 0.0
    return solver.ridge if isinstance(solver, Ridge) else None
