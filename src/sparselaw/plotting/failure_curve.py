"""The failure probability against D: total, spike and bulk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparselaw.failure.failure_point import FailurePoint
from sparselaw.plotting.style import COLOURS, GREY

SMALLEST = 1e-300  # nothing smaller is drawn on a logarithmic axis


def failure_curve(points: Sequence[FailurePoint], *, ax: Any, nu: float | None = None) -> Any:
    """Draws the points with their intervals, the exact spike law, and the slope D^-nu where it exists.

    A total of which only an upper end is known is drawn as an arrow down from there.
    """
    ordered = sorted(points, key=lambda point: point.D)
    for method, marker in (("direct", "o"), ("importance", "s"), ("exact-spike", "D"), ("exact", "D")):
        chosen = [p for p in ordered if p.method == method and p.probability.best > SMALLEST]
        if chosen:
            best = [p.probability.best for p in chosen]
            below = [p.probability.best - p.probability.low for p in chosen]
            above = [p.probability.high - p.probability.best for p in chosen]
            ax.errorbar(
                [p.D for p in chosen], best, yerr=[below, above], fmt=marker, color="black", capsize=2,
                zorder=3, label=f"total ({method})",
            )  # fmt: skip
    unseen = [p for p in ordered if p.probability.best <= SMALLEST < p.probability.high]
    if unseen:
        ax.plot(
            [p.D for p in unseen], [p.probability.high for p in unseen], "v", color=GREY, label="upper end"
        )
    bulk = [p for p in ordered if p.bulk.best > SMALLEST]
    if bulk:
        ax.plot(
            [p.D for p in bulk],
            [(1.0 - p.spike) * p.bulk.best for p in bulk],
            "--",
            color=COLOURS[0],
            label="bulk",
        )
    spikes = [p for p in ordered if p.spike > SMALLEST]
    if spikes:
        ax.plot(
            [p.D for p in spikes], [p.spike for p in spikes], "-", color=COLOURS[1], label="spike (exact)"
        )
        if nu is not None:
            end = spikes[-1]
            slope = [end.spike * (p.D / end.D) ** -nu for p in spikes]
            ax.plot([p.D for p in spikes], slope, ":", color=COLOURS[1], label=f"$D^{{-{nu:.3g}}}$")
    ax.set(xscale="log", yscale="log", xlabel="samples D", ylabel="P(gradient descent fails)")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small")
    return ax
