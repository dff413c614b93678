"""Measures the loss on a grid of sizes: the convenient functions around sweeps."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparselaw.errors import InputError, check_size
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.solvers import Solver, as_solver
from sparselaw.sweeps.runs_table import row_of
from sparselaw.sweeps.sweep import run_sweep, stream
from sparselaw.trials.task import Estimator, Record, Task

if TYPE_CHECKING:
    import pandas as pd

MOST_TASKS = 500_000
_RUNNING = ("store", "workers", "scheduler", "retry")  # how trials are run; no part of what they are


def simulate(
    inputs: Inputs,
    N: int | Sequence[int],
    D: int | Sequence[int],
    *,
    seeds: int = 20,
    seed: int = 0,
    features: str = "linear",
    solver: Solver | str = "min-norm",
    noise: float = 0.0,
    estimator: Estimator = "exact",
    n_test: int = 50_000,
    outputs: int = 1,
    store: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    retry: bool = False,
) -> pd.DataFrame:
    """The loss at every (N, D) for every seed, one row a trial.

    Parameters
    ----------
    inputs : Inputs
        The law of the inputs, such as ``SparseInputs(alpha1=1.0, alpha2=0.3)``.
    N : int or sequence of int
        Model sizes: the number of features.
    D : int or sequence of int
        Data sizes: the number of samples.
    seeds : int
        Trials for each (N, D). Trial i of a cell has the seed ``seed + i``.
    seed : int
        The first seed. The same seed gives the same numbers whatever the number of workers.
    features : str
        The name of the features: "linear", "relu" and others, "trained", or your own.
    solver : Solver or str
        A record of settings (``Ridge(ridge=0.1)``), or the name of a solver that needs none ("min-norm",
        "nesterov").
    noise : float
        Variance of the label noise.
    estimator : {"exact", "raw"}
        "exact" averages in closed form over all that can be; "raw" is one teacher and one test set.
    n_test : int
        Samples of the test set of "raw".
    outputs : int
        Outputs m of ``features="trained"``; the loss is that of one of them.
    store : str or Path, optional
        A file where finished trials are kept. What it has is not run again.
    workers : int, optional
        Processes; all cores by default.
    scheduler : str, optional
        The address of a Dask scheduler whose workers take the place of processes here.
    retry : bool
        Run trials again that the store has as failed.

    Returns
    -------
    DataFrame
        Columns N, D, seed, loss, status and the settings. A trial that diverged is a row too.

    Raises
    ------
    InputError
        A setting that makes no sense, or a trial that does not fit in memory or would take a week. Nothing is
        run then.

    Examples
    --------
    >>> from sparselaw.inputs import SparseInputs
    >>> runs = simulate(SparseInputs(alpha1=1.0, alpha2=0.3), N=[4, 8], D=50, seeds=3, workers=1)
    >>> len(runs), set(runs["status"])
    (6, {'ok'})
    """
    tasks = grid(
        inputs, N, D, seeds=seeds, seed=seed, features=features, solver=solver, noise=noise,
        estimator=estimator, n_test=n_test, outputs=outputs,
    )  # fmt: skip
    records = run_sweep(tasks, store=store, workers=workers, scheduler=scheduler, retry=retry)
    return as_frame(zip(tasks, records, strict=True))


def simulate_stream(
    inputs: Inputs,
    N: int | Sequence[int],
    D: int | Sequence[int],
    *,
    stop: threading.Event | None = None,
    **settings: Any,
) -> Iterator[tuple[Task, Record]]:
    """The trials of ``simulate`` one by one as they finish, in no particular order.

    Parameters
    ----------
    inputs : Inputs
        The law of the inputs.
    N, D : int or sequence of int
        Model sizes and data sizes.
    stop : threading.Event, optional
        Setting it, from any thread, ends the stream within a second.
    **settings
        The other arguments of ``simulate``, with the same meaning.

    Returns
    -------
    generator of (Task, Record)
        Closing it ends the trials too. What is finished by then is in the store.

    Raises
    ------
    InputError
        As ``simulate`` does; by the call itself, before the first trial is asked for.

    Examples
    --------
    >>> from contextlib import closing
    >>> from sparselaw.inputs import SparseInputs
    >>> with closing(simulate_stream(SparseInputs(alpha1=1, alpha2=0.3), N=[4, 8], D=50, seeds=5)) as runs:
    ...     task, record = next(runs)
    >>> task.D, record.status
    (50, 'ok')
    """
    running = {name: settings.pop(name) for name in _RUNNING if name in settings}
    return stream(grid(inputs, N, D, **settings), stop=stop, **running)


def as_frame(results: Iterable[tuple[Task, Record]]) -> pd.DataFrame:
    """One row a trial, under the column names that runs have everywhere."""
    import pandas as pd

    return pd.DataFrame([row_of(task.identity(), record) for task, record in results])


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
