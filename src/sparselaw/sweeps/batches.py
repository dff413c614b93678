"""What to run next: the longest first, and short ones together.

The longest first, so that no worker is left with a minute of work when the others have none. Short ones
together, so that sending them costs little beside running them; but no batch is so long that the end of the
sweep waits for it. A task that might have killed its worker goes alone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import lru_cache
from statistics import median

from sparselaw.trials.run import needs_of
from sparselaw.trials.task import Task

LONGEST_BATCH = 0.25  # seconds
MOST_IN_BATCH = 500
_SHARE = 4  # at the end of the sweep each worker still gets about this many batches


class Pending:
    """The tasks (numbered) that wait for a worker, with their estimated seconds and kinds."""

    def __init__(self, costs: Mapping[int, float], kinds: Mapping[int, Hashable]) -> None:
        self._costs, self._kinds = costs, kinds
        self._queue = deque(sorted(costs, key=lambda index: (-costs[index], index)))
        self._alone: deque[int] = deque()
        self._left: Counter[Hashable] = Counter()  # estimated seconds waiting, by kind
        for index, seconds in costs.items():
            self._left[kinds[index]] += seconds  # type: ignore[assignment]
        self.calibration = Calibration()

    def __len__(self) -> int:
        return len(self._queue) + len(self._alone)

    def learn(self, index: int, seconds: float) -> None:
        self.calibration.learn(self._kinds[index], self._costs[index], seconds)

    def put_back_alone(self, index: int) -> None:
        """Wait again, for a batch of its own."""
        self._alone.append(index)

    def next_batch(self, workers: int) -> list[int]:
        """Take the tasks for one worker: those that fill a batch, or one that is longer than a batch."""
        if self._alone:
            return [self._alone.popleft()]
        left = sum(seconds * self._ratio(kind) for kind, seconds in self._left.items())
        room = min(LONGEST_BATCH, left / (_SHARE * workers))
        batch: list[int] = []
        while self._queue and len(batch) < MOST_IN_BATCH:
            index = self._queue[0]
            kind = self._kinds[index]
            room -= self._costs[index] * self._ratio(kind)
            unknown = self.calibration.ratio(kind) is None  # its estimate may be far too low
            if batch and (room < 0 or unknown):
                break
            batch.append(self._queue.popleft())
            self._left[kind] -= self._costs[index]  # type: ignore[assignment]
        return batch

    def _ratio(self, kind: Hashable) -> float:
        return self.calibration.ratio(kind) or 1.0


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
