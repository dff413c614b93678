"""Order and batches: longest first, short ones together, nothing lost."""

from __future__ import annotations

import heapq
import random

import pytest

from sparselaw.solvers import SGD, Nesterov
from sparselaw.sweeps.simulate import grid
from sparselaw.sweeps.sweep import LONGEST_BATCH, MOST_IN_BATCH, Pending, cost_of
from sweeps import functions


def waiting(costs):
    return Pending(dict(enumerate(costs)))


def simulate(true_seconds, estimates, workers, overhead=0.002):
    """Wall time of a sweep on ideal workers, and the number of batches."""
    pending = waiting(estimates)
    free = [(0.0, worker) for worker in range(workers)]
    finishing: list = []
    seen: list[int] = []
    batches, clock = 0, 0.0
    while pending or finishing:
        while pending and free:
            _, worker = heapq.heappop(free)
            batch = pending.next_batch(workers)
            assert batch
            batches += 1
            seen += batch
            end = clock + overhead + sum(true_seconds[index] for index in batch)
            heapq.heappush(finishing, (end, worker, batch))
        clock, worker, batch = heapq.heappop(finishing)
        for index in batch:
            pending.learn(index, true_seconds[index])
        heapq.heappush(free, (clock, worker))
    assert sorted(seen) == list(range(len(estimates)))
    return clock, batches


@pytest.mark.parametrize("wrong_by", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("workers", [2, 8])
def test_short_and_long_tasks_keep_all_workers_busy(wrong_by, workers):
    # 5000 cells of about a millisecond and 12 of a minute, with estimates wrong by a common factor.
    rng = random.Random(3)
    true = [rng.uniform(0.5, 2) * 1e-3 for _ in range(5000)] + [60.0] * 12
    rng.shuffle(true)
    wall, batches = simulate(true, [second * wrong_by for second in true], workers)
    ideal = max(sum(true) / workers, 60.0 * -(-12 // workers))
    assert wall < 1.05 * ideal
    assert batches < 500


def test_shortest_first_would_not():
    """The test above can fail: the opposite order leaves a worker alone with a long task."""
    true = [1e-3] * 5000 + [60.0]
    wall, _ = simulate(true, [1 / second for second in true], 2)
    assert wall > 1.03 * 60.0
    assert simulate(true, true, 2)[0] < 1.01 * 60.0


def test_batches_are_bounded():
    costs = [1e-6] * 100_000
    pending = waiting(costs)
    assert len(pending.next_batch(1)) == 1  # nothing is known yet
    pending.learn(0, 1e-6)
    assert len(pending.next_batch(1)) == MOST_IN_BATCH
    pending.learn(0, 1e-3)
    pending.learn(0, 1e-3)
    assert sum(1e-3 for _ in pending.next_batch(1)) <= LONGEST_BATCH


def test_a_suspect_goes_alone_and_first():
    pending = waiting([1.0, 1.0, 1.0])
    pending.next_batch(1)
    pending.put_back_alone(0)
    assert len(pending) == 3
    assert pending.next_batch(1) == [0]


def test_cost_grows_with_sizes_and_work():
    def cost(N, D, **settings):
        return cost_of(grid(functions.INPUTS, N=[N], D=[D], **settings)[0])

    assert cost(4, 100) < cost(400, 100_000) < cost(4000, 1_000_000)
    assert cost(64, 10_000) < cost(64, 10_000, features="relu")
    assert cost(64, 10_000) < cost(64, 10_000, solver=SGD(passes=10))
    assert cost(64, 10_000) < cost(64, 10_000, solver=Nesterov())
