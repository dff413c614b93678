"""The rows of one run as they come: what is overwritten after a restart, averaged where a log grows long."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sparselaw.arrays import FloatArray

ROOM = 4_000  # rows of a run; at twice as many, neighbours are averaged
STEP, RATE, LOSS, SIZE, DATA, BATCH = range(6)  # columns of the rows


@dataclass(slots=True)
class RunRows:
    """Rows of step, rate, loss, N, D and batch, with NaN for an empty cell. Steps only grow.

    >>> run = RunRows("a")
    >>> run.add(np.array([[1, 1, 3.0, 0, 0, 0], [2, 1, 2.5, 0, 0, 0], [2, 1, 2.4, 0, 0, 0]]))
    >>> run.rows[:, LOSS], run.restarts
    (array([3. , 2.4]), 0)
    """

    name: str
    means: FloatArray = field(default_factory=lambda: np.empty((0, 6)))
    rest: FloatArray = field(default_factory=lambda: np.empty((0, 6)))  # not in a mean yet
    averaged: int = 1  # logged rows in each mean
    restarts: int = 0
    lost: int = 0  # rows with a step and no loss that can be used
    batches: set[float] = field(default_factory=set)

    def add(self, new: FloatArray) -> None:
        """More rows; where steps go back, what came before from there on is replaced."""
        new = new[np.isfinite(new[:, STEP]) & (new[:, STEP] >= 0.0)].astype(np.float64)
        loss, rate = new[:, LOSS], new[:, RATE]
        bad = ~np.isfinite(loss) | (loss <= 0.0)
        loss[bad] = np.nan
        self.lost += int(np.count_nonzero(bad))
        if len(self.batches) < 10:
            self.batches |= set(np.unique(new[np.isfinite(new[:, BATCH]), BATCH])[:10].tolist())
        rate[~np.isfinite(rate)] = np.nan
        back = np.flatnonzero(np.diff(new[:, STEP]) < 0.0) + 1
        for part in np.split(new, back) if len(new) else ():
            last = self.rows[-1, STEP] if len(self.means) or len(self.rest) else -1.0
            if part[0, STEP] <= last:
                self.restarts += int(part[0, STEP] < last)
                self.means = self.means[self.means[:, STEP] < part[0, STEP]]
                self.rest = self.rest[self.rest[:, STEP] < part[0, STEP]]
            kept = part[np.append(np.diff(part[:, STEP]) > 0.0, True)]  # a step logged twice: the last counts
            self._take(np.concatenate([self.rest, kept]))

    @property
    def rows(self) -> FloatArray:
        """All of them so far."""
        return (
            np.concatenate([self.means, _means(self.rest, max(1, len(self.rest)))])
            if len(self.rest)
            else self.means
        )

    def _take(self, logged: FloatArray) -> None:
        whole = len(logged) // self.averaged * self.averaged
        self.means = np.concatenate([self.means, _means(logged[:whole], self.averaged)])
        self.rest = logged[whole:]
        while len(self.means) > 2 * ROOM:
            even = len(self.means) // 2 * 2
            self.means = np.concatenate([_means(self.means[:even], 2), self.means[even:]])
            self.averaged *= 2


def _means(rows: FloatArray, count: int) -> FloatArray:
    """Of every ``count`` rows; empty cells do not count."""
    parts = rows.reshape(-1, count, rows.shape[1])
    there = np.isfinite(parts)
    number = there.sum(axis=1)
    total = np.where(there, parts, 0.0).sum(axis=1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)
