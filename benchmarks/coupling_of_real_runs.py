"""The coupling of N and D in real runs, beside that of the theory's own surfaces.

    python benchmarks/coupling_of_real_runs.py [--data ../shared/data] [--table docs/results/coupling.csv] \\
      | python docs/quote_results.py --keep coupling-of-real-runs

Each set has the coupled law's exponent alpha and g with 95 % intervals; a variant of the theory is compatible
where its g at that alpha lies inside the interval of g.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from forecast_coverage import real_sets

from sparselaw.fitting.sparsity import theory_couplings
from sparselaw.forecasting import posterior


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--table", type=Path)
    settings = parser.parse_args()
    found = []
    print("| set | runs | alpha | beta | g | compatible |")
    print("|---|---|---|---|---|---|")
    for one in real_sets(settings.data):
        name, runs = one.name, one.runs
        law = posterior(runs).parameters()
        alpha, beta, g = law["alpha"], law["beta"], law["g"]
        theory = {**theory_couplings(alpha.best, alpha.best / beta.best - 1.0), "a sum": 1.0}
        fits = [variant for variant, value in theory.items() if g.low <= value <= g.high]
        found.append((name, alpha, g))
        print(
            f"| {name} | {len(runs)} | {alpha.best:.2f} | {beta.best:.2f} | "
            f"{g.best:.2f} [{g.low:.2f}, {g.high:.2f}] | {'; '.join(fits) or 'none'} |"
        )
    if settings.table is not None:
        write(found, settings.table)


def write(found: list, path: Path) -> None:
    """What the gallery's picture of the coupling is drawn from."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        ends = ("low", "best", "high")
        table.writerow(["set", *(f"{what}_{end}" for what in ("alpha", "g") for end in ends)])
        for name, alpha, g in found:
            table.writerow([name, *(f"{getattr(what, end):.4g}" for what in (alpha, g) for end in ends)])


if __name__ == "__main__":
    main()
