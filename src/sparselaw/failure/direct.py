"""Direct sampling: draw data sets, count those whose largest eigenvalue is above the threshold.

The loop over data sets is compiled; it stops at the failure that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.compiled import njit
from sparselaw.failure.divergence import exceeds
from sparselaw.failure.draw import DataLaw, Space, add_rare, draw_common, draw_rare, work_space
from sparselaw.failure.entries import Entries
from sparselaw.failure.timing import data_sets_at_a_time
from sparselaw.interrupts import ctrl_c_kept
from sparselaw.interval import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Data sets drawn, those that failed, and those that held a spike."""

    replicates: int
    failures: int
    spikes: int


def sample_directly(
    law: DataLaw,
    threshold: float,
    rng: np.random.Generator,
    *,
    replicates: int,
    failures: int,
    progress: Callable[[int, float, int], None] | None = None,
) -> Counts:
    """Draw until ``failures`` are seen, and no more than ``replicates`` data sets.

    ``progress`` is told the data sets drawn, how many it may become, and the failures among them.
    The last data set drawn is the one that reached ``failures``: the interval of :func:`binomial_interval`
    then covers at least as often as it says.
    """
    space = work_space(law, float(law.active.sum()))
    done = failed = spikes = 0
    at_a_time = data_sets_at_a_time(law)
    while done < replicates and failed < failures:
        todo = min(at_a_time, replicates - done)
        stop = min(failures - failed, todo + 1)  # a whole number of the machine; beyond todo is never
        with ctrl_c_kept():
            drawn, bad, spiked = count_failures(rng, law, space, threshold * law.D, todo, stop)
        done, failed, spikes = done + drawn, failed + bad, spikes + spiked
        if progress is not None:
            all_of_them = done * failures >= replicates * failed
            progress(done, replicates if all_of_them else done * failures / failed, failed)
    return Counts(replicates=done, failures=failed, spikes=spikes)


@njit()
def count_failures(  # type: ignore[no-untyped-def]
    rng: np.random.Generator, law: DataLaw, space: Space, T: float, replicates: int, stop: int
):
    """Data sets drawn, failures and spikes; stops after ``stop`` failures."""
    room, common = len(space.sample), len(law.active)
    common_count = np.zeros(common, np.int64)
    failed = spikes = 0
    for drawn in range(replicates):
        size = np.int64(0)  # a plain 0 would be a type of its own, and all below compiled twice
        spiked = False
        for k in range(common):
            half = 0.5 * law.active[k]
            before = size
            size, _, _ = draw_common(rng, law.D, k, half, half, space, size, room)
            common_count[k] = size - before
            spiked = spiked or (size > before and k + 2 > law.spike_index)
        j, i = draw_rare(rng, law.D, law.rare)
        for e in range(len(j)):
            spiked = spiked or j[e] > law.spike_index
        bad = spiked  # c_j > T alone on the diagonal: no matrix is needed
        if not spiked:
            size, squared, count, _ = add_rare(
                rng, j, i, law.growth, space, size, room, law.squared, common_count
            )
            data = Entries(size, law.D, space.sample, space.coordinate, space.sign, squared, count)
            bad = exceeds(data, T, space.first, space.singles)
        spikes += spiked
        failed += bad
        if failed == stop:
            return drawn + 1, failed, spikes
    return replicates, failed, spikes


def binomial_interval(failures: int, replicates: int) -> Interval:
    """Clopper and Pearson's exact 95 % interval; [0, 1] where nothing was drawn.

    >>> print(binomial_interval(1, 3000))
    0.0003333 [8.439e-06, 0.001856]
    """
    from scipy.special import betaincinv

    if replicates == 0:
        return Interval(0.0, 0.0, 1.0)
    rest = replicates - failures
    low = float(betaincinv(failures, rest + 1, 0.025)) if failures else 0.0
    high = float(betaincinv(failures + 1, rest, 0.975)) if rest else 1.0
    return Interval(low, failures / replicates, high)
