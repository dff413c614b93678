"""The coupling of N and D in real runs, beside that of the theory's own surfaces.

    python benchmarks/coupling_of_real_runs.py [--data ../shared/data] [--picture coupling.png]

Each set has the coupled law's exponent alpha and g with 95 % intervals; a variant of the theory is compatible
where its g at that alpha lies inside the interval of g.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from forecast_coverage import real_sets

from sparselaw.fitting.forecast.average import average
from sparselaw.theory.training.coupling_table import ADDITIVE, ALPHA_N, TABLE, theory_couplings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--picture", type=Path)
    settings = parser.parse_args()
    found = []
    print("| set | runs | alpha | beta | g | compatible |")
    print("|---|---|---|---|---|---|")
    for name, runs in real_sets(settings.data):
        law = average(runs).parameters()
        alpha, beta, g = law["alpha"], law["beta"], law["g"]
        theory = {**theory_couplings(alpha.best), "a sum": ADDITIVE}
        fits = [variant for variant, value in theory.items() if g.low <= value <= g.high]
        found.append((name, alpha, g))
        print(
            f"| {name} | {len(runs)} | {alpha.best:.2f} | {beta.best:.2f} | {g.best:.2f} {g.ends()} "
            f"| {', '.join(fits) or 'none'} |"
        )
    if settings.picture is not None:
        draw(found, settings.picture)


def draw(found: list, path: Path) -> None:
    """g against alpha_N: lines of the theory, points of real sets."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    from sparselaw.plotting import style
    from sparselaw.plotting.style import COLOURS

    with style():
        figure = Figure(figsize=(8.0, 4.2), layout="constrained")
        ax = figure.subplots()
        for colour, (name, values) in zip(COLOURS, TABLE.items(), strict=False):
            ax.plot(ALPHA_N, values, "-", color=colour, label=f"theory: {name}")
        ax.axhline(ADDITIVE, ls=":", color="0.5", label="a sum of two terms")
        for number, (name, alpha, g) in enumerate(found, start=1):
            ax.errorbar(
                alpha.best, g.best, xerr=[[alpha.best - alpha.low], [alpha.high - alpha.best]],
                yerr=[[g.best - g.low], [g.high - g.best]], fmt="o", ms=4, lw=0.8, capsize=2, color="black",
            )  # fmt: skip
            ax.annotate(
                str(number), (alpha.best, g.best), xytext=(4, 4), textcoords="offset points", fontsize=8
            )
            ax.plot([], [], " ", label=f"{number}: {name}")
        ticks = np.array([0.1, 0.2, 0.3, 0.5, 1.0])
        ax.set(xscale="log", yscale="log", xlabel="exponent of N", ylabel="coupling g", ylim=(0.1, 2.0))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(ticks, [f"{t:g}" for t in ticks])
            axis.set_minor_formatter(NullFormatter())
        ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.savefig(path)


if __name__ == "__main__":
    main()
