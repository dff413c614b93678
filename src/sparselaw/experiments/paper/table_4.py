"""Table 4 (tab:gd_failure_empirical): how often gradient descent diverges.

And which of the two mechanisms the paper's rows measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from sparselaw.experiments.paper.item import Context, Printed, Quantity, Result, Row, bars
from sparselaw.failure import FailurePoint, failure_probability, fitted_exponent, local_exponents
from sparselaw.failure.direct import binomial_interval
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Z95, Interval
from sparselaw.plotting.style import COLOURS
from sparselaw.plotting.theory import failure_curve
from sparselaw.theory.descent import spike_probability

INPUTS = SparseInputs(alpha1=2.0, alpha2=-1.2, dimension=5000)
THRESHOLD = 1.0005
COUNTS = {500: (185, 500), 1000: (132, 1000), 2000: (40, 2000), 5000: (1, 3000), 10_000: (0, 4000)}
BEYOND = (20_000,)
PRINTED_SLOPES = {(500, 1000): 1.5, (1000, 2000): 2.7, (2000, 5000): 4.5}
# Where the theorem can be seen: small nu, threshold 2, infinitely many coordinates.
THEOREM = (SparseInputs(alpha1=1.5, alpha2=-2.0), SparseInputs(alpha1=1.0, alpha2=-1.6))
THEOREM_D = (30, 100, 300, 1000, 3000, 10_000)


def make(context: Context) -> Result:
    """The paper's rows, and the theorem where it can be seen."""
    beyond = () if context.quick else BEYOND
    sizes = THEOREM_D[:4] if context.quick else THEOREM_D
    theorem = [(inputs, sizes, 2.0, 0.2 if context.quick else 0.07) for inputs in THEOREM]
    paper = (INPUTS, (*COUNTS, *beyond), THRESHOLD, 0.1 if context.quick else 0.03)
    points, *spikes = _estimates(context, [paper, *theorem])
    quantities = [_row(point) for point in points] + _slopes(points)
    quantities += [_theorem(inputs, found) for inputs, found in zip(THEOREM, spikes, strict=True)]
    first = points[0]
    endless = spike_probability(SparseInputs(alpha1=INPUTS.alpha1, alpha2=INPUTS.alpha2), first.D, THRESHOLD)
    notes = [
        "What the rows measure: the theorem's spike needs an activation beyond "
        f"j* = {first.spike_index:.1e}, and there are {INPUTS.dimension:.0f} coordinates, so its probability "
        f"is {first.spike:g}; with infinitely many it would be {endless:.1e} at D = {first.D}, against "
        f"{first.probability.best:.2g} seen. The rest is the bulk: chance correlations with the first "
        "coordinate, which fall exponentially with D. So the growing local exponents are an exponential, not "
        "an approach to nu."
    ]
    rows: list[Row] = [
        {"alpha1": inputs.alpha1, "alpha2": inputs.alpha2, **p.row()}
        for inputs, found in zip((INPUTS, *THEOREM), (points, *spikes), strict=True)
        for p in found
    ]
    return Result(
        quantities=quantities,
        rows=rows,
        caption=(
            f"P(lambda_max(XX^T/D) > {THRESHOLD}) at alpha1 = {INPUTS.alpha1:g}, alpha2 = {INPUTS.alpha2:g}, "
            f"M = {INPUTS.dimension:.0f} (left), and the theorem where it can be seen, threshold 2 (right)."
        ),
        draw=lambda figure: _draw(figure, points, spikes),
        size=(9.0, 4.2),
        notes=notes,
    )


def _estimates(
    context: Context, wanted: Sequence[tuple[SparseInputs, tuple[int, ...], float, float]]
) -> list[list[FailurePoint]]:
    """The points of each curve (inputs, sizes, threshold, relative error), all of them on all workers."""
    single = [
        (inputs, D, threshold, error)
        for inputs, sizes, threshold, error in wanted
        for D in sorted(sizes, reverse=True)
    ]
    settings = [[inputs.parameters(), str(inputs.dimension), *rest] for inputs, *rest in single]
    found: list[FailurePoint] = context.remember(
        "failure",
        {"points": settings},
        lambda: [asdict(point) for point in context.map(_one, single)],
        lambda kept: [_point(values) for values in kept],
    )
    points = iter(found)
    return [[next(points) for _ in sizes][::-1] for _, sizes, _, _ in wanted]


