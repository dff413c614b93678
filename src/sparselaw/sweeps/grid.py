"""A study: every size of model and of data, each with several seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sparselaw.errors import InputError, check_size
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.solvers import Solver, as_solver
from sparselaw.trials.task import Task

MOST_TASKS = 500_000


def grid(
    inputs: Inputs,
    N: int | Sequence[int],
    D: int | Sequence[int],
    *,
    seeds: int = 20,
    seed: int = 0,
    solver: Solver | str = "min-norm",
    **settings: Any,
) -> list[Task]:
    """The tasks of a study, N outermost and seed innermost; ``settings`` are further fields of a task.

    >>> from sparselaw.inputs import SparseInputs
    >>> tasks = grid(SparseInputs(alpha1=1, alpha2=0.3), N=[4, 8], D=100, seeds=2, seed=7)
    >>> [(task.N, task.D, task.seed) for task in tasks]
    [(4, 100, 7), (4, 100, 8), (8, 100, 7), (8, 100, 8)]
    """
    check_inputs(inputs)
    named = as_solver(solver)
    widths, samples, count = _sizes("N", N), _sizes("D", D), check_size("seeds", seeds)
    total = len(widths) * len(samples) * count
    if total > MOST_TASKS:
        raise InputError("seeds", count, f"makes {total:.3g} runs", f"ask for at most {MOST_TASKS:,} at once")
    return [
        Task(inputs=inputs, N=n, D=d, seed=seed + i, solver=named, **settings)
        for n in widths
        for d in samples
        for i in range(count)
    ]


def _sizes(name: str, value: int | Sequence[int]) -> list[int]:
    if isinstance(value, str):
        raise InputError(name, value, "is text", f"give a number or a list of numbers for {name}")
    return [check_size(name, item) for item in (value if isinstance(value, Iterable) else [value])]
