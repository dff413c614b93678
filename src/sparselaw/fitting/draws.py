"""Draws of the parameters: the fit again on rows, or whole groups of rows, drawn with replacement.

Every draw has its own random stream, so the draws are the same whatever the number of workers. Each fit
starts from the minima found on all rows. Of a table with more than ``LARGEST`` rows a sample of m rows is
resampled in place of all n, and the distance of a draw from the sample's own minimum is shrunk by sqrt(m/n):
the same standard deviation at a fraction of the cost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting.clean_runs import Runs
from sparselaw.fitting.design import Columns, Design
from sparselaw.fitting.minimise import Minimum, Objective, global_minimum, sample

Progress = Callable[[int, int], None]
CHUNK = 100
FEWEST_GROUPS = 3
LARGEST = 10_000
SAMPLE = 2000  # rows that stand for a larger table
MOST_TRIES = 50  # a draw that leaves too few distinct rows is drawn again, this often at most
SURELY_SHORT = 2000  # so many draws are begun without asking how long they take
LONGEST = 3600.0  # seconds; more is refused


def bootstrap(
    design: Design,
    objective: Objective,
    minimum: Minimum,
    *,
    draws: int,
    seed: int,
    group: IntArray | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> FloatArray:
    """(draws, p): theta for every resampled table."""
    units = design.rows if group is None else int(group.max()) + 1
    if group is not None and units < FEWEST_GROUPS:
        raise InputError(
            "group", units, f"fewer than {FEWEST_GROUPS} groups cannot be resampled",
            "resample by row: leave the group out",
        )  # fmt: skip
    if draws == 0:
        return np.empty((0, minimum.theta.size))
    if design.rows > LARGEST:
        rows, taken = sample(design.rows, SAMPLE), SAMPLE
        if group is not None:  # whole groups, of about as many rows
            taken = min(max(round(units * SAMPLE / design.rows), 30), units)
            rows = np.flatnonzero(np.isin(group, sample(units, taken)))
        if taken < units:
            few = design.take(rows)
            some = None if group is None else np.unique(group[rows], return_inverse=True)[1]
            centre = global_minimum(few, objective, starts=minimum.basins)
            drawn = bootstrap(
                few, objective, centre, draws=draws, seed=seed, group=some, workers=workers, progress=progress
            )
            theta: FloatArray = minimum.theta + math.sqrt(taken / units) * (drawn - centre.theta)
            return np.clip(theta, design.lower, design.upper)
    members = None
    if group is not None:  # the rows of every group
        order = np.argsort(group, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(group, minlength=units))[:-1])

    def one_chunk(part: range) -> FloatArray:
        drawn = [_draw(design, units, members, seed, b) for b in part]
        counts = np.array([np.bincount(rows, minlength=design.rows) for rows in drawn])
        return design.minimise_many(minimum.basins, objective, weights=counts.astype(np.float64))[0]

    if draws > SURELY_SHORT:
        begin = time.perf_counter()
        one_chunk(range(CHUNK))
        refuse_if_long((time.perf_counter() - begin) / (CHUNK * workers), draws)
    return in_chunks(one_chunk, draws, workers, progress)


def drawn_columns(
    design: Design,
    objective: Objective,
    minimum: Minimum,
    runs: Runs,
    *,
    draws: int,
    seed: int,
    workers: int = 1,
) -> Columns:
    """The law's own parameters at the minimum and in draws: none where groups are too few."""
    if runs.group is not None and int(runs.group.max()) + 1 < FEWEST_GROUPS:
        return design.columns(minimum.theta)
    drawn = bootstrap(design, objective, minimum, draws=draws, seed=seed, group=runs.group, workers=workers)
    return design.columns(minimum.theta, drawn)


def refuse_if_long(seconds: float, draws: int) -> None:
    """Refuse draws that take longer than anybody waits; ``seconds`` is the time of one."""
    if seconds * draws <= LONGEST:
        return
    hours = seconds * draws / 3600.0
    span = f"{hours:.3g} hours" if hours < 48 else f"{hours / 24:.3g} days"
    unit = 10.0 ** math.floor(math.log10(LONGEST / seconds))
    most = unit * math.floor(LONGEST / seconds / unit)
    raise InputError("bootstrap", draws, f"would take about {span}", f"choose bootstrap <= {most:g}")


def in_chunks(
    work: Callable[[range], FloatArray], draws: int, workers: int, progress: Progress | None = None
) -> FloatArray:
    """What ``work`` gives for all draws; chunks are worked on at the same time (numpy lets go of Python)."""
    chunks = [range(first, min(first + CHUNK, draws)) for first in range(0, draws, CHUNK)]
    found: list[FloatArray] = []
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        try:
            for part in pool.map(work, chunks) if workers > 1 else map(work, chunks):
                found.append(part)
                if progress is not None:
                    progress(sum(map(len, found)), draws)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return np.concatenate(found)


def stream(seed: int, *key: int) -> np.random.Generator:
    """A random stream of its own for every key."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def _draw(design: Design, units: int, members: Sequence[IntArray] | None, seed: int, b: int) -> IntArray:
    """The rows of draw b. Drawn again while they are too few, or do not tell every parameter."""
    generator = stream(seed, 0, b)
    for _ in range(MOST_TRIES):
        chosen = generator.integers(0, units, units)
        rows = chosen if members is None else np.concatenate([members[u] for u in chosen])
        distinct = np.unique(rows)
        if distinct.size > design.free and design.carries(distinct):
            return rows
    return np.arange(design.rows)
