"""The picture of the item beyond-networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from sparselaw.experiments.paper.network_runs import KINDS, Experiment
from sparselaw.inputs import ActivationInputs
from sparselaw.plotting.style import COLOURS, THEORY
from sparselaw.theory.reduced_rank import trained_loss


def draw(figure: Figure, found: Mapping[str, Experiment]) -> None:
    left, middle, right = figure.subplots(1, 3)
    for (kind, _), colour in zip(KINDS.items(), COLOURS, strict=False):
        for name, experiment in found.items():
            if name.split(" at ")[0] == kind:
                shown = [cell for cell in experiment.study.cells if cell.ratio is not None]
                ratios = [cell.ratio for cell in shown if cell.ratio is not None]
                ends = [[r.best - r.low for r in ratios], [r.high - r.best for r in ratios]]
                label = kind if name.endswith("(1, 0.3)") else None
                left.errorbar(
                    [cell.D for cell in shown], [r.best for r in ratios], yerr=ends, fmt="o-", markersize=3,
                    linewidth=0.8, capsize=2, color=colour, label=label,
                )  # fmt: skip
    left.axhline(1.0, color=THEORY, linewidth=1.0)
    left.set(xscale="log", yscale="log", xlabel="D", ylabel="loss / unseen variance", title="networks")
    left.set_ylim(0.7, 12.0)
    for alpha1, colour in zip((1.0, 2.0, 0.5), COLOURS, strict=False):
        name = f"features at alpha1 = {alpha1:g}"
        if f"trained {name}" in found:
            trained = found[f"trained {name}"]
            N, losses = trained.losses("N")
            middle.plot(N, losses.mean(axis=1), "o", color=colour, label=f"trained, alpha1 = {alpha1:g}")
            middle.plot(N, closed_losses(trained), color=THEORY, linewidth=1.0)
            N, losses = found[f"linear {name}"].losses("N")
            middle.plot(N, np.median(losses, axis=1), "x", color=colour)
    middle.plot([], [], "x", color="grey", label="frozen")
    middle.set(xscale="log", yscale="log", xlabel="N", ylabel="population loss", title="256 outputs")
    for alpha1, colour in zip((1.0, 0.5), COLOURS, strict=False):
        name = f"facts at alpha1 = {alpha1:g}"
        if name in found:
            cells = found[name].study.cells
            right.plot(
                [cell.D for cell in cells], [cell.mean for cell in cells], "o", color=colour, label=name
            )
            right.plot(
                [cell.D for cell in cells], [cell.unseen for cell in cells], color=THEORY, linewidth=1.0
            )
            N, losses = found[f"frozen {name}"].losses("N")
            right.plot(N, losses.mean(axis=1), "x", color=colour)
    right.plot([], [], "x", color="grey", label="frozen, against N")
    right.plot([], [], color=THEORY, linewidth=1.0, label="unseen (C-1)/C")
    right.set(xscale="log", yscale="log", xlabel="D, or N", ylabel="error rate", title="facts")
    for ax in (left, middle, right):
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.legend(fontsize="x-small")


def closed_losses(experiment: Experiment) -> list[float]:
    """The closed form at the widths of a sweep of trained features."""
    inputs, D = cast(ActivationInputs, experiment.inputs), experiment.tasks[0].D
    N, _ = experiment.losses("N")
    return [trained_loss(inputs, int(n), D, experiment.tasks[0].outputs) for n in N]
