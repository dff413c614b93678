"""The failure probability along D, each point by the method that suits it.

What sampling would take is estimated before it starts: what cannot answer within a day is refused, what may
take minutes is announced.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, cast

from sparselaw.errors import InputError, check_size
from sparselaw.failure.direct import (
    check_full_size,
    near_isometry,
    sample_directly,
    sample_table,
    table_spike,
)
from sparselaw.failure.draw import MOST_NONZEROS, DataLaw, data_law, data_set_seconds, in_words, mean_nonzeros
from sparselaw.failure.failure_curve import (
    Estimate,
    FailureCurve,
    FailurePoint,
    Progress,
    Report,
    Sampled,
    Sampling,
    check_threshold,
    random_numbers,
    with_spike,
)
from sparselaw.failure.importance import (
    LEARNING_ROUNDS,
    LEAST_EFFECTIVE,
    learning_draws,
    sample_by_importance,
)
from sparselaw.failure.proposal import bulk_proposal
from sparselaw.inputs import ActivationInputs, Inputs, check_inputs
from sparselaw.interval import Interval
from sparselaw.theory.descent import spike_index, spike_probability

PILOT_FAILURES = 20  # as many in the pilot: direct sampling goes on
PILOT_WORK = 4e7  # nonzeros drawn to choose the method, about a second
LONGEST = 86_400.0  # seconds: what cannot answer within a day is refused
ANNOUNCED_SECONDS = 120.0  # seconds: what may take longer is announced
FEW_FAILURES = "few effective failures: the interval's upper end is a hard limit"
UNKNOWN = Interval(0.0, 0.0, 1.0)


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
    sizes, widths = (list(given) if isinstance(given, Iterable) else [given] for given in (D, N))
    *_, curve = growing_curve(inputs, sizes, threshold, sampling, N=widths, progress=progress)
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
        curve = replace(curve, points=(*curve.points, estimate(case, sampling, progress)))
        yield curve
    for size, width in product(sizes, widths):
        full = near_isometry(inputs, width, size, limit, seed=sampling.seed)
        curve = replace(curve, full_model=(*curve.full_model, full))
        yield curve


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One D, and what every method needs to know of it."""

    inputs: Inputs
    D: int
    threshold: float
    spike: float  # P(some activation beyond j*), exact
    spike_index: float  # j*

    @property
    def last(self) -> float:
        """The last coordinate of the bulk."""
        return min(self.inputs.dimension, self.spike_index)

    @property
    def nonzeros(self) -> float:
        """Expected in one data set, coordinate 1 left out."""
        return mean_nonzeros(self.inputs, self.D, self.inputs.dimension)

    @property
    def drawable(self) -> bool:
        return max(self.nonzeros, self.D) <= MOST_NONZEROS

    def law(self, last: float | None = None) -> DataLaw:
        """The law of a data set, of all coordinates or up to one, ready to be drawn from."""
        return data_law(self.inputs, self.D, self.spike_index, last or self.inputs.dimension)


def case_of(inputs: Inputs, D: int, threshold: float) -> Case:
    """One D with its exact spike."""
    if inputs.has_power_activations:
        spike, index = spike_probability(inputs, D, threshold), spike_index(inputs, D, threshold)
    else:
        spike, index = table_spike(cast(ActivationInputs, inputs), D, threshold), math.inf
    return Case(inputs=inputs, D=D, threshold=threshold, spike=spike, spike_index=index)


class Work(NamedTuple):
    """Data sets to be drawn, and the time of one. Rough: right to a factor of two or so."""

    seconds: float  # of one data set
    least: float  # data sets that no answer can do without
    most: float  # data sets after which it stops, whatever was seen


def work_of(case: Case, sampling: Sampling) -> Work | None:
    """The work of a case; None where nothing is sampled, or too much: left to the spike, or refused."""
    asked, limit = sampling.method, sampling.replicates
    if not case.inputs.has_power_activations or case.threshold < 1.0 or case.last <= 1.0:
        return None
    if asked == "exact-spike" or (asked == "auto" and not case.drawable):
        return None
    law = case.law(case.last if asked == "importance" else None)
    learning = LEARNING_ROUNDS * learning_draws(limit, 100.0 + len(law.active) + case.nonzeros)
    pilot = pilot_draws(case, sampling)
    least, most = {
        "direct": (min(sampling.wanted, limit), limit),
        "importance": (learning + min(LEAST_EFFECTIVE, limit), learning + limit),
        "auto": (min(sampling.wanted, pilot), pilot + learning + limit),
    }[asked]
    return Work(data_set_seconds(law), least, most)


def check_work(case: Case, sampling: Sampling) -> None:
    """Refuse what would not answer within a day."""
    work = work_of(case, sampling)
    if work is not None and work.seconds * work.least > LONGEST:
        condition = f"sampling would take {in_words(work.seconds * work.least)} at least"
        remedy = "ask for fewer failures or replicates, or choose a smaller D or dimension"
        raise InputError("D", case.D, condition, remedy)


def announcements(inputs: Inputs, D: Sequence[int], threshold: float, sampling: Sampling) -> list[str]:
    """What to say before sampling, one line for each D that may take minutes."""
    lines = []
    for size in D:
        work = work_of(case_of(inputs, size, threshold), sampling)
        if work is not None and work.seconds * work.most >= ANNOUNCED_SECONDS:
            one, whole = in_words(work.seconds), in_words(work.seconds * work.most)
            words = f"up to {work.most:.0f} data sets of {one}, {whole} in all"
            lines.append(f"D={size}: {words}; fewer replicates or failures make it shorter")
    return lines


def pilot_draws(case: Case, sampling: Sampling) -> int:
    """Data sets drawn directly before the method is chosen."""
    return min(sampling.replicates, max(100, min(20_000, int(PILOT_WORK / (50.0 + case.nonzeros)))))


