"""The failure probability along D, each point by the method that suits it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sparselaw.errors import InputError, check_finite, check_size
from sparselaw.failure.direct import Counts, binomial_interval, sample_directly
from sparselaw.failure.draw import MOST_NONZEROS, data_law, mean_nonzeros
from sparselaw.failure.importance.probability import Weighted, sample_by_importance
from sparselaw.failure.importance.proposal import bulk_proposal
from sparselaw.failure.record import FailurePoint
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval
from sparselaw.theory.failure_law import spike_index, spike_probability

METHODS = ("auto", "direct", "importance", "exact-spike")
PILOT_WORK = 4e7  # nonzeros drawn to choose the method, about a second
PILOT_FAILURES = 20  # as many in the pilot: direct sampling goes on
Progress = Callable[[int, str, int, int], None]  # D, method, data sets drawn, failures among them


def failure_probability(
    model: SparseInputs,
    D: int | Sequence[int],
    threshold: float,
    *,
    method: str = "auto",
    relative_error: float = 0.1,
    failures: int | None = None,
    replicates: int = 200_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[FailurePoint]:
    """P(lambda_max(X X^T / D) > threshold) for each D, with intervals.

    ``threshold`` is 2 / step size. Sampling stops at ``failures`` (effective) failures if given, else at the
    relative standard error asked for, and in any case after ``replicates`` data sets.

    >>> point, = failure_probability(SparseInputs(alpha1=1.5, alpha2=-2.0), D=100, threshold=2.0)
    >>> point.method, round(point.spike, 4), point.probability.contains(0.024)
    ('direct', 0.0232, True)
    """
    return list(
        failure_points(
            model,
            [D] if isinstance(D, (int, float)) else D,
            threshold,
            method=method,
            relative_error=relative_error,
            failures=failures,
            replicates=replicates,
            seed=seed,
            progress=progress,
        )
    )


def failure_points(
    model: SparseInputs,
    D: Sequence[int],
    threshold: float,
    *,
    method: str = "auto",
    relative_error: float = 0.1,
    failures: int | None = None,
    replicates: int = 200_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Iterator[FailurePoint]:
    """The points one by one. A point's draws depend on the seed and its own D alone."""
    if not isinstance(model, SparseInputs):
        raise InputError("model", type(model).__name__, "has no rare activations", "give SparseInputs")
    threshold = check_finite("threshold", threshold)
    if threshold <= 0.0:
        raise InputError(
            "threshold", threshold, "must be positive: it is 2 / step size", "choose threshold > 0"
        )
    if method not in METHODS:
        raise InputError("method", method, "is not one of the choices", f"choose {' or '.join(METHODS)}")
    relative_error = check_finite("relative_error", relative_error)
    if not 0.0 < relative_error < 1.0:
        raise InputError("relative_error", relative_error, "must lie between 0 and 1", "choose 0.1")
    replicates = check_size("replicates", replicates)
    wanted = check_size("failures", failures) if failures is not None else math.ceil(relative_error**-2)
    if seed < 0:
        raise InputError("seed", seed, "must not be negative", "choose seed >= 0")
    sizes = [check_size("D", size) for size in D]
    for size in sizes:
        yield _Point(model, size, threshold, wanted, replicates, seed, progress).solve(method)


