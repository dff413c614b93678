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

import numpy as np

from sparselaw.errors import InputError, check_positive, check_size
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
    widths = [check_full_size(width) for width in N]
    cases = [case_of(inputs, size, threshold, sampling) for size in D]
    for case in cases:
        check_work(case)
    limit = check_positive("threshold", threshold)
    curve = FailureCurve(inputs=inputs, threshold=limit, seed=sampling.seed)
    yield curve
    for case in cases:
        curve = replace(curve, points=(*curve.points, estimate(case, progress)))
        yield curve
    for case, width in product(cases, widths):
        full = near_isometry(inputs, width, case.D, limit, seed=sampling.seed)
        curve = replace(curve, full_model=(*curve.full_model, full))
        yield curve


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One D, what is asked of it, and what every method needs to know."""

    inputs: Inputs
    D: int
    threshold: float
    sampling: Sampling
    spike: float  # P(some activation beyond j*), exact
    spike_index: float  # j*

    @property
    def by_law(self) -> bool:
        """Whether activations follow power laws. Others can be sampled directly, and in no other way."""
        return self.inputs.has_power_activations

    @property
    def last(self) -> float:
        """The last coordinate of the bulk."""
        return min(self.inputs.dimension, self.spike_index)

    @property
    def nonzeros(self) -> float:
        """Expected in one data set, coordinate 1 left out."""
        return mean_nonzeros(self.inputs, self.D, self.inputs.dimension)

    @property
    def pilot(self) -> int:
        """Data sets drawn directly before the method is chosen."""
        most = max(100, min(20_000, int(PILOT_WORK / (50.0 + self.nonzeros))))
        return min(self.sampling.replicates, most)

    def law(self, last: float | None = None) -> DataLaw:
        """The law of a data set, of all coordinates or up to one, ready to be drawn from."""
        return data_law(self.inputs, self.D, self.spike_index, last or self.inputs.dimension)

    def random(self, method: str) -> np.random.Generator:
        return random_numbers(self.sampling.seed, self.D, method)

    def reporter(
        self, method: str, progress: Progress | None, before: int = 0, open_ended: bool = False
    ) -> Report | None:
        """Tells ``progress`` what a sampler does not know: the D, its own name, the data sets before it."""
        if progress is None:
            return None

        def report(done: int, total: float | None, failures: float) -> None:
            whole = None if total is None or open_ended else before + total
            progress(Sampled(D=self.D, method=method, done=before + done, total=whole, failures=failures))

        return report

    def point(self, method: Any, found: Estimate, reason: str = "") -> FailurePoint:
        return FailurePoint(
            D=self.D,
            threshold=self.threshold,
            probability=with_spike(self.spike, found.bulk),
            spike=self.spike,
            bulk=found.bulk,
            method=method,
            spike_index=self.spike_index,
            replicates=found.replicates,
            failures=float(found.failures),
            status=found.status,
            reason=reason,
        )


def case_of(inputs: Inputs, D: int, threshold: float, sampling: Sampling) -> Case:
    """One D with its exact spike."""
    D, threshold = check_size("D", D), check_positive("threshold", threshold)
    if inputs.has_power_activations:
        spike, index = spike_probability(inputs, D, threshold), spike_index(inputs, D, threshold)
    elif sampling.method == "importance":
        condition, remedy = "needs the power laws of SparseInputs", "choose auto, direct or exact-spike"
        raise InputError("method", "importance", condition, remedy)
    else:
        spike, index = table_spike(cast(ActivationInputs, inputs), D, threshold), math.inf
    return Case(inputs=inputs, D=D, threshold=threshold, sampling=sampling, spike=spike, spike_index=index)


def without_sampling(case: Case) -> FailurePoint | None:
    """The point where nothing is sampled: all is known, or the bulk is too large or not asked for."""
    if not case.by_law and case.spike >= 1.0:
        return case.point("exact-spike", Estimate(bulk=UNKNOWN))
    if case.by_law and case.threshold < 1.0:  # (X X^T)_11 = D always
        return case.point("exact", Estimate(bulk=Interval(1.0, 1.0, 1.0)))
    if case.by_law and case.last <= 1.0:  # without a spike only x_1 is left, and lambda_max = 1
        beyond = case.spike_index < case.inputs.dimension
        return case.point("exact-spike" if beyond else "exact", Estimate(bulk=Interval(0.0, 0.0, 0.0)))
    auto = case.by_law and case.sampling.method == "auto"
    too_large = auto and max(case.nonzeros, case.D) > MOST_NONZEROS
    if case.sampling.method == "exact-spike" or too_large:
        reason = f"bulk not sampled: {'too large to draw' if too_large else 'as asked'}"
        return case.point("exact-spike", Estimate(bulk=UNKNOWN, status="bulk-not-sampled"), reason)
    return None


class Work(NamedTuple):
    """Data sets to be drawn, and the time of one. Rough: right to a factor of two or so."""

    seconds: float  # of one data set
    least: float  # data sets that no answer can do without
    most: float  # data sets after which it stops, whatever was seen


def work_of(case: Case) -> Work | None:
    """The work of a case; None where nothing is sampled, or no more than 2,000 data sets of a table."""
    if not case.by_law or without_sampling(case) is not None:
        return None
    method, limit = case.sampling.method, case.sampling.replicates
    law = case.law(case.last if method == "importance" else None)
    learning = LEARNING_ROUNDS * learning_draws(limit, 100.0 + len(law.active) + case.nonzeros)
    least, most = {
        "direct": (min(case.sampling.wanted, limit), limit),
        "importance": (learning + min(LEAST_EFFECTIVE, limit), learning + limit),
        "auto": (min(case.sampling.wanted, case.pilot), case.pilot + learning + limit),
    }[method]
    return Work(data_set_seconds(law), least, most)


def check_work(case: Case) -> None:
    """Refuse what would not answer within a day."""
    work = work_of(case)
    if work is not None and work.seconds * work.least > LONGEST:
        condition = f"sampling would take {in_words(work.seconds * work.least)} at least"
        remedy = "ask for fewer failures or replicates, or choose a smaller D or dimension"
        raise InputError("D", case.D, condition, remedy)


def announcements(inputs: Inputs, D: Sequence[int], threshold: float, sampling: Sampling) -> list[str]:
    """What to say before sampling, one line for each D that may take minutes."""
    lines = []
    for size in D:
        work = work_of(case_of(inputs, size, threshold, sampling))
        if work is not None and work.seconds * work.most >= ANNOUNCED_SECONDS:
            one, whole = in_words(work.seconds), in_words(work.seconds * work.most)
            words = f"up to {work.most:.0f} data sets of {one}, {whole} in all"
            lines.append(f"D={size}: {words}; fewer replicates or failures make it shorter")
    return lines


def estimate(case: Case, progress: Progress | None = None) -> FailurePoint:
    """The point of one D by the method asked for.

    Of power laws "auto" is a short direct run first; where it sees too little, importance sampling, checked
    against it.
    """
    known, method, limit = without_sampling(case), case.sampling.method, case.sampling.replicates
    if known is not None:
        return known
    if not case.by_law:
        return _from_table(case, progress)
    if method == "direct":
        return case.point("direct", _direct(case, limit, case.reporter("direct", progress)))
    if method == "importance":
        return _importance(case, progress)
    report = case.reporter("direct", progress, open_ended=True)  # what comes after it is not known yet
    pilot = _direct(case, case.pilot, report)
    if pilot.failures >= min(case.sampling.wanted, PILOT_FAILURES):  # the pilot begins the whole run
        report = case.reporter("direct", progress, before=pilot.replicates)
        return case.point("direct", _direct(case, limit, report))
    point = _importance(case, progress, before=pilot.replicates)
    if pilot.bulk.low <= point.bulk.high:
        return point
    bulk = Interval(point.bulk.low, pilot.bulk.best, pilot.bulk.high)
    seen = pilot.failures - pilot.spikes
    reason = f"direct sampling saw {seen:.0f} failures in {pilot.replicates} data sets"
    both = with_spike(case.spike, bulk)
    return replace(point, bulk=bulk, probability=both, status="disagree", reason=reason)


def _from_table(case: Case, progress: Progress | None) -> FailurePoint:
    inputs, wanted = cast(ActivationInputs, case.inputs), case.sampling.wanted
    found = sample_table(
        inputs,
        case.D,
        case.threshold,
        case.random("direct"),
        replicates=case.sampling.replicates,
        failures=wanted,
        progress=case.reporter("direct", progress),
    )
    if found.failures >= wanted:
        return case.point("direct", found)
    seen = found.failures - found.spikes
    known = "so that only an upper limit of the bulk is known" if seen == 0 else "so that the bulk is wide"
    reason = (
        f"{seen:.0f} of {found.replicates} data sets failed without a spike, {known}; inputs without power "
        "laws have no importance sampling, which would see rarer ones"
    )
    return case.point("direct", replace(found, status="few-failures"), reason)


def _direct(case: Case, replicates: int, report: Report | None) -> Estimate:
    law, rng, wanted = case.law(), case.random("direct"), case.sampling.wanted
    return sample_directly(law, case.threshold, rng, replicates=replicates, failures=wanted, progress=report)


def _importance(case: Case, progress: Progress | None, before: int = 0) -> FailurePoint:
    target = 1.0 / math.sqrt(case.sampling.wanted)

    def enough(found: Estimate) -> bool:
        bulk = (1.0 - case.spike) * found.bulk.best
        return found.relative_error * bulk <= target * (case.spike + bulk)

    found = sample_by_importance(
        bulk_proposal(case.inputs, case.D, case.threshold, case.spike_index),
        case.threshold,
        case.random("importance"),
        replicates=case.sampling.replicates,
        enough=enough,
        progress=case.reporter("importance", progress, before),
    )
    return case.point("importance", found, "" if found.status == "ok" else FEW_FAILURES)
