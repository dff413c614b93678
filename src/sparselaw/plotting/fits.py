"""Pictures of fitted laws. Every function draws on the ``ax`` it is given and returns it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Conditioning, Cost, parse_cost
from sparselaw.errors import InputError
from sparselaw.interval import Z95
from sparselaw.laws import two_exponent_laws
from sparselaw.numbers import short_size
from sparselaw.planning.allocate import allocate
from sparselaw.planning.budget_curves import isoflop
from sparselaw.planning.source import Source
from sparselaw.plotting.style import (
    COLOURS,
    GREY,
    SIZES,
    THEORY,
    axes_of,
    finish,
    power_of_ten,
    sequence,
    size_ticks,
    units_of,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from sparselaw.fitting.exponent_tests import ExponentProfile
    from sparselaw.fitting.fitted_law import FittedLaw
    from sparselaw.planning import Plan

LINE, ACCENT = COLOURS[:2]
FINE = 200
MOST_CURVES = 8
FRONTIER = 24  # budgets at which the best N and D are drawn


def fit_over_data(law: FittedLaw, *, ax: Axes | None = None, curves: int = 5) -> Axes:
    """Losses against N (or the one size that varies), coloured by D, with the law at a few D."""
    ax = axes_of(ax)
    import matplotlib as mpl

    if law.law.has_one_size():
        return _sweeps_over_data(law, ax)
    runs = law.runs
    data, loss = units_of(runs.D, runs.loss)
    norm = mpl.colors.LogNorm(runs.D.min(), runs.D.max())
    colours = mpl.colormaps["viridis"]
    points = ax.scatter(runs.N, runs.loss, c=runs.D, norm=norm, cmap=colours, s=14, linewidths=0, zorder=2)
    N = np.geomspace(runs.N.min(), runs.N.max(), FINE)
    known = np.unique(runs.D)
    shown = np.quantile(runs.D, np.linspace(0.05, 0.95, curves), method="nearest")
    for D in known if known.size <= MOST_CURVES else shown:  # each with runs of its own beside it
        ax.plot(N, law.loss(N, D), color=colours(norm(D)), lw=1.4, zorder=1)
    size_ticks(ax.figure.colorbar(points, ax=ax, label=data).ax.yaxis)
    return finish(ax, SIZES, loss, f"{law.name} fit (lines) over {law.rows_used} runs")


def residuals(law: FittedLaw, *, ax: Axes | None = None) -> Axes:
    """How far each run lies from the law, in per cent, against the fitted loss."""
    ax = axes_of(ax)
    fitted = law.runs.loss * np.exp(-law.residuals)
    percent = 100.0 * np.expm1(law.residuals)
    ax.axhline(0.0, color=THEORY, lw=0.8)
    ax.scatter(fitted, percent, s=14, color=LINE, linewidths=0, alpha=0.7)
    typical = float(np.median(np.abs(percent)))
    ax.axhspan(-typical, typical, color=LINE, alpha=0.2, lw=0, label="half of the runs")
    return finish(ax, f"fitted {_unit(law)}", "loss above the fit (%)", "Residuals", log="x")


def fitted_and_measured(law: FittedLaw, *, ax: Axes | None = None) -> Axes:
    """Measured against fitted losses, for any law."""
    ax = axes_of(ax)
    fitted = law.runs.loss * np.exp(-law.residuals)
    ends = [min(fitted.min(), law.runs.loss.min()), max(fitted.max(), law.runs.loss.max())]
    ax.plot(ends, ends, color=THEORY, lw=0.8)
    ax.scatter(fitted, law.runs.loss, s=14, color=LINE, linewidths=0, alpha=0.7)
    unit = _unit(law)
    return finish(ax, f"fitted {unit}", unit, f"{law.name} fit to {law.rows_used} runs")


def budget_profiles(plans: Plan | Sequence[Plan], *, ax: Axes | None = None) -> Axes:
    """The loss along each plan's budget as N is varied; a dot marks the best N and a bar its interval."""
    ax = axes_of(ax)
    plans = plans if isinstance(plans, Iterable) else [plans]
    from scipy.interpolate import PchipInterpolator

    colours = sequence(len(plans))
    dashes = ["-", "--", "-.", ":"]
    for i, plan in enumerate(plans):
        shown = np.isfinite(plan.isoflop.loss)
        N, loss = plan.isoflop.N[shown], plan.isoflop.loss[shown]
        look: dict[str, Any] = {"color": colours[i], "label": power_of_ten(plan.budget)}
        if plan.side is None and N.size > 2:  # smooth between the points that were looked at
            fine = np.linspace(np.log(N[0]), np.log(N[-1]), FINE)
            smooth = np.exp(PchipInterpolator(np.log(N), np.log(loss))(fine))
            ax.plot(np.exp(fine), smooth, ls=dashes[i % len(dashes)], lw=1.6, **look)
        else:  # a peak may stand between any two of them
            ax.plot(N, loss, "s", ms=4, **look)
        ax.plot([plan.N.best], [plan.loss.best], "o", color=colours[i], ms=7)
        if plan.N.low < plan.N.high:
            below, above = plan.N.best - plan.N.low, plan.N.high - plan.N.best
            ax.errorbar(
                [plan.N.best], [plan.loss.best], xerr=[[below], [above]], color=ACCENT, capsize=5, lw=1.8
            )
    cost = plans[0].cost
    lost = [plan.loss.best for plan in plans]
    unit = units_of([plan.D.best for plan in plans], lost)[1] if cost.startswith("6nd") else "loss"
    return finish(ax, SIZES, unit, "What a wrong $N$ costs", legend_title=_budget(cost), columns=3)


