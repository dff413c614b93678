"""A study: every size of model and of data, each with several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparselaw.errors import check_size
from sparselaw.problem import Problem
from sparselaw.task import Task


def grid(
    problem: Problem, *, N: Sequence[int], D: Sequence[int], seeds: int = 1, seed: int = 0, **settings: Any
) -> list[Task]:
    """The tasks of a study, N outermost and seed innermost; ``settings`` are further fields of a task.

    >>> from sparselaw.problem import SparseInputs
    >>> tasks = grid(SparseInputs(alpha1=1, alpha2=0.3), N=[4, 8], D=[100], seeds=2, seed=7)
    >>> [(task.N, task.D, task.seed) for task in tasks]
    [(4, 100, 7), (4, 100, 8), (8, 100, 7), (8, 100, 8)]
    """
    count = check_size("seeds", seeds)
    return [
        Task(problem=problem, N=n, D=d, seed=s, **settings)
        for n in N
        for d in D
        for s in range(seed, seed + count)
    ]
