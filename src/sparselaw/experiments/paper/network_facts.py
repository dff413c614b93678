"""Statements on facts, one token and one answer each: embeddings trained and frozen, and a transformer."""

from __future__ import annotations

from importlib.util import find_spec

from sparselaw.experiments.networks.network import NO_TORCH
from sparselaw.experiments.paper.item import Quantity
from sparselaw.experiments.paper.network_numbers import mean_ratio
from sparselaw.experiments.paper.network_runs import ANSWERS, Experiments
from sparselaw.experiments.paper.verdict import Printed


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
                quantity=f"error / (unseen (C-1)/C), trained embeddings, {name}",
                printed=None,
                stated=Printed(value=1.0, rounding=0.05),
                measured=mean_ratio(trained, sign=False),
                theory=1.0,
                why=why,
            ),
            Quantity(
                quantity=f"alpha_D of trained embeddings, {name}",
                printed=None,
                stated=Printed(value=alpha_D, rounding=0.05),
                measured=trained.exponent("D"),
                theory=alpha1 / (alpha1 + 1.0),
                why=f"{why}; theory: alpha2 = -1",
            ),
            Quantity(
                quantity=f"alpha_N of frozen embeddings, {name}",
                printed=None,
                stated=Printed(value=alpha_N, rounding=0.1),
                measured=frozen.exponent("N"),
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
        quantity="error exponent in D of a one-layer transformer, facts at alpha1 = 1",
        printed=None,
        stated=Printed(value=0.54, rounding=0.04),
        measured=measured,
        theory=0.5,
        why=why,
    )
