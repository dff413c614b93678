"""The failure probability at one D: exact where it can be, else sampled."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from sparselaw.failure.case import Case
from sparselaw.failure.direct import Counts, binomial_interval, sample_directly
from sparselaw.failure.failure_point import FailurePoint, Method
from sparselaw.failure.importance.proposal import bulk_proposal
from sparselaw.failure.importance.sampler import Weighted, sample_by_importance
from sparselaw.failure.sampling import Progress, Sampled, Sampling
from sparselaw.failure.streams import random_numbers
from sparselaw.failure.work import pilot_draws
from sparselaw.interval import Interval

PILOT_FAILURES = 20  # as many in the pilot: direct sampling goes on
FEW = "few effective failures: the interval's upper end is a hard limit"


def estimate(case: Case, sampling: Sampling, progress: Progress | None = None) -> FailurePoint:
    """The point of one D by the method asked for, or by the one that suits it."""
    if case.threshold < 1.0:  # (X X^T)_11 = D always
        return _point(case, Interval(1.0, 1.0, 1.0), "exact")
    if case.last <= 1.0:  # without a spike only x_1 is left, and lambda_max = 1
        beyond = case.spike_index < case.inputs.dimension
        return _point(case, Interval(0.0, 0.0, 0.0), "exact-spike" if beyond else "exact")
    if sampling.method == "exact-spike":
        return _spike_alone(case, "as asked")
    if sampling.method == "auto" and not case.drawable:
        return _spike_alone(case, "too large to draw")
    if sampling.method == "direct":
        return _direct_point(case, _direct(case, sampling, sampling.replicates, progress))
    if sampling.method == "importance":
        return _importance_point(case, _importance(case, sampling, progress))
    return _automatic(case, sampling, progress)


def _automatic(case: Case, sampling: Sampling, progress: Progress | None) -> FailurePoint:
    """A short direct run first; where it sees too little, importance sampling, checked against it."""
    pilot = _direct(case, sampling, pilot_draws(case, sampling), _open_ended(progress))
    if pilot.failures >= min(sampling.wanted, PILOT_FAILURES):  # the pilot is the beginning of the whole run
        counts = _direct(case, sampling, sampling.replicates, progress, before=pilot.replicates)
        return _direct_point(case, counts)
    weighted = _importance(case, sampling, progress, before=pilot.replicates)
    seen_failures = pilot.failures - pilot.spikes
    seen = binomial_interval(seen_failures, pilot.replicates - pilot.spikes)
    if seen.low <= weighted.probability.high:
        return _importance_point(case, weighted)
    return _point(
        case,
        Interval(weighted.probability.low, seen.best, seen.high),
        "importance",
        replicates=weighted.replicates,
        failures=weighted.effective,
        status="disagree",
        reason=f"direct sampling saw {seen_failures} failures in {pilot.replicates} data sets",
    )


def _direct(
    case: Case, sampling: Sampling, replicates: int, progress: Progress | None, before: int = 0
) -> Counts:
    return sample_directly(
        case.law(),
        case.threshold,
        random_numbers(sampling.seed, case.D, "direct"),
        replicates=replicates,
        failures=sampling.wanted,
        progress=_reporter(case, "direct", before, progress),
    )


def _importance(case: Case, sampling: Sampling, progress: Progress | None, before: int = 0) -> Weighted:
    target = 1.0 / math.sqrt(sampling.wanted)

    def enough(result: Weighted) -> bool:
        bulk = (1.0 - case.spike) * result.probability.best
        return result.relative_error * bulk <= target * (case.spike + bulk)

    return sample_by_importance(
        bulk_proposal(case.inputs, case.D, case.threshold, case.spike_index),
        case.threshold,
        random_numbers(sampling.seed, case.D, "importance"),
        replicates=sampling.replicates,
        enough=enough,
        progress=_reporter(case, "importance", before, progress),
    )


def _reporter(
    case: Case, method: Method, before: int, progress: Progress | None
) -> Callable[[int, float | None, float], None] | None:
    """Adds what a sampler does not know: the D, its own name and the data sets drawn before."""
    if progress is None:
        return None

    def report(done: int, total: float | None, failures: float) -> None:
        whole = None if total is None else before + total
        progress(Sampled(D=case.D, method=method, done=before + done, total=whole, failures=failures))

    return report


def _open_ended(progress: Progress | None) -> Progress | None:
    """For the pilot, which does not know what comes after it."""
    return None if progress is None else lambda now: progress(replace(now, total=None))


def _spike_alone(case: Case, why: str) -> FailurePoint:
    reason = f"bulk not sampled: {why}"
    bulk = Interval(0.0, 0.0, 1.0)
    return _point(case, bulk, "exact-spike", status="bulk-not-sampled", reason=reason)


def _direct_point(case: Case, counts: Counts) -> FailurePoint:
    return _point(
        case,
        binomial_interval(counts.failures - counts.spikes, counts.replicates - counts.spikes),
        "direct",
        replicates=counts.replicates,
        failures=counts.failures,
        probability=binomial_interval(counts.failures, counts.replicates),
    )


def _importance_point(case: Case, weighted: Weighted) -> FailurePoint:
    return _point(
        case,
        weighted.probability,
        "importance",
        replicates=weighted.replicates,
        failures=weighted.effective,
        status=weighted.status,
        reason="" if weighted.status == "ok" else FEW,
    )


def _point(
    case: Case,
    bulk: Interval,
    method: Method,
    *,
    replicates: int = 0,
    failures: float = 0.0,
    status: str = "ok",
    reason: str = "",
    probability: Interval | None = None,
) -> FailurePoint:
    def total(b: float) -> float:
        return case.spike + (1.0 - case.spike) * b

    return FailurePoint(
        D=case.D,
        threshold=case.threshold,
        probability=probability or Interval(total(bulk.low), total(bulk.best), total(bulk.high)),
        spike=case.spike,
        bulk=bulk,
        method=method,
        spike_index=case.spike_index,
        replicates=replicates,
        failures=float(failures),
        status=status,
        reason=reason,
    )
