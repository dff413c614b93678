r"""The loss of unfinished SGD, predicted and simulated: one row for each cell.

    python benchmarks/training_theory_against_sgd.py [first cell] [last cell] [--table FILE] [--read FILE]

Twenty minutes on one core for all of them. --table writes what was simulated, --read takes it from there and
predicts alone: tests/agreement/training_cells.csv is such a table, of all cells. The table of the page:

    python benchmarks/training_theory_against_sgd.py --read tests/agreement/training_cells.csv \
      | python docs/quote_results.py --keep training-cells
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

from training_cells import CELLS, Compared, beside_theory, compare_cell

NAMES = ("alpha1", "alpha2", "N", "D", "passes", "step", "batch", "noise")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("last", type=int, nargs="?", default=len(CELLS))
    parser.add_argument("--table", type=Path)
    parser.add_argument("--read", type=Path)
    given = parser.parse_args()
    print(
        "| alpha1, alpha2 | N | D | passes | step | batch | noise | seeds | simulated | predicted | error |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    start, found = time.perf_counter(), []
    for cell in CELLS[given.first : given.last]:
        found.append(compare_cell(cell) if given.read is None else _kept(given.read, cell))
        _show(found[-1])
    if given.table is not None:
        with given.table.open("w", newline="", encoding="ascii") as file:
            rows = [[f"{x:g}" for x in one.cell] + [one.seeds, one.mean, one.stderr] for one in found]
            csv.writer(file, lineterminator="\n").writerows([(*NAMES, "seeds", "mean", "stderr"), *rows])
    right, seconds = sum(one.right for one in found), time.perf_counter() - start
    print(f"{right} of {len(found)} within 3 % or two standard errors; {seconds:.0f} s", file=sys.stderr)


def _kept(table: Path, cell: tuple[float, ...]) -> Compared:
    with table.open(encoding="ascii", newline="") as lines:
        rows = {tuple(float(row[name]) for name in NAMES): row for row in csv.DictReader(lines)}
    row = rows[tuple(float(x) for x in cell)]
    return beside_theory(cell, float(row["mean"]), float(row["stderr"]), int(row["seeds"]))


def _show(found: Compared) -> None:
    alpha1, alpha2, N, D, passes, step, batch, noise = found.cell
    marks = ("" if found.right else " *") + (" (caution)" if found.caution else "")
    print(
        f"| {alpha1:g}, {alpha2:g} | {N:,.0f} | {D:,} | {passes:g} | {step:g} | {batch:g} | {noise:g} | "
        f"{found.seeds:,} | {found.mean:.3g} ± {100 * found.stderr / found.mean:.1f} % | "
        f"{found.predicted:.3g} | {100 * found.error:+.1f} %{marks} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
