"""Loss curves of a table of runs, with a law drawn through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.interval import Z95
from sparselaw.plotting.style import THEORY, sequence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from sparselaw.fitting import FittedLaw

MOST_TICKS = 7


def loss_curves(runs: pd.DataFrame, law: FittedLaw | None = None, *, ax: Axes) -> Axes:
    """Loss against the size that varies most, one curve for each value of the other; the law as lines.

    ``runs`` has columns N, D, loss. Runs of the same size are averaged, with bars of 95 %.
    """
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
            ax.plot(sizes, _law_loss(law, x, sizes, float(size)), color=THEORY, linewidth=1.0)
    if law is not None:
        ax.plot([], [], color=THEORY, linewidth=1.0, label="fitted law")
    ax.set(xscale="log", yscale="log", xlabel=x, ylabel="loss")
    measured = sorted(runs[x].unique())
    if len(measured) <= MOST_TICKS:  # the sizes themselves, instead of a decade's crowded minor ticks
        ax.set_xticks(measured, [f"{size:,.0f}" for size in measured])
        ax.minorticks_off()
    ax.legend()
    return ax


def _law_loss(law: FittedLaw, x: str, sizes: Any, other: float) -> Any:
    if law.law.has_one_size():
        return law.loss(sizes)
    return law.loss(*((sizes, other) if x == "N" else (other, sizes)))
