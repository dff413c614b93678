"""The points of a log that carry its information: past the start of training, few, and with little noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.curves.law import Track, Units, track
from sparselaw.curves.logs import FLOOR, Log
from sparselaw.errors import InputError

WARM, EARLY = 2.0, 0.06  # left out: up to twice the tau of the warm-up, or 6 % of the last tau
EACH, ALL = 60, 600  # points of a run, and about as many of all of them
LEAST = 8  # of a run, however many runs
NOISY = 1e-3  # scatter above which neighbours are averaged rather than passed over
FEWEST = 8  # points of all runs together that a fit needs: it has five to seven parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """What is fitted: tracks, log losses, the noise of each point; ``short`` names runs without any."""

    tracks: tuple[Track, ...]
    log_loss: FloatArray
    white: FloatArray
    units: Units
    short: tuple[str, ...]


def make_points(logs: Sequence[Log]) -> Points:
    """Track ``i`` has the run number of its log. Raises where too little is left."""
    ends = [float(log.schedule.tau(log.last)) for log in logs]
    warm = max(float(log.schedule.tau(log.schedule.warmup)) for log in logs)
    start = max(WARM * warm, EARLY * max(ends))
    each = EACH if len(logs) * EACH <= ALL else max(LEAST, ALL // len(logs))
    tracks, values, noise, short = [], [], [], []
    for run, log in enumerate(logs):
        late = np.flatnonzero(log.schedule.tau(log.step) >= start)
        step, value, white = _few(log, late[late >= log.own], each)
        if step.size == 0:
            short.append(log.name)
            continue
        tracks.append(track(log.schedule, step, run, log.N if np.isfinite(log.N) else 1.0))
        values.append(value)
        noise.append(white)
    count = sum(v.size for v in values)
    if count < FEWEST:
        raise InputError(
            "curves", f"{count} points",
            f"are left after the start of training, fewer than the {FEWEST} that a fit needs",
            "log more often, or train longer than the warm-up",
        )  # fmt: skip
    tau = np.concatenate([t.tau for t in tracks])
    log_loss = np.concatenate(values)
    sizes = np.unique([t.N for t in tracks])
    units = Units(
        loss=float(np.exp(np.median(log_loss))),
        rate=max(log.schedule.peak for log in logs),
        tau=float(np.exp(np.mean(np.log(tau)))),
        last=float(tau.max()),
        N=float(np.exp(np.mean(np.log(sizes)))),
    )
    return Points(
        tracks=tuple(tracks), log_loss=log_loss, white=np.concatenate(noise), units=units, short=tuple(short)
    )


def _few(log: Log, rows: IntArray, most: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Half evenly in log step, half evenly in step; where noisy, means of all that lies between."""
    step, value = log.step[rows], np.log(log.loss[rows])
    if rows.size <= most:
        return step, value, np.full(rows.size, log.white)
    half = most // 2
    wanted = np.concatenate(
        [np.linspace(step[0], step[-1], half), np.geomspace(step[0], step[-1], most - half)]
    )
    if log.white <= NOISY:
        picked = np.unique(np.clip(np.searchsorted(step, wanted), 0, step.size - 1))
        return step[picked], value[picked], np.full(picked.size, log.white)
    edges = np.unique(np.concatenate([wanted, log.schedule.jumps()]))  # no mean across a jump of the rate
    bins = np.searchsorted(edges[1:-1], step, side="right")
    _, place, count = np.unique(bins, return_inverse=True, return_counts=True)
    means = [np.bincount(place, v) / count for v in (step, value)]
    # Smoothed neighbours share their noise: a mean of them is no better.
    left = log.white / np.sqrt(np.ones_like(count) if log.smoothed else count)
    return means[0], means[1], np.maximum(left, FLOOR)
