"""The failure probability along D, each point by the method that suits it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import cast

from sparselaw.errors import InputError, check_size
from sparselaw.failure.direct import (
    Counts,
    check_full_size,
    near_isometry,
    sample_directly,
    sample_table,
)
from sparselaw.failure.failure_curve import (
    FailureCurve,
    FailurePoint,
    Method,
    Progress,
    Sampled,
    Sampling,
    check_threshold,
    random_numbers,
    with_spike,
)
from sparselaw.failure.importance import (
    Weighted,
    sample_by_importance,
)
from sparselaw.failure.proposal import bulk_proposal
from sparselaw.failure.work import Case, case_of, check_work, pilot_draws
from sparselaw.inputs import ActivationInputs, Inputs, check_inputs
from sparselaw.interval import Interval

PILOT_FAILURES = 20  # as many in the pilot: direct sampling goes on
FEW_FAILURES = "few effective failures: the interval's upper end is a hard limit"


def failure_probability(
    inputs: Inputs,
    D: int | Sequence[int],
    threshold: float,
    *,
    N: int | Sequence[int] = (),
    method: str = "auto",
    relative_error: float = 0.1,
    failures: int | None = None,
    replicates: int = 200_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> FailureCurve:
    """P(lambda_max(X X^T / D) > threshold), the probability that gradient descent diverges, for each D.

    Parameters
    ----------
    inputs : Inputs
        Sparse inputs, or measured ones.
    D : int or sequence of int
        Numbers of samples.
    threshold : float
        2 / step size.
    N : int or sequence of int, optional
        Also draw the full model with so many features (:func:`near_isometry`), for each D.
    method : {"auto", "direct", "importance", "exact-spike"}
        How the part without a spike is sampled; "exact-spike" leaves it out.
    relative_error : float
        Sampling stops at this relative standard error, unless ``failures`` is given.
    failures : int, optional
        Sampling stops at so many (effective) failures.
    replicates : int
        Sampling stops after so many data sets in any case.
    seed : int
        The same seed gives the same draws at a D, whatever the other D.
    progress : callable, optional
        Called with a ``Sampled`` record now and then.

    Returns
    -------
    FailureCurve
        A sequence of points with intervals.

    Raises
    ------
    InputError
        Where a size is not positive, the threshold not positive, the inputs have no rare activations, or
        sampling would take more than a day.

    Examples
    --------
    >>> from sparselaw.inputs import SparseInputs
    >>> point, = failure_probability(SparseInputs(alpha1=1.5, alpha2=-2.0), D=100, threshold=2.0)
    >>> point.method, round(point.spike, 4), point.probability.contains(0.024)
    ('direct', 0.0232, True)
    """
    sampling = Sampling(
        method=method, relative_error=relative_error, failures=failures, replicates=replicates, seed=seed
    )
    *_, curve = growing_curve(inputs, _list(D), threshold, sampling, N=_list(N), progress=progress)
    return curve


def growing_curve(
    inputs: Inputs,
    D: Sequence[int],
    threshold: float,
    sampling: Sampling,
    *,
    N: Sequence[int] = (),
    progress: Progress | None = None,
) -> Iterator[FailureCurve]:
    """Yield the curve so far: empty first, then after each point, so that who stops keeps what is finished.

    A point's draws depend on the seed and its own D alone.
    """
    activations = check_inputs(inputs).sampling == "activations"
    if not activations or (N and not inputs.has_power_activations):
        inputs.power_activations()  # refuses: no rare activations, or none by power laws for the full model
    sizes, widths = [check_size("D", size) for size in D], [check_full_size(width) for width in N]
    limit = check_threshold(threshold)
    cases = [case_of(inputs, size, limit) for size in sizes]
    for case in cases:
        check_work(case, sampling)
    curve = FailureCurve(inputs=inputs, threshold=limit, seed=sampling.seed)
    yield curve
    for case in cases:
        point = estimate(case, sampling, progress)
        curve = replace(curve, points=(*curve.points, point))
        yield curve
    for size, width in product(sizes, widths):
        full = near_isometry(inputs, width, size, limit, seed=sampling.seed)
        curve = replace(curve, full_model=(*curve.full_model, full))
        yield curve


def _list(sizes: int | Sequence[int]) -> Sequence[int]:
    return list(sizes) if isinstance(sizes, Iterable) else [sizes]


def estimate(case: Case, sampling: Sampling, progress: Progress | None = None) -> FailurePoint:
    """The point of one D by the method asked for, or by the one that suits it."""
    by_law, method = case.inputs.has_power_activations, sampling.method
    if not by_law and method == "importance":
        condition, remedy = "needs the power laws of SparseInputs", "choose auto, direct or exact-spike"
        raise InputError("method", "importance", condition, remedy)
    if not by_law and case.spike >= 1.0:
        return _point(case, Interval(0.0, 0.0, 1.0), "exact-spike")
    if by_law and case.threshold < 1.0:  # (X X^T)_11 = D always
        return _point(case, Interval(1.0, 1.0, 1.0), "exact")
    if by_law and case.last <= 1.0:  # without a spike only x_1 is left, and lambda_max = 1
        beyond = case.spike_index < case.inputs.dimension
        return _point(case, Interval(0.0, 0.0, 0.0), "exact-spike" if beyond else "exact")
    too_large = by_law and method == "auto" and not case.drawable
    if method == "exact-spike" or too_large:
        reason = f"bulk not sampled: {'too large to draw' if too_large else 'as asked'}"
        unknown = Interval(0.0, 0.0, 1.0)
        return _point(case, unknown, "exact-spike", status="bulk-not-sampled", reason=reason)
    if not by_law:
        return _table_point(case, sampling, progress)
    if method == "direct":
        return _direct_point(case, _direct(case, sampling, sampling.replicates, progress))
    if method == "importance":
        return _importance_point(case, _importance(case, sampling, progress))
    return _automatic(case, sampling, progress)


def _table_point(case: Case, sampling: Sampling, progress: Progress | None) -> FailurePoint:
    """Inputs without power laws can be sampled directly, and in no other way."""
    counts = sample_table(
        cast(ActivationInputs, case.inputs),
        case.D,
        case.threshold,
        random_numbers(sampling.seed, case.D, "direct"),
        replicates=sampling.replicates,
        failures=sampling.wanted,
        progress=_reporter(case, "direct", 0, progress),
    )
    point = _direct_point(case, counts)
    if counts.failures >= sampling.wanted:
        return point
    seen = counts.failures - counts.spikes
    known = "so that only an upper limit of the bulk is known" if seen == 0 else "so that the bulk is wide"
    reason = (
        f"{seen} of {counts.replicates} data sets failed without a spike, {known}; inputs without power laws "
        "have no importance sampling, which would see rarer ones"
    )
    return replace(point, status="few-failures", reason=reason)


def _automatic(case: Case, sampling: Sampling, progress: Progress | None) -> FailurePoint:
    """A short direct run first; where it sees too little, importance sampling, checked against it."""

    def open_ended(now: Sampled) -> None:
        if progress is not None:
            progress(replace(now, total=None))  # what comes after the pilot is not known yet

    pilot = _direct(case, sampling, pilot_draws(case, sampling), open_ended)
    if pilot.failures >= min(sampling.wanted, PILOT_FAILURES):  # the pilot is the beginning of the whole run
        counts = _direct(case, sampling, sampling.replicates, progress, before=pilot.replicates)
        return _direct_point(case, counts)
    point = _importance_point(case, _importance(case, sampling, progress, before=pilot.replicates))
    if pilot.bulk.low <= point.bulk.high:
        return point
    bulk = Interval(point.bulk.low, pilot.bulk.best, pilot.bulk.high)
    reason = f"direct sampling saw {pilot.failures - pilot.spikes} failures in {pilot.replicates} data sets"
    both = with_spike(case.spike, bulk)
    return replace(point, bulk=bulk, probability=both, status="disagree", reason=reason)


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


def _direct_point(case: Case, counts: Counts) -> FailurePoint:
    return _point(case, counts.bulk, "direct", counts.replicates, counts.failures)


def _importance_point(case: Case, weighted: Weighted) -> FailurePoint:
    reason = "" if weighted.status == "ok" else FEW_FAILURES
    drawn, effective = weighted.replicates, weighted.effective
    return _point(case, weighted.probability, "importance", drawn, effective, weighted.status, reason)


def _point(
    case: Case,
    bulk: Interval,
    method: Method,
    replicates: int = 0,
    failures: float = 0.0,
    status: str = "ok",
    reason: str = "",
) -> FailurePoint:
    return FailurePoint(
        D=case.D,
        threshold=case.threshold,
        probability=with_spike(case.spike, bulk),
        spike=case.spike,
        bulk=bulk,
        method=method,
        spike_index=case.spike_index,
        replicates=replicates,
        failures=float(failures),
        status=status,
        reason=reason,
    )
