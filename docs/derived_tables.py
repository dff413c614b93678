"""Tables that follow from kept ones or from the theory, so that no page counts or computes them by hand."""

from __future__ import annotations

from collections.abc import Callable

from kept_tables import KEPT, Table, kept

from sparselaw.inputs import SparseInputs
from sparselaw.theory.scaling_limit import frontier

SOME_MEANS = (  # D, N
    "260, 189", "190, 59", "350, 3042", "380, 231", "1100, 938", "490, 145", "3900, 334", "510, 27",
    "35000, 1669", "140, 102",
)  # fmt: skip
MEANS, MEDIANS = 0.02, 0.08  # a cell is right within this or two standard errors
ROUNDING = 1e-9


def table_of(name: str) -> Table | None:
    """The table of this name; None where there is none."""
    if name in DERIVED:
        return DERIVED[name]()
    return kept(name) if (KEPT / f"{name}.csv").exists() else None


def some_means() -> Table:
    """Ten rows of the means away from the peak, for the page on theory."""
    head, rows = kept("surface-means")
    return head[:8], [row[:8] for row in rows if f"{row[2]}, {row[3]}" in SOME_MEANS]


def surface_counts() -> Table:
    """How many cells of the loss surface's tables are right, and the farthest of them."""
    means, held = kept("surface-means")[1], kept("held-out-means")[1]
    found = {
        "means": len(means),
        "means, right": right(means, 6, MEANS),
        "means, farthest off": f"{100.0 * max(off(row[6]) for row in means):.1f} %",
        "means, leading surface off by more than 5 %": sum(off(row[5]) > 0.05 for row in means),
        "held-out means": sum(int(row[1]) for row in held),
        "held-out means, right": sum(int(row[4]) for row in held),
        "held-out means, farthest off": max((row[5] for row in held), key=lambda text: float(text[:-2])),
    }
    for what, name in (("medians", "surface-medians"), ("held-out medians", "held-out-medians")):
        rows = kept(name)[1]
        found |= {what: len(rows), f"{what}, right": right(rows, 5, MEDIANS)}
    return ["what", "cells"], [[what, str(count)] for what, count in found.items()]


def right(rows: list[list[str]], ratio: int, near: float) -> int:
    """Rows whose ratio is near one; the column behind it has the standard error in per cent."""
    allowed = (max(near, 2.0 * float(row[ratio + 1].rstrip("%")) / 100.0) + ROUNDING for row in rows)
    return sum(off(row[ratio]) <= most for row, most in zip(rows, allowed, strict=True))


def off(ratio: str) -> float:
    return abs(float(ratio) - 1.0)


def best_sides() -> Table:
    """The best point for a budget C = N^2 D at (1, 0.3), on either side of the peak."""
    found = frontier(SparseInputs(alpha1=1.0, alpha2=0.3))
    rows = [
        [f"${side.side[0]} {side.side[1]} K${note}", f"{side.xi:.3g}", f"{side.constant:.3g}"]
        for side, note in ((found.best, " (the optimum)"), (found.other, ""))
    ]
    return ["side", r"best $\xi$", f"loss times $C^{{{found.alpha_C:.3g}}}$"], rows


def forecast_by_family() -> Table:
    """The columns that README shows of the forecast's record, the family with the least inside first."""
    head, rows = kept("forecast-families")
    shown = ["family", "cases", "losses", "95 %", "median error", "interval score", "bootstrap's 95 %"]
    places = [head.index(title) for title in shown]
    rows = sorted(rows, key=lambda row: float(row[places[3]].rstrip(" %")))
    titles = [
        "family",
        "cases",
        "losses",
        "inside 95 %",
        "median error",
        "interval score",
        "inside, bootstrap",
    ]
    return titles, [[row[place] for place in places] for row in rows]


DERIVED: dict[str, Callable[[], Table]] = {
    "some-means": some_means,
    "surface-counts": surface_counts,
    "frontier": best_sides,
    "forecast-by-family": forecast_by_family,
}
