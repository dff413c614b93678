"""The failure probability along D, each point by the method that suits it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from sparselaw.errors import check_size
from sparselaw.failure.case import case_of
from sparselaw.failure.curve_of_points import FailureCurve
from sparselaw.failure.isometry import check_full_size, near_isometry
from sparselaw.failure.one_size import estimate
from sparselaw.failure.sampling import Progress, Sampling, check_threshold
from sparselaw.failure.table_sampling import table_point
from sparselaw.failure.work import check_work, is_sampled
from sparselaw.inputs import Inputs, check_inputs


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
    """P(lambda_max(X X^T / D) > threshold) for each D, with intervals.

    ``threshold`` is 2 / step size. Sampling stops at ``failures`` (effective) failures if given, else at the
    relative standard error asked for, and in any case after ``replicates`` data sets. ``N`` asks for the
    full model with so many features beside it (:func:`near_isometry`).

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
    """The curve so far: empty, and then again after each point. So whoever stops has what was finished.

    A point's draws depend on the seed and its own D alone.
    """
    by_law = check_inputs(inputs).has_power_activations
    if not by_law and inputs.sampling != "activations":
        inputs.power_activations()  # refuses
    sizes, widths = [check_size("D", size) for size in D], [check_full_size(width) for width in N]
    limit = check_threshold(threshold)
    if not by_law:
        curve = FailureCurve(inputs=inputs, threshold=limit, seed=sampling.seed)
        if widths:
            inputs.power_activations()  # refuses: the full model is drawn by power laws
        yield curve
        for size in sizes:
            point = table_point(inputs, size, limit, sampling, progress)
            curve = replace(curve, points=(*curve.points, point))
            yield curve
        return
    cases = [case_of(inputs, size, limit) for size in sizes]
    for case in cases:
        if is_sampled(case, sampling):
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
