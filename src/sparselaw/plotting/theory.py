"""Pictures of the theory: phase diagram, loss surface, scaling function, frontier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sparselaw.costs import Conditioning, parse_cost
from sparselaw.failure.failure_curve import FailurePoint
from sparselaw.planning.budget_curves import frontier_curve
from sparselaw.plotting.style import COLOURS, GREY, THEORY, axes_of, bars, finish, sequence
from sparselaw.theory.scaling_limit import frontier, log_scaling_along
from sparselaw.theory.surface import curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sparselaw.inputs import Inputs


def phase_diagram(*, ax: Axes | None = None) -> Axes:
    """The three regimes of (alpha1, alpha2) and the outer boundary (the paper's figure 1)."""
    ax = axes_of(ax)
    right, top, bottom = 3.0, 2.0, -4.0
    corner = -1.0 - right  # alpha2 on the boundary alpha1 + alpha2 + 1 = 0 at the right edge
    symmetric = [(-1, 0), (0, -1), (0, top), (-1, top)]
    asymmetric = [(0, -1), (right, -1), (right, top), (0, top)]
    failure = [(0, -1), (right, corner), (right, -1)]
    regions = (
        (symmetric, COLOURS[5], "symmetric", (-0.5, 1.0)),
        (asymmetric, COLOURS[4], "asymmetric", (1.5, 0.75)),
        (failure, COLOURS[1], "gradient descent\ncan fail", (2.15, -1.75)),
    )
    for corners, colour, name, place in regions:
        xs, ys = zip(*corners, strict=True)
        ax.fill(xs, ys, color=colour, alpha=0.35, linewidth=0)
        ax.text(*place, name, ha="center", va="center", rotation=90 if name == "symmetric" else 0)
    ax.text(1.5, 0.25, r"$\alpha_D=\alpha_N/(\alpha_1+1)$", ha="center", va="center", fontsize="small")
    ax.text(-0.22, 1.0, r"$\alpha_D=\alpha_N$", ha="center", va="center", rotation=90, fontsize="small")
    ax.text(2.15, -2.2, r"$P\sim D^{-\nu}$", ha="center", va="center", fontsize="small")
    ax.plot([-1, -1, right], [top, 0, corner], color=THEORY, linewidth=2)
    ax.plot([0, 0], [-1, top], color=THEORY, linestyle="--", linewidth=1)
    ax.plot([0, right], [-1, -1], color=THEORY, linestyle="--", linewidth=1)
    ax.text(0.75, -2.75, r"$\alpha_1+\alpha_2+1=0$", fontsize="small", color=GREY, ha="center")
    ax.set(xlim=(-1.25, right), ylim=(bottom, top), xlabel=r"$\alpha_1$ (sparsity)")
    ax.set_ylabel(r"$\alpha_2$ (amplitude)")
    ax.grid(False)
    return ax


def loss_surface(inputs: Inputs, N: Sequence[int], D: Sequence[int], *, ax: Axes | None = None) -> Axes:
    """Loss against N, one curve for each D, from the closed form; the peak is cut where it is infinite."""
    ax = axes_of(ax)
    for colour, data in zip(sequence(len(D)), D, strict=True):
        losses = curve(inputs, N=N, D=data)
        losses[~np.isfinite(losses)] = np.nan
        ax.loglog(N, losses, color=colour, label=f"D = {data:,}")
    return finish(ax, "model size $N$", "population loss")


def scaling_curve(
    inputs: Inputs, *, ax: Axes | None = None, span: tuple[float, float] = (0.05, 30.0)
) -> Axes:
    """S(xi), the curve on which loss * N^alpha_N collapses, with its peak marked."""
    ax = axes_of(ax)
    crit = inputs.power_law().xi_crit
    gap = np.geomspace(2e-3, 1.0, 120)
    below = crit * (1.0 - gap * (1.0 - span[0] / crit))
    above = crit * np.exp(gap * math.log(span[1] / crit))
    for part, label in ((np.sort(below), r"closed form $\mathcal{S}(\xi)$"), (above, None)):
        ax.loglog(part, np.exp(log_scaling_along(inputs, np.log(part))), color=THEORY, label=label)
    ax.axvline(crit, ymax=0.8, color=GREY, linestyle=":", label=rf"$\xi_{{\rm crit}}$ = {crit:.3f}")
    return finish(ax, r"$\xi = D^{\alpha_D/\alpha_N}/N$", r"loss $\cdot\, N^{\alpha_N}$")


def compute_frontier(
    inputs: Inputs, N: Sequence[int], *, ax: Axes | None = None, cost: str = "direct"
) -> Axes:
    """Loss against compute, one curve for each N with D varied; the best of every budget, and its limit."""
    ax = axes_of(ax)
    best = frontier(inputs, cost)
    spent = parse_cost(cost, Conditioning.of_inputs(inputs))
    law = inputs.power_law()
    e = law.alpha_N / law.alpha_D
    for colour, size in zip(sequence(len(N)), N, strict=True):
        D = np.unique(np.round((np.geomspace(0.1, 8.0, 120) * size) ** e).astype(np.int64))
        D = D[D >= 1]
        C = np.asarray(spent.compute(float(size), D.astype(float)))
        losses = curve(inputs, N=size, D=D.astype(float))
        losses[~np.isfinite(losses)] = np.nan
        ax.loglog(C, losses, color=colour, linewidth=1.0)
        ax.annotate(
            f"N={size}", (C[-1], losses[-1]), fontsize="x-small", color=colour, ha="right", va="bottom"
        )
    low, high = ax.get_xlim()
    budgets = np.geomspace(max(low, 1e3 * float(spent.compute(1.0, 1.0))), high, 50)
    optimum = frontier_curve(inputs, budgets, cost)
    ax.loglog(budgets, optimum.loss, color=THEORY, label="the best at each budget")
    label = (
        rf"large budgets: {best.best.constant:.2f} $C^{{-{best.alpha_C:.3f}}}$, $\xi$ = {best.best.xi:.2f}"
    )
    ax.loglog(budgets, best.best.constant * budgets**-best.alpha_C, color=THEORY, linestyle="--", label=label)
    return finish(ax, f"compute $C$ ({cost})", "population loss", columns=1)


SMALLEST = 1e-300  # nothing smaller is drawn on a logarithmic axis


def failure_curve(points: Sequence[FailurePoint], *, ax: Axes | None = None, nu: float | None = None) -> Axes:
    """Draws the points with their intervals, the exact spike law, and the slope D^-nu where it exists.

    A total of which only an upper end is known is drawn as an arrow down from there.
    """
    ax = axes_of(ax)
    ordered = sorted(points, key=lambda point: point.D)
    for method, marker in (("direct", "o"), ("importance", "s"), ("exact-spike", "D"), ("exact", "D")):
        chosen = [p for p in ordered if p.method == method and p.probability.best > SMALLEST]
        if chosen:
            D, total = [p.D for p in chosen], [p.probability for p in chosen]
            bars(ax, D, total, fmt=marker, color="black", zorder=3, label=f"total ({method})")
    lines = [
        (
            "v",
            GREY,
            "upper end",
            {p.D: p.probability.high for p in ordered if p.probability.best <= SMALLEST},
        ),
        ("--", COLOURS[0], "bulk", {p.D: (1.0 - p.spike) * p.bulk.best for p in ordered}),
        ("-", COLOURS[1], "spike (exact)", {p.D: p.spike for p in ordered}),
    ]
    spikes = [p for p in ordered if p.spike > SMALLEST]
    if spikes and nu is not None:
        end = spikes[-1]
        slope = {p.D: end.spike * (p.D / end.D) ** -nu for p in spikes}
        lines.append((":", COLOURS[1], f"$D^{{-{nu:.3g}}}$", slope))
    for look, colour, label, values in lines:
        shown = {D: value for D, value in values.items() if value > SMALLEST}
        if shown:
            ax.plot(list(shown), list(shown.values()), look, color=colour, label=label)
    return finish(ax, "samples $D$", "P(gradient descent fails)")
