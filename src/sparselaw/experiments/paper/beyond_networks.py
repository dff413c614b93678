"""Beyond the paper: trained networks. Does the theory of frozen features survive feature learning?

The statements that are judged here were found by small experiments before this code was written. They are
tried again on new seeds, at the settings of those experiments and at one more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from sparselaw.arrays import log_slope
from sparselaw.experiments.networks.network import NO_TORCH
from sparselaw.experiments.paper.item import Context, Item, Printed, Quantity, Result, range_of
from sparselaw.experiments.paper.network_runs import (
    ANSWERS,
    KINDS,
    Experiments,
    closed_losses,
    draw,
    frozen_constant,
    mean_ratio,
    over_tail,
    pooled_slope,
    run_all,
)
from sparselaw.interval import Interval, median_interval


def make(context: Context) -> Result:
    found = run_all(context)
    parts = (bound, flat, levels, widths, peak, momentum, facts, transformer, dense)
    return Result(
        quantities=[quantity for part in parts for quantity in part(found)],
        rows=[row for experiment in found.values() for row in experiment.rows()],
        caption=(
            "Left: loss over the unseen variance of the same data, networks trained end to end (bars: 95 % "
            "over seeds). Middle: two-layer linear networks of m = 256 outputs at their exact optimum, and "
            "frozen features; lines: closed form. Right: facts, the error rate of trained embeddings beside "
            "what was not seen, and of frozen ones against their width."
        ),
        draw=lambda figure: draw(figure, found),
        size=(11.0, 4.0),
        notes=[
            "No statement here is the paper's, which freezes the first layer: they were found by earlier, "
            "smaller experiments. The verdict compares with the earlier number.",
            "A cell whose training loss is above 5 % of its loss is left out of a slope; where too few are "
            "left, no exponent is given.",
        ],
    )


ITEMS = (Item("beyond-networks", "Trained networks: what survives feature learning", make),)


def statement(
    quantity: str,
    measured: Interval | None,
    value: float,
    tolerance: float,
    why: str,
    theory: float | None = None,
    interval: str = "95 %",
) -> Quantity:
    """A number found earlier, ``value`` give or take ``tolerance``, beside what was measured now."""
    stated = Printed(value, tolerance)
    return Quantity(quantity, measured, theory=theory, why=why, stated=stated, interval=interval)


# Statements on networks and data: does the loss keep up with the unseen variance as D grows?

FLAT = 0.05  # a slope of loss/unseen this small counts as none


def bound(found: Experiments) -> Iterator[Quantity]:
    """No learner can beat the unseen variance on average."""
    cells = [
        (cell.ratio, name, cell.D)
        for name, experiment in found.items()
        for cell in experiment.study.cells
        if cell.ratio is not None
    ]
    ratio, name, D = min(cells, key=lambda entry: entry[0].best)
    yield Quantity(
        "lowest loss / unseen variance of all networks",
        ratio,
        stated=Printed(1.0, 0.0, above=math.inf),
        why=f"no learner has less than 1 on average; the lowest of {len(cells)} cells is {name}, D = {D:,}",
    )


def flat(found: Experiments) -> Iterator[Quantity]:
    """Slopes of loss/unseen in D, setting by setting and together."""
    slope = "slope of loss/unseen in D"
    for name, experiment in found.items():
        if name.split(" at ")[0] in KINDS or name == "pairs":
            study = experiment.study
            sizes = [cell.D for cell in study.cells]
            why = study.ratio_slope_reason or f"D = {min(sizes):,} to {max(sizes):,}, paired by seed"
            yield statement(f"{slope}: {name}", study.ratio_slope, 0.0, FLAT, why, 0.0)
    for kind in KINDS:
        sweeps = [experiment for name, experiment in found.items() if name.split(" at ")[0] == kind]
        why = f"{len(sweeps)} settings, one slope for each seed{''.join(s.limit for s in sweeps)}"
        yield statement(f"{slope}: {kind}, all settings together", pooled_slope(sweeps), 0.0, FLAT, why, 0.0)


def levels(found: Experiments) -> Iterator[Quantity]:
    """Ratios averaged over the cells of a sweep, seed by seed."""
    for name, experiment in found.items():
        kind, why = name.split(" at ")[0], f"a mean over the sweep{experiment.limit}"
        unseen = mean_ratio(experiment, sign=False) if kind in ("linear", "ReLU") else None
        if kind == "linear":
            yield statement(f"loss / unseen: {name}", unseen, 1.0, 0.05, why)
        if kind == "ReLU":
            signs = f"each sign of a coordinate is learnt apart; {why}"
            yield statement(f"loss / sign-unseen: {name}", mean_ratio(experiment, sign=True), 1.0, 0.2, signs)
            if name.endswith("(1, 0.3)"):
                yield statement(f"loss / unseen: {name}", unseen, 2.4, 0.4, why)


def momentum(found: Experiments) -> Iterator[Quantity]:
    """The range over data sizes: what is left of the loss is the optimiser's. And one unit, by Adam."""
    experiment = found["momentum"]
    levels = [cell.ratio.best for cell in experiment.study.cells if cell.ratio is not None]
    yield statement(
        "loss / unseen of a linear network trained by momentum",
        range_of(levels) if levels else None,
        15.0,
        11.0,
        f"1,000 steps; an exponent fitted here would be the optimiser's{experiment.limit}",
        interval="range",
    )
    yield statement(
        "loss / unseen of a linear network of one unit, scalar target",
        mean_ratio(found["one unit"], sign=False),
        1.0,
        0.05,
        "once the first layer is trained a scalar linear target needs N = 1",
        1.0,
    )