class _Point:
    """One D: what every method needs to know."""

    def __init__(
        self,
        model: SparseInputs,
        D: int,
        threshold: float,
        wanted: int,
        replicates: int,
        seed: int,
        progress: Progress | None,
    ) -> None:
        self.model, self.D, self.threshold = model, D, threshold
        self.wanted, self.replicates, self.seed, self.progress = wanted, replicates, seed, progress
        self.spike = spike_probability(model, D, threshold)
        self.spike_index = spike_index(model, D, threshold)

    def solve(self, method: str) -> FailurePoint:
        last = min(self.model.dimension, self.spike_index)
        if self.threshold < 1.0:  # (X X^T)_11 = D always
            return self.point(Interval(1.0, 1.0, 1.0), "exact", 0, 0)
        if last <= 1.0:  # without a spike only x_1 is left, and lambda_max = 1
            how = "exact-spike" if self.spike_index < self.model.dimension else "exact"
            return self.point(Interval(0.0, 0.0, 0.0), how, 0, 0)
        too_large = mean_nonzeros(self.model, self.D, self.model.dimension) > MOST_NONZEROS
        if method == "exact-spike" or (method == "auto" and (too_large or self.D > MOST_NONZEROS)):
            why = "too large to draw" if method == "auto" else "as asked"
            return self.point(
                Interval(0.0, 0.0, 1.0), "exact-spike", 0, 0, "bulk-not-sampled", f"bulk not sampled: {why}"
            )
        if method == "direct":
            return self.direct_point(self.direct(self.replicates, self.wanted))
        if method == "importance":
            return self.importance_point(self.importance())
        return self.automatic()

    def automatic(self) -> FailurePoint:
        """A short direct run first; where it sees too little, importance sampling, checked against it."""
        work = 50.0 + mean_nonzeros(self.model, self.D, self.model.dimension)
        pilot = self.direct(min(self.replicates, max(100, min(20_000, int(PILOT_WORK / work)))), self.wanted)
        if pilot.failures >= min(self.wanted, PILOT_FAILURES):
            return self.direct_point(self.direct(self.replicates, self.wanted))  # the pilot is its beginning
        weighted = self.importance()
        seen = binomial_interval(pilot.failures - pilot.spikes, pilot.replicates - pilot.spikes)
        if seen.low > weighted.probability.high:
            hull = Interval(weighted.probability.low, seen.best, seen.high)
            seen_failures = pilot.failures - pilot.spikes
            why = f"direct sampling saw {seen_failures} failures in {pilot.replicates} data sets"
            return self.point(hull, "importance", weighted.replicates, weighted.effective, "disagree", why)
        return self.importance_point(weighted)

    def direct(self, replicates: int, wanted: int) -> Counts:
        law = data_law(self.model, self.D, self.spike_index, self.model.dimension)
        return sample_directly(
            law,
            self.threshold,
            self.generator(0),
            replicates=replicates,
            failures=wanted,
            progress=self.reporter("direct"),
        )

    def importance(self) -> Weighted:
        target = 1.0 / math.sqrt(self.wanted)

        def enough(result: Weighted) -> bool:
            bulk = (1.0 - self.spike) * result.probability.best
            return result.relative_error * bulk <= target * (self.spike + bulk)

        return sample_by_importance(
            bulk_proposal(self.model, self.D, self.threshold, self.spike_index),
            self.threshold,
            self.generator(1),
            replicates=self.replicates,
            enough=enough,
            progress=self.reporter("importance"),
        )

    def direct_point(self, counts: Counts) -> FailurePoint:
        without = counts.replicates - counts.spikes
        return self.point(
            binomial_interval(counts.failures - counts.spikes, without),
            "direct",
            counts.replicates,
            counts.failures,
            probability=binomial_interval(counts.failures, counts.replicates),
        )

    def importance_point(self, weighted: Weighted) -> FailurePoint:
        why = (
            "few effective failures: the interval's upper end is a hard limit"
            if weighted.status != "ok"
            else ""
        )
        return self.point(
            weighted.probability, "importance", weighted.replicates, weighted.effective, weighted.status, why
        )

    def point(
        self,
        bulk: Interval,
        method: str,
        replicates: int,
        failures: float,
        status: str = "ok",
        reason: str = "",
        probability: Interval | None = None,
    ) -> FailurePoint:
        def total(b: float) -> float:
            return self.spike + (1.0 - self.spike) * b

        return FailurePoint(
            D=self.D,
            threshold=self.threshold,
            probability=probability or Interval(total(bulk.low), total(bulk.best), total(bulk.high)),
            spike=self.spike,
            bulk=bulk,
            method=method,  # type: ignore[arg-type]
            spike_index=self.spike_index,
            replicates=replicates,
            failures=float(failures),
            status=status,
            reason=reason,
        )

    def generator(self, purpose: int) -> np.random.Generator:
        return np.random.Generator(
            np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(self.D, purpose)))
        )

    def reporter(self, method: str) -> Callable[[int, int], None] | None:
        if self.progress is None:
            return None
        report = self.progress
        return lambda done, failed: report(self.D, method, done, failed)
