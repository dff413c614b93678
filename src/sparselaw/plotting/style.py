"""One look for every figure: colour-blind-safe, light grids, readable small."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Okabe and Ito's palette, ordered so that neighbours differ in lightness too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
THEORY = "#000000"
GREY = "#7F7F7F"

SETTINGS: dict[Any, Any] = {
    "axes.grid": True,
    "axes.prop_cycle": None,  # filled in by style()
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "font.size": 10,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "legend.fontsize": "small",
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "savefig.dpi": 160,
    "svg.hashsalt": "sparselaw",  # same figure, same bytes
}


@contextmanager
def style() -> Iterator[None]:
    """Use the project's look inside a ``with`` block."""
    import matplotlib as mpl
    from cycler import cycler

    with mpl.rc_context({**SETTINGS, "axes.prop_cycle": cycler(color=COLOURS)}):
        yield


def sequence(count: int) -> list[Any]:
    """Colours for an ordered family of curves, dark to light, without the pale end."""
    import matplotlib as mpl

    shades = mpl.colormaps["viridis"]
    return [shades(0.9 * i / max(1, count - 1)) for i in range(count)]
