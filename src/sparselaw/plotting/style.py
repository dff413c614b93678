"""One look for every figure: colour-blind-safe, light grids, readable small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.numbers import short_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sparselaw.interval import Interval

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
    """Use the project's look inside a ``with`` block.

    The first figure of a notebook makes it interactive, which outlasts the block: else no later one is shown.
    """
    import matplotlib as mpl
    from cycler import cycler

    with mpl.rc_context({**SETTINGS, "axes.prop_cycle": cycler(color=COLOURS)}):
        yield
        interactive = mpl.is_interactive()
    mpl.interactive(interactive)


def sequence(count: int) -> list[Any]:
    """Colours for an ordered family of curves, dark to light, without the pale end."""
    import matplotlib as mpl

    shades = mpl.colormaps["viridis"]
    return [shades(0.82 * i / max(1, count - 1)) for i in range(count)]


SIZES = "parameters $N$"
TOKENS = "tokens $D$"
COMPUTE = "compute $6ND$ (FLOP)"
LOSS = "loss (nats)"
LONGEST = 32  # letters of a name in a legend; of a longer one the middle is left out
FEWEST_TOKENS = 1e6  # below, D counts samples of an experiment, and its loss has no unit
LEAST_NATS = 1.0  # of a token; losses below are in another unit, such as bits per byte


def power_of_ten(value: float) -> str:
    """A budget for a legend, typeset: 10^21, 3.2 x 10^21."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    if -3 < int(exponent) < 5:
        return f"{value:.3g}"
    factor = "" if float(mantissa) == 1.0 else rf"{float(mantissa):g}\times "
    return f"${factor}10^{{{int(exponent)}}}$"


def size_ticks(axis: Any) -> None:
    """10M, 1B, 100B at the ticks of an axis of sizes."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axis.set_major_formatter(FuncFormatter(lambda value, _: short_size(value)))
    if axis.get_scale() == "log":
        axis.set_minor_formatter(NullFormatter())
        low, high = axis.get_view_interval()
        if high / low < 1e3:  # few powers of ten: values between them too
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 50.0 else (1.0, 3.0)))
            axis.set_minor_locator(NullLocator())


def plain_ticks(axis: Any) -> None:
    """Below a decade and a half a log axis has too few powers of ten to be read: plain numbers instead."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = axis.get_view_interval()
    if axis.get_scale() == "log" and high / low < 30.0:
        even = MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10])
        axis.set_major_locator(even if high / low < 4.0 else LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(
            FuncFormatter(lambda v, _: power_of_ten(v) if v >= 1e15 else short_size(v, 4))
        )
        axis.set_minor_locator(NullLocator())


def unit_of(loss: Any) -> str:
    """The label of the losses of language models."""
    return LOSS if np.max(loss) >= LEAST_NATS else "loss"


def units_of(D: Any, loss: Any) -> tuple[str, str]:
    """Labels of the data and of the loss: tokens and nats, or samples where D is small.

    >>> units_of([1e9, 2e10], [2.9, 2.7]), units_of(1e9, 0.7), units_of(200, 2.9)
    (('tokens $D$', 'loss (nats)'), ('tokens $D$', 'loss'), ('samples $D$', 'loss'))
    """
    return (TOKENS, unit_of(loss)) if np.max(D) >= FEWEST_TOKENS else ("samples $D$", "loss")


def axes_of(ax: Axes | None) -> Axes:
    """The axes to draw on: those given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def bars(ax: Axes, x: Any, values: Sequence[Interval], **look: Any) -> None:
    """Points at the best values, with bars to both ends of their intervals."""
    best = np.array([value.best for value in values])
    ends = [best - [value.low for value in values], [value.high for value in values] - best]
    ax.errorbar(x, best, yerr=np.abs(np.nan_to_num(ends)), **({"capsize": 3} | look))


def band(ax: Axes, x: Any, ends: Any, colour: Any, label: str | None = None, **look: Any) -> None:
    """A line through best values in a band; ``ends`` are the low ends, the best values and the high ends."""
    low, best, high = ends
    ax.fill_between(x, low, high, color=colour, alpha=0.2, lw=0)
    ax.plot(x, best, color=colour, label=label, **look)


def ends_here(ax: Axes, x: float, words: str) -> None:
    """A line where the data end, as high as no legend reaches, and what it is."""
    ax.axvline(x, ymax=0.7, color=THEORY, lw=0.8, ls="--")
    ax.annotate(
        words, (x, 0.62), xycoords=("data", "axes fraction"), xytext=(4, 0),
        textcoords="offset points", va="bottom", fontsize="x-small",
    )  # fmt: skip


def legend_above(ax: Any, columns: int = 2, title: str = "", fontsize: str = "small") -> None:
    """A legend that covers no data: it stands at the top, and the axis is made longer to hold it."""
    handles, names = ax.get_legend_handles_labels()
    if not handles:
        return
    names = [n if len(n) <= LONGEST or "$" in n else f"{n[:14]}\u2026{n[-14:]}" for n in names]
    rows = -(-len(names) // columns) + bool(title)
    share = 0.03 + 0.07 * rows  # of the height, for lines of small print
    scale, back = ax.yaxis.get_transform(), ax.yaxis.get_transform().inverted()
    low, high = scale.transform(list(ax.get_ylim()))
    ax.set_ylim(top=float(back.transform([low + (high - low) / (1.0 - share)])[0]))
    ax.legend(
        handles, names, loc="upper center", ncols=columns, columnspacing=1.2, handlelength=1.6,
        scatteryoffsets=[0.5], title=title, fontsize=fontsize, title_fontsize=fontsize,
    )  # fmt: skip


def finish(
    ax: Axes,
    x: str,
    y: str,
    title: str = "",
    *,
    log: str = "xy",
    columns: int = 2,
    legend_title: str = "",
    fontsize: str = "small",
) -> Axes:
    """Scales, labels and ticks that can be read, the title, and a legend that covers nothing; the axes."""
    for axis, label, set_scale in ((ax.xaxis, x, ax.set_xscale), (ax.yaxis, y, ax.set_yscale)):
        if axis.axis_name in log:
            set_scale("log")
        axis.set_label_text(label)
        if label in (SIZES, TOKENS):
            size_ticks(axis)
        else:
            plain_ticks(axis)
    if title:
        ax.set_title(title, fontsize="medium")
    legend_above(ax, columns, legend_title, fontsize)
    return ax