def estimate(case: Case, sampling: Sampling, progress: Progress | None = None) -> FailurePoint:
    """The point of one D by the method asked for, or by the one that suits it."""
    by_law, method = case.inputs.has_power_activations, sampling.method
    if not by_law and method == "importance":
        condition, remedy = "needs the power laws of SparseInputs", "choose auto, direct or exact-spike"
        raise InputError("method", "importance", condition, remedy)
    if not by_law and case.spike >= 1.0:
        return _point(case, "exact-spike", Estimate(bulk=UNKNOWN))
    if by_law and case.threshold < 1.0:  # (X X^T)_11 = D always
        return _point(case, "exact", Estimate(bulk=Interval(1.0, 1.0, 1.0)))
    if by_law and case.last <= 1.0:  # without a spike only x_1 is left, and lambda_max = 1
        beyond = case.spike_index < case.inputs.dimension
        return _point(case, "exact-spike" if beyond else "exact", Estimate(bulk=Interval(0.0, 0.0, 0.0)))
    too_large = by_law and method == "auto" and not case.drawable
    if method == "exact-spike" or too_large:
        reason = f"bulk not sampled: {'too large to draw' if too_large else 'as asked'}"
        return _point(case, "exact-spike", Estimate(bulk=UNKNOWN, status="bulk-not-sampled"), reason)
    if not by_law:
        return _from_table(case, sampling, progress)
    if method == "direct":
        return _point(case, "direct", _direct(case, sampling, sampling.replicates, progress))
    if method == "importance":
        return _importance(case, sampling, progress)
    return _automatic(case, sampling, progress)


def _from_table(case: Case, sampling: Sampling, progress: Progress | None) -> FailurePoint:
    """Inputs without power laws can be sampled directly, and in no other way."""
    found = sample_table(
        cast(ActivationInputs, case.inputs),
        case.D,
        case.threshold,
        random_numbers(sampling.seed, case.D, "direct"),
        replicates=sampling.replicates,
        failures=sampling.wanted,
        progress=_reporter(case, "direct", 0, progress),
    )
    if found.failures >= sampling.wanted:
        return _point(case, "direct", found)
    seen = found.failures - found.spikes
    known = "so that only an upper limit of the bulk is known" if seen == 0 else "so that the bulk is wide"
    reason = (
        f"{seen:.0f} of {found.replicates} data sets failed without a spike, {known}; inputs without power "
        "laws have no importance sampling, which would see rarer ones"
    )
    return _point(case, "direct", replace(found, status="few-failures"), reason)


def _automatic(case: Case, sampling: Sampling, progress: Progress | None) -> FailurePoint:
    """A short direct run first; where it sees too little, importance sampling, checked against it."""

    def open_ended(now: Sampled) -> None:
        if progress is not None:
            progress(replace(now, total=None))  # what comes after the pilot is not known yet

    pilot = _direct(case, sampling, pilot_draws(case, sampling), open_ended)
    if pilot.failures >= min(sampling.wanted, PILOT_FAILURES):  # the pilot is the beginning of the whole run
        whole = _direct(case, sampling, sampling.replicates, progress, before=pilot.replicates)
        return _point(case, "direct", whole)
    point = _importance(case, sampling, progress, before=pilot.replicates)
    if pilot.bulk.low <= point.bulk.high:
        return point
    bulk = Interval(point.bulk.low, pilot.bulk.best, pilot.bulk.high)
    seen = pilot.failures - pilot.spikes
    reason = f"direct sampling saw {seen:.0f} failures in {pilot.replicates} data sets"
    both = with_spike(case.spike, bulk)
    return replace(point, bulk=bulk, probability=both, status="disagree", reason=reason)


def _direct(
    case: Case, sampling: Sampling, replicates: int, progress: Progress | None, before: int = 0
) -> Estimate:
    return sample_directly(
        case.law(),
        case.threshold,
        random_numbers(sampling.seed, case.D, "direct"),
        replicates=replicates,
        failures=sampling.wanted,
        progress=_reporter(case, "direct", before, progress),
    )


def _importance(case: Case, sampling: Sampling, progress: Progress | None, before: int = 0) -> FailurePoint:
    target = 1.0 / math.sqrt(sampling.wanted)

    def enough(found: Estimate) -> bool:
        bulk = (1.0 - case.spike) * found.bulk.best
        return found.relative_error * bulk <= target * (case.spike + bulk)

    found = sample_by_importance(
        bulk_proposal(case.inputs, case.D, case.threshold, case.spike_index),
        case.threshold,
        random_numbers(sampling.seed, case.D, "importance"),
        replicates=sampling.replicates,
        enough=enough,
        progress=_reporter(case, "importance", before, progress),
    )
    return _point(case, "importance", found, "" if found.status == "ok" else FEW_FAILURES)


def _reporter(case: Case, method: str, before: int, progress: Progress | None) -> Report | None:
    """Adds what a sampler does not know: the D, its own name and the data sets drawn before."""
    if progress is None:
        return None

    def report(done: int, total: float | None, failures: float) -> None:
        whole = None if total is None else before + total
        progress(Sampled(D=case.D, method=method, done=before + done, total=whole, failures=failures))

    return report


def _point(case: Case, method: Any, found: Estimate, reason: str = "") -> FailurePoint:
    return FailurePoint(
        D=case.D,
        threshold=case.threshold,
        probability=with_spike(case.spike, found.bulk),
        spike=case.spike,
        bulk=found.bulk,
        method=method,
        spike_index=case.spike_index,
        replicates=found.replicates,
        failures=float(found.failures),
        status=found.status,
        reason=reason,
    )
