"""What to run next: the longest first, and short ones together.

The longest first, so that no worker is left with a minute of work when the others have none. Short ones
together, so that sending them costs little beside running them; but no batch is so long that the end of the
sweep waits for it. A task that might have killed its worker goes alone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Mapping

from sparselaw.sweeps.cost import Calibration

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
