"""What to run next: the longest first, and short ones together.

The longest first, so that no worker is left with a minute of work when the others have none. Short ones
together, so that sending them costs little beside running them; but no batch is so long that the end of the
sweep waits for it. A task that might have killed its worker goes alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from statistics import median

from sparselaw.trials.run import needs_of
from sparselaw.trials.task import Task

LONGEST_BATCH = 0.25  # seconds
MOST_IN_BATCH = 500
_SHARE = 4  # at the end of the sweep each worker still gets about this many batches
_REMEMBERED = 31  # tasks whose measured time corrects the estimates


class Pending:
    """The tasks (numbered) that wait for a worker, with their estimated seconds."""

    def __init__(self, costs: Mapping[int, float]) -> None:
        self._costs = costs
        self._queue = deque(sorted(costs, key=lambda index: (-costs[index], index)))
        self._alone: deque[int] = deque()
        self._left = sum(costs.values())  # estimated seconds waiting
        self._ratios: deque[float] = deque(maxlen=_REMEMBERED)  # measured over estimated

    def __len__(self) -> int:
        return len(self._queue) + len(self._alone)

    def learn(self, index: int, seconds: float) -> None:
        """Note how long a task took; the estimates of the others are corrected by it."""
        self._ratios.append(seconds / self._costs[index])

    def put_back_alone(self, index: int) -> None:
        """Put a task back into the queue, to be run in a batch of its own."""
        self._alone.append(index)

    def next_batch(self, workers: int) -> list[int]:
        """Take the tasks for one worker: those that fill a batch, or one that is longer than a batch."""
        if self._alone:
            return [self._alone.popleft()]
        if not self._ratios:  # nothing was measured yet: an estimate may be far too low
            return self._take(1)
        ratio = median(self._ratios)
        room = min(LONGEST_BATCH, ratio * self._left / (_SHARE * workers))
        count = 0
        for index in islice(self._queue, MOST_IN_BATCH):
            room -= ratio * self._costs[index]
            if room < 0.0:
                break
            count += 1
        return self._take(max(count, 1))

    def _take(self, count: int) -> list[int]:
        batch = [self._queue.popleft() for _ in range(min(count, len(self._queue)))]
        self._left -= sum(self._costs[index] for index in batch)
        return batch


def cost_of(task: Task) -> float:
    """The estimated seconds of one task."""
    return _cost_of_cell(replace(task, seed=0))


@lru_cache(maxsize=65536)
def _cost_of_cell(task: Task) -> float:
    return needs_of(task).seconds
