"""Beyond the paper: trained networks. Does the theory of frozen features survive feature learning?

The statements that are judged here were found by small experiments before this code was written. They are
tried again on new seeds, at the settings of those experiments and at one more.
"""

from __future__ import annotations

import math
from importlib.util import find_spec

import numpy as np

from sparselaw.arrays import log_slope
from sparselaw.experiments.networks.network import NO_TORCH
from sparselaw.experiments.paper.item import Context, Item, Printed, Quantity, Result, range_of
from sparselaw.experiments.paper.network_runs import (
    ANSWERS,
    KINDS,
    Experiment,
    Experiments,
    closed_losses,
    draw,
    frozen_constant,
    mean_ratio,
    over_tail,
    pooled_slope,
    run_all,
)
from sparselaw.interval import median_interval


def make(context: Context) -> Result:
    found = run_all(context)
    quantities = [
        bound(found),
        *flat(found),
        *levels(found),
        *widths(found),
        *peak(found),
        one_unit(found),
        momentum(found["momentum"]),
        *facts(found),
        transformer(found),
    ]
    if "dense" in found:
        quantities.append(dense(found["dense"]))
    return Result(
        quantities=quantities,
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


# Statements on networks and data: does the loss keep up with the unseen variance as D grows?

FLAT = 0.05  # a slope of loss/unseen this small counts as none


def bound(found: Experiments) -> Quantity:
    """No learner can beat the unseen variance on average."""
    cells = [
        (cell.ratio, name, cell.D)
        for name, experiment in found.items()
        for cell in experiment.study.cells
        if cell.ratio is not None
    ]
    ratio, name, D = min(cells, key=lambda entry: entry[0].best)
    return Quantity(
        "lowest loss / unseen variance of all networks",
        ratio,
        stated=Printed(1.0, 0.0, above=math.inf),
        why=f"no learner has less than 1 on average; the lowest of {len(cells)} cells is {name}, D = {D:,}",
    )


def flat(found: Experiments) -> list[Quantity]:
    quantities = []
    for name, experiment in found.items():
        if name.split(" at ")[0] in KINDS or name == "pairs":
            study = experiment.study
            sizes = [cell.D for cell in study.cells]
            why = study.ratio_slope_reason or f"D = {min(sizes):,} to {max(sizes):,}, paired by seed"
            quantities.append(
                Quantity(
                    f"slope of loss/unseen in D: {name}",
                    study.ratio_slope,
                    stated=Printed(0.0, FLAT),
                    theory=0.0,
                    why=why,
                )
            )
    for kind in KINDS:
        sweeps = [experiment for name, experiment in found.items() if name.split(" at ")[0] == kind]
        quantities.append(
            Quantity(
                f"slope of loss/unseen in D: {kind}, all settings together",
                pooled_slope(sweeps),
                stated=Printed(0.0, FLAT),
                theory=0.0,
                why=f"{len(sweeps)} settings, one slope for each seed{''.join(s.limit for s in sweeps)}",
            )
        )
    return quantities


def levels(found: Experiments) -> list[Quantity]:
    """Ratios averaged over the cells of a sweep, seed by seed."""
    quantities = []
    for name, experiment in found.items():
        kind = name.split(" at ")[0]
        if kind == "linear":
            stated = Printed(1.0, 0.05)
            quantities.append(_level_quantity(name, experiment, stated, sign=False))
        if kind == "ReLU":
            stated = Printed(1.0, 0.2)
            quantities.append(_level_quantity(name, experiment, stated, sign=True))
            if name.endswith("(1, 0.3)"):
                stated = Printed(2.4, 0.4)
                quantities.append(_level_quantity(name, experiment, stated, sign=False))
    return quantities


def _level_quantity(name: str, experiment: Experiment, stated: Printed, *, sign: bool) -> Quantity:
    why = "each sign of a coordinate is learnt apart; " if sign else ""
    return Quantity(
        f"loss / {'sign-unseen' if sign else 'unseen'}: {name}",
        mean_ratio(experiment, sign=sign),
        stated=stated,
        why=f"{why}a mean over the sweep{experiment.limit}",
    )


def momentum(experiment: Experiment) -> Quantity:
    """The range over data sizes: what is left of the loss is the optimiser's."""
    levels = [cell.ratio.best for cell in experiment.study.cells if cell.ratio is not None]
    return Quantity(
        "loss / unseen of a linear network trained by momentum",
        range_of(levels) if levels else None,
        stated=Printed(15.0, 11.0),
        interval="range",
        why=f"1,000 steps; an exponent fitted here would be the optimiser's{experiment.limit}",
    )


def dense(dense: Experiment) -> Quantity:
    sizes, _ = dense.losses("D")
    limited = all(cell.limited_by_data for cell in dense.study.cells)
    return Quantity(
        "alpha_D of a ReLU network on dense inputs",
        dense.exponent("D") if limited else None,
        stated=Printed(1.25, 0.11),
        why=f"D = {sizes[0]:g} to {sizes[-1]:g}, 200 coordinates: near the sparse exponent, so that it alone "
        "does not tell sparse from dense; the ratio does"
        if limited
        else "limited by the optimiser: no exponent",
    )


# Statements on networks and width: what a trained first layer needs of it, and the missing peak.


def widths(found: Experiments) -> list[Quantity]:
    """Exponent and constant of the exact optimum, beside frozen features."""
    quantities = []
    for alpha1, exponent in ((1.0, 2.27), (2.0, 3.08), (0.5, 1.81)):
        name = f"trained features at alpha1 = {alpha1:g}"
        if name not in found:
            continue
        trained, frozen = found[name], found[f"linear features at alpha1 = {alpha1:g}"]
        N, _ = trained.losses("N")
        closed = -float(log_slope(N, closed_losses(trained))[0])
        quantities.append(
            Quantity(
                f"alpha_N of trained linear networks, 256 outputs, alpha1 = {alpha1:g}",
                trained.exponent("N"),
                stated=Printed(exponent, 0.1),
                theory=closed,
                why=f"N = {N[0]:g} to {N[-1]:g}, the exact optimum; theory: closed form at the same sizes",
            )
        )
        for label, experiment, value, allowed in (
            ("trained", trained, 0.9, 0.1),
            ("frozen", frozen, 4.2, 0.4),
        ):
            quantities.append(
                Quantity(
                    f"loss / tail sum, {label} features, alpha1 = {alpha1:g}",
                    over_tail(experiment),
                    stated=Printed(value, allowed),
                    theory=frozen_constant(experiment.inputs) if label == "frozen" else None,
                    why=f"N = {N[0]:g} to {N[-1]:g}, a mean over the sweep",
                )
            )
    return quantities


def peak(found: Experiments) -> list[Quantity]:
    quantities = []
    for features, stated in (
        ("linear", Printed(11.0, 2.0)),
        ("trained", Printed(1.003, 0.003)),
    ):
        records = found[f"{features} features at the peak"].records
        ratios = [record.loss / (record.control or math.nan) for record in records]
        seen = np.mean([record.seen or 0 for record in records])
        quantities.append(
            Quantity(
                f"median loss / unseen at N = 250, D = 16,000, {features} features",
                median_interval(ratios),
                stated=stated,
                why=f"just above the {seen:.0f} coordinates seen, where frozen features have their peak",
            )
        )
    return quantities


def one_unit(found: Experiments) -> Quantity:
    return Quantity(
        "loss / unseen of a linear network of one unit, scalar target",
        mean_ratio(found["one unit"], sign=False),
        stated=Printed(1.0, 0.05),
        theory=1.0,
        why="once the first layer is trained a scalar linear target needs N = 1",
    )


# Statements on facts, one token and one answer each: embeddings trained and frozen, and a transformer.


def facts(found: Experiments) -> list[Quantity]:
    quantities = []
    for alpha1, alpha_N, alpha_D in ((1.0, 1.11, 0.49), (0.5, 0.57, 0.37)):
        name = f"facts at alpha1 = {alpha1:g}"
        if name not in found:
            continue
        trained, frozen = found[name], found[f"frozen {name}"]
        sizes, _ = trained.losses("D")
        widths, _ = frozen.losses("N")
        why = f"D = {sizes[0]:,.0f} to {sizes[-1]:,.0f}, {ANSWERS} answers"
        quantities += [
            Quantity(
                f"error / (unseen (C-1)/C), trained embeddings, {name}",
                mean_ratio(trained, sign=False),
                stated=Printed(1.0, 0.05),
                theory=1.0,
                why=why,
            ),
            Quantity(
                f"alpha_D of trained embeddings, {name}",
                trained.exponent("D"),
                stated=Printed(alpha_D, 0.05),
                theory=alpha1 / (alpha1 + 1.0),
                why=f"{why}; theory: alpha2 = -1",
            ),
            Quantity(
                f"alpha_N of frozen embeddings, {name}",
                frozen.exponent("N"),
                stated=Printed(alpha_N, 0.1),
                theory=alpha1,
                why=f"N = {widths[0]:g} to {widths[-1]:g} at D = {frozen.tasks[0].D:,}; theory: alpha2 = -1",
            ),
        ]
    return quantities


def transformer(found: Experiments) -> Quantity:
    """Not measured where torch is not installed, and in a quick run."""
    measured, why = None, f"not measured: {NO_TORCH}" if find_spec("torch") is None else "not in a quick run"
    if "transformer" in found:
        experiment = found["transformer"]
        sizes, _ = experiment.losses("D")
        measured = None if experiment.limit else experiment.exponent("D")
        why = f"D = {sizes[0]:g} to {sizes[-1]:g}{experiment.limit}"
    return Quantity(
        "error exponent in D of a one-layer transformer, facts at alpha1 = 1",
        measured,
        stated=Printed(0.54, 0.04),
        theory=0.5,
        why=why,
    )