def loss_contour(
    source: FittedLaw | Source,
    *,
    ax: Axes | None = None,
    cost: str = "6nd",
    levels: int = 8,
    plans: Sequence[Plan] = (),
) -> Axes:
    """Lines of equal fitted loss over (N, D), the runs, and the frontier of best allocations.

    Every one of the ``plans`` is a star with its intervals. Where their cost is not the frontier's there is
    none: it would not go through them.
    """
    ax = axes_of(ax)
    law = None if isinstance(source, Source) else source
    spend = parse_cost(cost) if law is None else _cost(law, cost)
    sizes = source.sizes if isinstance(source, Source) else (source.runs.N, source.runs.D)
    assert sizes is not None
    asked = {axis: np.array([tuple(getattr(plan, axis)) for plan in plans]) for axis in "ND"}
    if plans:
        for axis, other, draw in (("N", "D", ax.hlines), ("D", "N", ax.vlines)):
            draw(asked[other][:, 1], asked[axis][:, 0], asked[axis][:, 2], color=THEORY, lw=1.2, zorder=4)
        best = asked["N"][:, 1], asked["D"][:, 1]
        ax.plot(*best, "*", ms=11, color=THEORY, zorder=5, ls="none", label="plans")
    shown = [np.append(known, asked[axis]) for axis, known in zip("ND", sizes, strict=True)]
    N, D = (np.geomspace(np.nanmin(values) / 2, np.nanmax(values) * 2, 120) for values in shown)
    # before labels are set, which cut the lines where they stand
    ax.set(xscale="log", yscale="log", xlim=(N[0], N[-1]), ylim=(D[0], D[-1]))
    surface = np.asarray(source.loss(*np.meshgrid(N, D)))
    lines = np.unique([float(f"{v:.3g}") for v in np.quantile(surface, np.linspace(0.04, 0.96, levels))])
    lines = lines[(lines > surface.min()) & (lines < surface.max())]
    if lines.size:  # else the law is as good as flat over the runs, and there is no line to draw
        drawn = ax.contour(N, D, surface, levels=lines, cmap="viridis", linewidths=1.2)
        ax.clabel(drawn, fmt=lambda v: f"{v:.3g}", fontsize="x-small")
    ax.scatter(*sizes, s=7, color=GREY, linewidths=0, label="runs")
    if not plans or plans[0].cost == cost:
        least, most = spend.compute(N[[0, -1]], D[[0, -1]])
        budgets = np.geomspace(least, most, FRONTIER).tolist()
        if isinstance(source, Source):
            found = [source.search(spend, C).best for C in budgets]
        else:
            found = [allocate(source.loss, spend, C).best for C in budgets]
        ax.plot([b.N for b in found], [b.D for b in found], color=ACCENT, lw=2, label="best $N$, $D$")
    data, unit = units_of(sizes[1], surface)
    return finish(ax, SIZES, data, f"Lines of equal {unit}", columns=3)


def isoflop_slices(
    law: FittedLaw, budgets: Sequence[float], *, ax: Axes | None = None, cost: str = "6nd"
) -> Axes:
    """Loss against N at a few budgets, all of each budget spent; a dot marks the best N."""
    ax = axes_of(ax)
    spend = _cost(law, cost)
    dashes = ["-", "--", "-.", ":"]
    colours = sequence(len(budgets))
    factors = tuple(np.geomspace(1 / 16, 16, 121))
    for i, budget in enumerate(sorted(budgets)):
        best = allocate(law.loss, spend, budget).best
        slice_ = isoflop(law.loss, spend, budget, best, law.law.floor, 1.0, factors)
        label = power_of_ten(budget)
        ax.plot(slice_.N, slice_.loss, color=colours[i], ls=dashes[i % len(dashes)], lw=1.6, label=label)
        ax.plot([best.N], [best.loss], "o", color=colours[i], ms=6)
    title = _budget(spend.name)
    return finish(ax, SIZES, _unit(law), "What a wrong $N$ costs", legend_title=title, columns=3)