def _point(values: dict[str, Any]) -> FailurePoint:
    intervals = {name: Interval(**values[name]) for name in ("probability", "bulk")}
    return FailurePoint(**values | intervals)


def _one(setting: tuple[SparseInputs, int, float, float]) -> FailurePoint:
    inputs, D, threshold, error = setting
    return failure_probability(inputs, D, threshold, relative_error=error)[0]


def _row(point: FailurePoint) -> Quantity:
    printed = None
    if point.D in COUNTS:
        failures, replicates = COUNTS[point.D]
        if failures == 0:
            printed = Printed(1.0 / replicates, 0.0, bound=True)
        else:
            value = failures / replicates
            theirs = binomial_interval(failures, replicates)
            printed = Printed(value, 0.0, below=value - theirs.low, above=theirs.high - value)
    return Quantity(
        f"P(diverge) at D = {point.D:,}",
        point.probability,
        printed,
        point.spike,
        f"theory: the spike of the theorem alone; bulk {point.bulk}; by {point.method} sampling",
    )


def _slopes(points: list[FailurePoint]) -> list[Quantity]:
    nu = INPUTS.exponents.nu
    quantities = []
    for slope in local_exponents(points):
        value = PRINTED_SLOPES.get((slope.D_low, slope.D_high))
        noise = _slope_noise(slope.D_low, slope.D_high) if value is not None else 0.0
        quantities.append(
            Quantity(
                f"local exponent, D = {slope.D_low:,} to {slope.D_high:,}",
                slope.exponent,
                None if value is None else Printed(value, 0.05, below=noise, above=noise),
                nu,
                "theory: nu of the theorem, which these rows do not measure",
            )
        )
    return quantities


def _slope_noise(low: int, high: int) -> float:
    """95 % half-width of the paper's local exponent, from its counts."""
    variance = sum(1.0 / failures - 1.0 / drawn for failures, drawn in (COUNTS[low], COUNTS[high]))
    return float(Z95 * np.sqrt(variance) / np.log(high / low))


def _theorem(inputs: SparseInputs, points: list[FailurePoint]) -> Quantity:
    spike = [f"{p.spike / p.probability.best:.2f}" for p in (points[0], points[-1])]
    return Quantity(
        f"exponent at (alpha1, alpha2) = ({inputs.alpha1:g}, {inputs.alpha2:g}), threshold 2",
        fitted_exponent([p for p in points if p.D >= 100]),
        theory=inputs.exponents.nu,
        why=f"the spike's share of the failures goes from {spike[0]} to {spike[1]} along D",
    )


def _draw(figure: Figure, points: list[FailurePoint], spikes: list[list[FailurePoint]]) -> None:
    left, right = figure.subplots(1, 2)
    failure_curve(points, ax=left)
    seen = {D: k / n for D, (k, n) in COUNTS.items() if k}
    left.plot(list(seen), list(seen.values()), "s", color=COLOURS[1], fillstyle="none", label="paper")
    left.set_ylim(1e-12, 2.0)
    left.set_title("the paper's settings")
    left.legend()
    for inputs, found, colour in zip(THEOREM, spikes, COLOURS, strict=False):
        D = [p.D for p in found]
        best, ends = [p.probability.best for p in found], bars([p.probability for p in found])
        label = f"({inputs.alpha1:g}, {inputs.alpha2:g}): nu = {inputs.exponents.nu:.2f}"
        right.errorbar(D, best, yerr=ends, fmt="o", color=colour, capsize=2, label=label)
        right.plot(D, [p.spike for p in found], color=colour, linewidth=1.0)
    right.set(xscale="log", yscale="log", xlabel="D", ylabel="P(diverge)")
    right.set_title("the theorem (lines: exact spike law)")
    right.legend()
