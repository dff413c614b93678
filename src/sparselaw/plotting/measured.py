"""Pictures of measured features. Every function draws on the ``ax`` it is given and returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.plotting.style import COLOURS, GREY, THEORY, axes_of, band, bars, ends_here, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sparselaw.measuring import LearningCurve, Measurement

STEEPEST = 5.0  # local exponents beyond are the end of the list of features, and not drawn


def seen_features(found: Measurement, *, ax: Axes | None = None) -> Axes:
    """K(D), the features that D rows show, beside K = D."""
    ax = axes_of(ax)
    D = [p.D for p in found.curve]
    seen = zip(*(p.K for p in found.curve), strict=True)
    band(ax, D, seen, COLOURS[0], "features seen, K(D)", marker="o")
    ax.plot(D, D, color=GREY, ls="--", lw=1.0, label="K = D")
    return finish(ax, "rows D", "features", "Features seen")


def unseen_variance(found: Measurement, *, ax: Axes | None = None) -> Axes:
    """U(D), the share of the variance in features that D rows do not show, and what lies beyond the data."""
    ax = axes_of(ax)
    points = [p for p in found.curve if p.unseen.best > 0.0]
    if points:
        unseen = zip(*(p.unseen for p in points), strict=True)
        band(ax, [p.D for p in points], unseen, COLOURS[0], "unseen variance, U(D)", marker="o")
    ahead = {b.D: b.unseen for b in found.beyond if b.unseen is not None}
    if ahead:
        look: dict[str, Any] = {"fmt": "D", "ms": 4, "color": COLOURS[1], "label": "beyond the data"}
        bars(ax, list(ahead), list(ahead.values()), **look)
        ends_here(ax, found.rows, "data end")
    return finish(ax, "rows D", "share of the variance", "Variance that D rows do not show")


def local_exponents(found: Measurement, *, ax: Axes | None = None) -> Axes:
    """alpha1(D) and the exponent of the data-limited loss: flat where one power law holds."""
    ax = axes_of(ax)
    for name, label, colour in (
        ("alpha1", r"local $\alpha_1$", COLOURS[0]),
        ("alpha_D", r"$\alpha_D$ of the unseen", COLOURS[1]),
    ):
        every = {p.D: getattr(p, name) for p in found.curve if getattr(p, name) is not None}
        known = {D: value for D, value in every.items() if value.best <= STEEPEST}
        if known:
            band(ax, list(known), zip(*known.values(), strict=True), colour, label, marker="o")
    if found.alpha1 is not None:
        label = rf"one $\alpha_1$: {found.alpha1.best:.3g}"
        ax.axhline(found.alpha1.best, color=THEORY, lw=0.8, ls="--", label=label)
    if ax.get_ylim()[1] > STEEPEST:
        ax.set_ylim(0.0, STEEPEST)
    return finish(ax, "rows D", "exponent", "Local exponents", log="x")


def learning_curve(found: LearningCurve, *, ax: Axes | None = None, signs: bool = False) -> Axes:
    """The measured loss against D beside the theories; ``signs``: those with random signs."""
    ax = axes_of(ax)
    points = [(p, p.signs if signs else p.measured) for p in found.curve]
    points = [(p, v) for p, v in points if v.best > 0.0]
    D = [p.D for p, _ in points]
    lowest = 0.3 * min(v.best for _, v in points)
    looks = (
        ("unseen", "unseen alone", COLOURS[2], ":"),
        ("sparse", "sparse equivalent", COLOURS[4], "-."),
        ("cavity", "cavity", COLOURS[0], "-"),
        ("gaussian", "covariance (Gaussian)", COLOURS[1], "--"),
    )
    for name, label, colour, dash in looks:
        values = np.array([getattr(p, name) for p, _ in points])
        ax.plot(D, np.where(values > lowest, values, np.nan), color=colour, ls=dash, label=label)
    what = "measured, random signs" if signs else "measured"
    bars(ax, D, [v for _, v in points], fmt="o", color=THEORY, ms=5, label=what, zorder=5)
    return finish(
        ax, "training rows D", "loss / variance", f"Verdict: {found.verdict}" if not signs else "Random signs"
    )


def width_curve(found: LearningCurve, *, ax: Axes | None = None) -> Axes:
    """The measured loss against N at many rows, beside the eigenvalues of the covariance."""
    ax = axes_of(ax)
    N = [p.N for p in found.widths]
    covariance, single = [p.gaussian for p in found.widths], [p.diagonal for p in found.widths]
    ax.plot(N, covariance, color=COLOURS[1], ls="--", marker="_", label="covariance (Gaussian)")
    ax.plot(N, single, color=COLOURS[5], ls=":", marker="_", label="single features")
    ax.plot(N, [p.measured.best for p in found.widths], "o", color=THEORY, ms=5, label="measured")
    return finish(ax, "random features N", "loss / variance", "Along the model size")
