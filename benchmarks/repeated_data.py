r"""The same number of visits to fewer and fewer samples: the loss over that of fresh data, and its theory.

    python benchmarks/repeated_data.py 500 --table tests/agreement/repeated_data.csv
    python benchmarks/repeated_data.py --read tests/agreement/repeated_data.csv \
      | python docs/quote_results.py --keep repeated-data

Two settings, at the best N of one pass for C = N V = 10^6, step 0.5. --table writes what was simulated,
--read takes it from there. About 20 s of one core for each 100 seeds.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from pathlib import Path

import numpy as np

from sparselaw.experiments.dynamics import sgd_loss
from sparselaw.experiments.paper.beyond_passes import REPEATED, REPEATS
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Z95
from sparselaw.predicting import predict
from sparselaw.solvers import SGD

STEP = 0.5
COLUMNS = (
    "alpha1", "alpha2", "N", "visits", "passes", "D", "seeds", "loss", "stderr", "ratio", "low", "high",
    "theory", "theory_ratio",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("seeds", type=int, nargs="?", default=200)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--read", type=Path)
    given = parser.parse_args()
    if given.read is not None:
        with given.read.open(newline="", encoding="utf-8") as file:
            show(list(csv.DictReader(file)))
        return
    rows = []
    for (alpha1, alpha2), (N, visits) in REPEATED.items():
        inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2)
        for passes in REPEATS:
            solver, D = SGD(passes=passes, step=STEP), visits // passes
            losses = np.array([sgd_loss(inputs, N, D, solver, seed=seed) for seed in range(given.seeds)])
            mean, error = float(losses.mean()), float(losses.std(ddof=1)) / math.sqrt(given.seeds)
            theory = predict(inputs, N=N, D=D, solver=solver).loss
            if passes == 1:
                fresh = (mean, error, theory)
            wide = math.exp(Z95 * math.hypot(error / mean, fresh[1] / fresh[0]) * (passes > 1))
            ratio = mean / fresh[0]
            values = (
                alpha1, alpha2, N, visits, passes, D, given.seeds, mean, error, ratio, ratio / wide,
                ratio * wide, theory, theory / fresh[2],
            )  # fmt: skip
            rows.append([f"{value:.5g}" if isinstance(value, float) else value for value in values])
            print(*rows[-1], file=sys.stderr, flush=True)
    show([dict(zip(COLUMNS, map(str, row), strict=True)) for row in rows])
    if given.table is not None:
        with given.table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


def show(rows: list[dict[str, str]]) -> None:
    """Loss over that of fresh data [95 %] / the theory's; a column for each setting."""
    settings: dict[str, dict[str, str]] = {}
    for row in rows:
        name = f"({row['alpha1']}, {row['alpha2']}), N = {row['N']}, {int(row['visits']):,} visits"
        ratio, low, high, theory = (float(row[key]) for key in ("ratio", "low", "high", "theory_ratio"))
        digits = 2 if ratio < 5.0 else 1
        found = f"{ratio:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}] / {theory:.{digits}f}"
        settings.setdefault(name, {})[row["passes"]] = found
    print(f"| passes | {' | '.join(settings)} |")
    print("|---" * (len(settings) + 1) + "|")
    for passes in list(next(iter(settings.values())))[1:]:
        print(f"| {passes} | {' | '.join(found[passes] for found in settings.values())} |")


if __name__ == "__main__":
    main()