def dense(found: Experiments) -> Iterator[Quantity]:
    """The exponent on dense inputs, where they were trained."""
    if "dense" not in found:
        return
    sizes, _ = found["dense"].losses("D")
    limited = all(cell.limited_by_data for cell in found["dense"].study.cells)
    near = "near the sparse exponent, so that it alone does not tell sparse from dense; the ratio does"
    why = f"D = {sizes[0]:g} to {sizes[-1]:g}, 200 coordinates: {near}"
    yield statement(
        "alpha_D of a ReLU network on dense inputs",
        found["dense"].exponent("D") if limited else None,
        1.25,
        0.11,
        why if limited else "limited by the optimiser: no exponent",
    )


# Statements on networks and width: what a trained first layer needs of it, and the missing peak.


def widths(found: Experiments) -> Iterator[Quantity]:
    """Exponent and constant of the exact optimum, beside frozen features."""
    for alpha1, exponent in ((1.0, 2.27), (2.0, 3.08), (0.5, 1.81)):
        where = f"alpha1 = {alpha1:g}"
        if f"trained features at {where}" not in found:
            continue
        trained, frozen = found[f"trained features at {where}"], found[f"linear features at {where}"]
        N, _ = trained.losses("N")
        sizes = f"N = {N[0]:g} to {N[-1]:g}"
        yield statement(
            f"alpha_N of trained linear networks, 256 outputs, {where}",
            trained.exponent("N"),
            exponent,
            0.1,
            f"{sizes}, the exact optimum; theory: closed form at the same sizes",
            -float(log_slope(N, closed_losses(trained))[0]),
        )
        why, tail = f"{sizes}, a mean over the sweep", frozen_constant(frozen.inputs)
        yield statement(f"loss / tail sum, trained features, {where}", over_tail(trained), 0.9, 0.1, why)
        yield statement(f"loss / tail sum, frozen features, {where}", over_tail(frozen), 4.2, 0.4, why, tail)


def peak(found: Experiments) -> Iterator[Quantity]:
    """Frozen features have a peak, trained ones have none."""
    for features, value, tolerance in (("linear", 11.0, 2.0), ("trained", 1.003, 0.003)):
        records = found[f"{features} features at the peak"].records
        seen = np.mean([record.seen or 0 for record in records])
        yield statement(
            f"median loss / unseen at N = 250, D = 16,000, {features} features",
            median_interval([record.loss / (record.control or math.nan) for record in records]),
            value,
            tolerance,
            f"just above the {seen:.0f} coordinates seen, where frozen features have their peak",
        )


# Statements on facts, one token and one answer each: embeddings trained and frozen, and a transformer.


def facts(found: Experiments) -> Iterator[Quantity]:
    """Error rates of embeddings, trained and frozen."""
    for alpha1, alpha_N, alpha_D in ((1.0, 1.11, 0.49), (0.5, 0.57, 0.37)):
        name = f"facts at alpha1 = {alpha1:g}"
        if name not in found:
            continue
        trained, frozen = found[name], found[f"frozen {name}"]
        sizes, widths = trained.losses("D")[0], frozen.losses("N")[0]
        why, own = f"D = {sizes[0]:,.0f} to {sizes[-1]:,.0f}, {ANSWERS} answers", "; theory: alpha2 = -1"
        level, fall = mean_ratio(trained, sign=False), trained.exponent("D")
        yield statement(f"error / (unseen (C-1)/C), trained embeddings, {name}", level, 1.0, 0.05, why, 1.0)
        theory = alpha1 / (alpha1 + 1.0)
        yield statement(f"alpha_D of trained embeddings, {name}", fall, alpha_D, 0.05, why + own, theory)
        why = f"N = {widths[0]:g} to {widths[-1]:g} at D = {frozen.tasks[0].D:,}{own}"
        fall = frozen.exponent("N")
        yield statement(f"alpha_N of frozen embeddings, {name}", fall, alpha_N, 0.1, why, alpha1)


def transformer(found: Experiments) -> Iterator[Quantity]:
    """Not measured where torch is not installed, and in a quick run."""
    measured, why = None, f"not measured: {NO_TORCH}" if find_spec("torch") is None else "not in a quick run"
    if "transformer" in found:
        experiment = found["transformer"]
        sizes, _ = experiment.losses("D")
        measured = None if experiment.limit else experiment.exponent("D")
        why = f"D = {sizes[0]:g} to {sizes[-1]:g}{experiment.limit}"
    words = "error exponent in D of a one-layer transformer, facts at alpha1 = 1"
    yield statement(words, measured, 0.54, 0.04, why, 0.5)
