"""Draws of the parameters: the fit again on rows, or whole groups of rows, drawn with replacement.

Every draw has its own random stream, so the draws are the same whatever the number of workers. Each fit
starts from the minima found on all rows. Above ``LARGEST_POLISH_ROWS`` rows a draw takes m of the n rows, and
its distance from the full fit is shrunk by sqrt(m/n): the same spread at a fraction of the cost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting.design import Design
from sparselaw.fitting.objectives import Objective
from sparselaw.fitting.solve import LARGEST_POLISH_ROWS, Minimum

Progress = Callable[[int, int], None]
CHUNK = 100
FEWEST_GROUPS = 3
DRAW_ROWS = 4000  # about how many rows a draw takes from a table too large to be drawn in full
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
    taken = _units_per_draw(design.rows, units)
    members = None if group is None else _members(group, units)

    def one_chunk(first: int) -> FloatArray:
        last = min(first + CHUNK, draws)
        drawn = [_draw(design, units, taken, members, seed, b) for b in range(first, last)]
        if taken == units:
            counts = np.array([np.bincount(rows, minlength=design.rows) for rows in drawn])
            return design.minimise_many(minimum.basins, objective, weights=counts.astype(np.float64))[0]
        found = [design.take(rows).minimise_many(minimum.basins[:1], objective)[0] for rows in drawn]
        theta: FloatArray = minimum.theta + math.sqrt(taken / units) * (np.vstack(found) - minimum.theta)
        return np.clip(theta, design.lower, design.upper)

    if draws > SURELY_SHORT:
        one_chunk(0)  # compiled, and in the cache of the processor
        refuse_if_long(_seconds(lambda: one_chunk(0)) / (CHUNK * workers), draws)
    found: list[FloatArray] = []
    done = 0
    for part in in_order(one_chunk, range(0, draws, CHUNK), workers):
        found.append(part)
        done += len(part)
        if progress is not None:
            progress(done, draws)
    return np.vstack(found) if found else np.empty((0, minimum.theta.size))


def refuse_if_long(seconds: float, draws: int) -> None:
    """Refuse draws that take longer than anybody waits; ``seconds`` is the time of one."""
    if seconds * draws <= LONGEST:
        return
    hours = seconds * draws / 3600.0
    span = f"{hours:.3g} hours" if hours < 48 else f"{hours / 24:.3g} days"
    unit = 10.0 ** math.floor(math.log10(LONGEST / seconds))
    most = unit * math.floor(LONGEST / seconds / unit)
    raise InputError("bootstrap", draws, f"would take about {span}", f"choose bootstrap <= {most:g}")


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def in_order(work: Callable[[int], FloatArray], starts: range, workers: int) -> Iterator[FloatArray]:
    """The chunks one after another; worked on at the same time (the minimiser lets go of the interpreter)."""
    if workers <= 1:
        yield from map(work, starts)
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(work, starts)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def stream(seed: int, *key: int) -> np.random.Generator:
    """A random stream of its own for every key."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def _units_per_draw(rows: int, units: int) -> int:
    if rows <= LARGEST_POLISH_ROWS:
        return units
    fewer = round(units * DRAW_ROWS / rows)
    return fewer if fewer >= 30 else units


def _members(group: IntArray, units: int) -> list[IntArray]:
    """The rows of every group."""
    order = np.argsort(group, kind="stable")
    return np.split(order, np.cumsum(np.bincount(group, minlength=units))[:-1])


def _draw(
    design: Design, units: int, taken: int, members: list[IntArray] | None, seed: int, b: int
) -> IntArray:
    """The rows of draw b. Drawn again while they cannot carry the law."""
    generator = stream(seed, 0, b)
    for _ in range(MOST_TRIES):
        chosen = generator.integers(0, units, taken)
        rows = chosen if members is None else np.concatenate([members[u] for u in chosen])
        if _carries(design, rows):
            return rows
    return np.arange(design.rows)


def _carries(design: Design, rows: IntArray) -> bool:
    """More distinct rows than parameters, and enough to tell every parameter."""
    distinct = np.unique(rows)
    return distinct.size > design.free and design.carries(distinct)
