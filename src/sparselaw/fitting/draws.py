"""Draws of the parameters: the fit again on rows, or whole groups of rows, drawn with replacement.

Every draw has its own random stream, so the draws are the same whatever the number of workers. Each fit
starts from the minima found on all rows. Of a table with more than ``LARGEST`` rows a sample of m rows is
resampled in place of all n, and the distance of a draw from the sample's own minimum is shrunk by sqrt(m/n):
the same standard deviation at a fraction of the cost.

The envelope is a law for the best runs. Sweeps over learning rates hold bad runs, and only the lower edge of
the losses is what a well-tuned run reaches. Its objective is Huber's with weight q = 0.1 for a run above the
law and 1 - q for one below: with a small delta the law runs at the lowest tenth of the runs (quantile
regression). Huber's objective is flat at zero, so its gradient is that of a fit with the weights held fixed;
they are set again until no run changes sides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting.clean_runs import Runs
from sparselaw.fitting.design import Design
from sparselaw.fitting.minimise import Minimum, Objective, global_minimum, misfit, sample

Progress = Callable[[int, int], None]
CHUNK = 100
FEWEST_GROUPS = 3
LARGEST = 10_000
SAMPLE = 2000  # rows that stand for a larger table
MOST_TRIES = 50  # a draw that leaves too few distinct rows is drawn again, this often at most
SURELY_SHORT = 2000  # so many draws are begun without asking how long they take
LONGEST = 3600.0  # seconds; more is refused
BELOW = 0.1  # the part of the runs that lies below an envelope
MOST_ROUNDS = 40


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

    def one_chunk(first: int) -> FloatArray:
        last = min(first + CHUNK, draws)
        drawn = [_draw(design, units, members, seed, b) for b in range(first, last)]
        counts = np.array([np.bincount(rows, minlength=design.rows) for rows in drawn])
        return design.minimise_many(minimum.basins, objective, weights=counts.astype(np.float64))[0]

    if draws > SURELY_SHORT:
        begin = time.perf_counter()
        one_chunk(0)
        refuse_if_long((time.perf_counter() - begin) / (CHUNK * workers), draws)
    found: list[FloatArray] = []
    done = 0
    for part in in_order(one_chunk, range(0, draws, CHUNK), workers):
        found.append(part)
        done += len(part)
        if progress is not None:
            progress(done, draws)
    return np.vstack(found)


def natural_draws(
    design: Design,
    objective: Objective,
    minimum: Minimum,
    runs: Runs,
    *,
    draws: int,
    seed: int,
    workers: int = 1,
) -> tuple[FloatArray, FloatArray]:
    """The law's own parameters at the minimum (p,) and of draws (draws, p): none where groups are too few."""
    if runs.group is not None and int(runs.group.max()) + 1 < FEWEST_GROUPS:
        draws = 0
    drawn = bootstrap(design, objective, minimum, draws=draws, seed=seed, group=runs.group, workers=workers)
    return design.natural(minimum.theta), design.natural(drawn)


def refuse_if_long(seconds: float, draws: int) -> None:
    """Refuse draws that take longer than anybody waits; ``seconds`` is the time of one."""
    if seconds * draws <= LONGEST:
        return
    hours = seconds * draws / 3600.0
    span = f"{hours:.3g} hours" if hours < 48 else f"{hours / 24:.3g} days"
    unit = 10.0 ** math.floor(math.log10(LONGEST / seconds))
    most = unit * math.floor(LONGEST / seconds / unit)
    raise InputError("bootstrap", draws, f"would take about {span}", f"choose bootstrap <= {most:g}")


def in_order(work: Callable[[int], FloatArray], starts: range, workers: int) -> Iterator[FloatArray]:
    """The chunks one after another; worked on at the same time (numpy lets go of the interpreter)."""
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


def envelope_minimum(design: Design, objective: Objective) -> Minimum:
    """From the fit to all runs downwards."""
    minimum = global_minimum(design, objective)
    theta, value = _downwards(design, objective, minimum.theta, np.ones(design.rows))
    return replace(minimum, theta=theta, value=value * objective.unit, basins=theta[None, :])


def envelope_draws(
    design: Design, objective: Objective, minimum: Minimum, group: IntArray | None, draws: int, seed: int
) -> FloatArray:
    """(draws, p): the same for rows, or whole groups, drawn with replacement."""
    units = np.arange(design.rows) if group is None else group
    count = int(units.max()) + 1
    found = []
    for b in range(draws):
        drawn = np.bincount(stream(seed, 0, b).integers(0, count, count), minlength=count)
        counts = drawn[units].astype(np.float64)
        found.append(_downwards(design, objective, minimum.theta, counts)[0])
    return np.array(found) if found else np.empty((0, minimum.theta.size))


def asymmetric(design: Design, objective: Objective, theta: FloatArray, counts: FloatArray) -> float:
    """The objective of an envelope, in the minimiser's unit."""
    residuals = design.residuals(theta)
    z = (residuals * design.inverse_scale)[None, :]
    return float(misfit(z, counts * _sides(residuals), objective.delta)[0])


def _downwards(
    design: Design, objective: Objective, theta: FloatArray, counts: FloatArray
) -> tuple[FloatArray, float]:
    best, lowest = theta, asymmetric(design, objective, theta, counts)
    for _ in range(MOST_ROUNDS):
        weights = counts * _sides(design.residuals(theta))
        theta = design.minimise_many(theta[None, :], objective, weights=weights[None, :])[0][0]
        value = asymmetric(design, objective, theta, counts)
        if value >= lowest * (1.0 - 1e-9):
            break
        best, lowest = theta, value
    return best, lowest


def _sides(residuals: FloatArray) -> FloatArray:
    """The weight of a run by the side of the law it lies on."""
    return np.where(residuals > 0.0, BELOW, 1.0 - BELOW)
