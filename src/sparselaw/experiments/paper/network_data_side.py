"""Statements on networks and data: does the loss keep up with the unseen variance as D grows?"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.experiments.paper.item import Quantity
from sparselaw.experiments.paper.network_numbers import mean_ratio, pooled_slope
from sparselaw.experiments.paper.network_runs import KINDS, Experiment, Experiments
from sparselaw.experiments.paper.verdict import Printed
from sparselaw.interval import Interval

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
        quantity="lowest loss / unseen variance of all networks",
        printed=None,
        stated=Printed(value=1.0, rounding=0.0, above=math.inf),
        measured=ratio,
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
                    quantity=f"slope of loss/unseen in D: {name}",
                    printed=None,
                    stated=Printed(value=0.0, rounding=FLAT),
                    measured=study.ratio_slope,
                    theory=0.0,
                    why=why,
                )
            )
    for kind in KINDS:
        sweeps = [experiment for name, experiment in found.items() if name.split(" at ")[0] == kind]
        quantities.append(
            Quantity(
                quantity=f"slope of loss/unseen in D: {kind}, all settings together",
                printed=None,
                stated=Printed(value=0.0, rounding=FLAT),
                measured=pooled_slope(sweeps),
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
            stated = Printed(value=1.0, rounding=0.05)
            quantities.append(_level_quantity(name, experiment, stated, sign=False))
        if kind == "ReLU":
            stated = Printed(value=1.0, rounding=0.2)
            quantities.append(_level_quantity(name, experiment, stated, sign=True))
            if name.endswith("(1, 0.3)"):
                stated = Printed(value=2.4, rounding=0.4)
                quantities.append(_level_quantity(name, experiment, stated, sign=False))
    return quantities


def _level_quantity(name: str, experiment: Experiment, stated: Printed, *, sign: bool) -> Quantity:
    why = "each sign of a coordinate is learnt apart; " if sign else ""
    return Quantity(
        quantity=f"loss / {'sign-unseen' if sign else 'unseen'}: {name}",
        printed=None,
        stated=stated,
        measured=mean_ratio(experiment, sign=sign),
        why=f"{why}a mean over the sweep{experiment.limit}",
    )


def momentum(experiment: Experiment) -> Quantity:
    """The range over data sizes: what is left of the loss is the optimiser's."""
    levels = [cell.ratio.best for cell in experiment.study.cells if cell.ratio is not None]
    return Quantity(
        quantity="loss / unseen of a linear network trained by momentum",
        printed=None,
        stated=Printed(value=15.0, rounding=11.0),
        measured=Interval(min(levels), float(np.median(levels)), max(levels)) if levels else None,
        interval="range",
        why=f"1,000 steps; an exponent fitted here would be the optimiser's{experiment.limit}",
    )


def dense(dense: Experiment) -> Quantity:
    sizes, _ = dense.losses("D")
    limited = all(cell.limited_by_data for cell in dense.study.cells)
    return Quantity(
        quantity="alpha_D of a ReLU network on dense inputs",
        printed=None,
        stated=Printed(value=1.25, rounding=0.11),
        measured=dense.exponent("D") if limited else None,
        why=(
            f"D = {sizes[0]:g} to {sizes[-1]:g}, 200 coordinates: near the sparse exponent, so that it alone "
            "does not tell sparse from dense; the ratio does"
            if limited
            else "limited by the optimiser: no exponent"
        ),
    )
