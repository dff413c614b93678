"""Statements on networks and width: what a trained first layer needs of it, and the missing peak."""

from __future__ import annotations

import math

import numpy as np

from sparselaw.experiments.paper.item import Quantity
from sparselaw.experiments.paper.network_numbers import (
    frozen_constant,
    mean_ratio,
    median_interval,
    over_tail,
)
from sparselaw.experiments.paper.network_picture import closed_losses
from sparselaw.experiments.paper.network_runs import Experiments
from sparselaw.experiments.paper.verdict import Printed
from sparselaw.log_slope import log_slope


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
                quantity=f"alpha_N of trained linear networks, 256 outputs, alpha1 = {alpha1:g}",
                printed=None,
                stated=Printed(value=exponent, rounding=0.1),
                measured=trained.exponent("N"),
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
                    quantity=f"loss / tail sum, {label} features, alpha1 = {alpha1:g}",
                    printed=None,
                    stated=Printed(value=value, rounding=allowed),
                    measured=over_tail(experiment),
                    theory=frozen_constant(experiment.inputs) if label == "frozen" else None,
                    why=f"N = {N[0]:g} to {N[-1]:g}, a mean over the sweep",
                )
            )
    return quantities


def peak(found: Experiments) -> list[Quantity]:
    quantities = []
    for features, stated in (
        ("linear", Printed(value=11.0, rounding=2.0)),
        ("trained", Printed(value=1.003, rounding=0.003)),
    ):
        records = found[f"{features} features at the peak"].records
        ratios = [record.loss / (record.control or math.nan) for record in records]
        seen = np.mean([record.seen or 0 for record in records])
        quantities.append(
            Quantity(
                quantity=f"median loss / unseen at N = 250, D = 16,000, {features} features",
                printed=None,
                stated=stated,
                measured=median_interval(ratios),
                why=f"just above the {seen:.0f} coordinates seen, where frozen features have their peak",
            )
        )
    return quantities


def one_unit(found: Experiments) -> Quantity:
    return Quantity(
        quantity="loss / unseen of a linear network of one unit, scalar target",
        printed=None,
        stated=Printed(value=1.0, rounding=0.05),
        measured=mean_ratio(found["one unit"], sign=False),
        theory=1.0,
        why="once the first layer is trained a scalar linear target needs N = 1",
    )