def exponent_profile(
    profile: ExponentProfile, *, ax: Axes | None = None, draws: FloatArray | None = None
) -> Axes:
    """How much worse the fit gets away from the best exponents; the line has alpha_N = alpha_D.

    ``draws`` (n, 2) adds the bootstrap draws of the two exponents.
    """
    ax = axes_of(ax)
    excess = 100.0 * (profile.values / profile.lowest - 1.0)
    levels = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0]
    lines = ax.contour(
        profile.alpha_N, profile.alpha_D, excess.T, levels=levels, cmap="viridis", linewidths=1.2
    )
    ax.clabel(lines, fmt=lambda v: f"{v:g} %", fontsize="x-small")
    if draws is not None:
        ax.scatter(draws[:, 0], draws[:, 1], s=4, color=GREY, linewidths=0, zorder=0, label="draws")
    i, j = np.unravel_index(int(np.argmin(profile.values)), profile.values.shape)
    ax.plot([profile.alpha_N[i]], [profile.alpha_D[j]], "o", color=ACCENT, ms=6, label="best")
    ends = [max(profile.alpha_N[0], profile.alpha_D[0]), min(profile.alpha_N[-1], profile.alpha_D[-1])]
    if ends[0] < ends[1]:
        ax.plot(ends, ends, color=THEORY, lw=1, ls="--", label="equal exponents")
    ax.set_xlim(profile.alpha_N[0], profile.alpha_N[-1])
    ax.set_ylim(profile.alpha_D[0], profile.alpha_D[-1])
    x, y = (f"exponent of ${size}$ ({name})" for size, name in zip("ND", profile.names, strict=True))
    return finish(ax, x, y, "Objective above its minimum", log="", columns=3)


def _sweeps_over_data(law: FittedLaw, ax: Axes) -> Axes:
    """The fitted values are drawn as they came: every sweep has coefficients of its own."""
    sweeps = law.runs.sweeps
    assert sweeps is not None
    size, fitted = law.runs.sizes[sweeps.size], law.runs.loss * np.exp(-law.residuals)
    marks = ["o", "s", "^", "D", "v", "P"]
    for i, value in enumerate(sweeps.values):
        rows = np.flatnonzero(sweeps.index == i)
        rows = rows[np.argsort(size[rows])]
        colour = COLOURS[i % len(COLOURS)]
        ax.plot(size[rows], law.runs.loss[rows], marks[i % len(marks)], ms=5, color=colour)
        ax.plot(size[rows], fitted[rows], lw=1.4, label=f"{sweeps.other} = {short_size(value)}", color=colour)
    name, last = list(law.params.items())[-1]
    title = f"{name} {last.best:.3g} {last.ends()}"
    data, unit = units_of(law.runs.D, law.runs.loss)
    return finish(ax, SIZES if sweeps.size == "N" else data, unit, title)


def _cost(law: FittedLaw, name: str) -> Cost:
    if law.law.sizes != ("N", "D"):
        raise InputError("law", law.name, "has no trade-off between N and D", f"fit {two_exponent_laws()}")
    if law.sparsity is None:
        return parse_cost(name)
    return parse_cost(
        name, Conditioning.of_sparsity(law.sparsity["alpha1"].best, law.sparsity["alpha2"].best)
    )


def _unit(law: FittedLaw) -> str:
    return units_of(law.runs.D, law.runs.loss)[1]


def _budget(cost: str) -> str:
    """What a budget counts."""
    names = {"6nd": "compute $6ND$ (FLOP)", "6nd + 2 N T": "compute $6ND + 2NT$ (FLOP)"}
    return names.get(cost.partition(", T =")[0], f"budget ({cost})")


MOST_TICKS = 7


def loss_curves(runs: pd.DataFrame, law: FittedLaw | None = None, *, ax: Axes | None = None) -> Axes:
    """Loss against the size that varies most, one curve for each value of the other; the law as lines.

    ``runs`` has columns N, D, loss. Runs of the same size are averaged, with bars of 95 %.
    """
    ax = axes_of(ax)
    x, other = ("N", "D") if runs["N"].nunique() >= runs["D"].nunique() else ("D", "N")
    groups = list(runs.groupby(other, sort=True))
    for colour, (value, group) in zip(sequence(len(groups)), groups, strict=True):
        cells = group.groupby(x)["loss"]
        sizes = np.asarray(cells.mean().index, dtype=float)
        error = Z95 * cells.sem().fillna(0.0).to_numpy()
        size: Any = value
        label = f"{other} = {float(size):,.0f}"
        ax.errorbar(sizes, cells.mean().to_numpy(), yerr=error, fmt="o", color=colour, capsize=2, label=label)
        if law is not None:
            both = (sizes, float(size)) if x == "N" else (float(size), sizes)
            losses = law.loss(*((sizes,) if law.law.has_one_size() else both))
            ax.plot(sizes, losses, color=THEORY, linewidth=1.0)
    if law is not None:
        ax.plot([], [], color=THEORY, linewidth=1.0, label="fitted law")
    data, unit = units_of(runs["D"], runs["loss"])
    finish(ax, SIZES if x == "N" else data, unit)
    measured = sorted(runs[x].unique())
    if len(measured) <= MOST_TICKS:  # the sizes themselves, instead of a decade's crowded minor ticks
        ax.set_xticks(measured, [f"{size:,.0f}" for size in measured])
        ax.minorticks_off()
    return ax
