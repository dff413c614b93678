"""The failure probability along D, each point by the method that suits it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sparselaw.errors import check_size
from sparselaw.failure.case import case_of
from sparselaw.failure.curve import FailureCurve
from sparselaw.failure.isometry import near_isometry
from sparselaw.failure.one_size import estimate
from sparselaw.failure.point import FailurePoint
from sparselaw.failure.sampling import Progress, Sampling, check_threshold
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
    sizes, widths = _list(D), [check_size("N", width) for width in _list(N)]
    points = tuple(failure_points(inputs, sizes, threshold, sampling, progress))
    full = [near_isometry(inputs, width, size, threshold, seed=seed) for size in sizes for width in widths]
    return FailureCurve(
        inputs=inputs, threshold=float(threshold), seed=seed, points=points, full_model=tuple(full)
    )


def failure_points(
    inputs: Inputs,
    D: Sequence[int],
    threshold: float,
    sampling: Sampling,
    progress: Progress | None = None,
) -> Iterator[FailurePoint]:
    """The points one by one. A point's draws depend on the seed and its own D alone."""
    check_inputs(inputs).power_activations()  # refuses inputs that have none
    threshold = check_threshold(threshold)
    for size in [check_size("D", size) for size in D]:
        yield estimate(case_of(inputs, size, threshold), sampling, progress)


def _list(sizes: int | Sequence[int]) -> Sequence[int]:
    return [sizes] if isinstance(sizes, (int, float)) else sizes
