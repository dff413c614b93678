"""How long a task will take, roughly: only the order and the batches depend on it, never an answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import replace
from functools import lru_cache
from statistics import median

from sparselaw.trials.run import needs_of
from sparselaw.trials.task import Task

_REMEMBERED = 31


def cost_of(task: Task) -> float:
    """Estimated seconds."""
    return _cost_of_cell(replace(task, seed=0))


@lru_cache(maxsize=65536)
def _cost_of_cell(task: Task) -> float:
    return needs_of(task).seconds


class Calibration:
    """Measured seconds per estimated second, for each kind of task: the median of the last few."""

    def __init__(self) -> None:
        self._ratios: dict[Hashable, deque[float]] = {}

    def learn(self, kind: Hashable, estimated: float, measured: float) -> None:
        self._ratios.setdefault(kind, deque(maxlen=_REMEMBERED)).append(measured / estimated)

    def ratio(self, kind: Hashable) -> float | None:
        """None where nothing of this kind has been measured."""
        ratios = self._ratios.get(kind)
        return median(ratios) if ratios else None


def kind_of(task: Task) -> Hashable:
    """Tasks of one kind share the error of the estimate."""
    return type(task.inputs), task.features, type(task.solver), task.estimator
