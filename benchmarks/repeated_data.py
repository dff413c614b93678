"""The same number of visits to fewer and fewer samples: the loss over that of fresh data, and its theory.

    python benchmarks/repeated_data.py [seeds] [--table tests/agreement/repeated_data.csv]

Two settings, at the best N of one pass for C = N V = 10^6, step 0.5. Without --table it only prints. About
20 s of one core for each 100 seeds.
"""

from __future__ import annotations

import argparse
import csv
import math
from pathlib import Path

import numpy as np

from sparselaw.dynamics.many_teachers import sgd_loss
from sparselaw.inputs import SparseInputs
from sparselaw.paper.beyond_passes import REPEATED, REPEATS
from sparselaw.solvers import SGD
from sparselaw.theory import predict

STEP = 0.5
COLUMNS = (
    "alpha1", "alpha2", "N", "visits", "passes", "D", "seeds", "loss", "stderr", "ratio", "low", "high",
    "theory", "theory_ratio",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("seeds", type=int, nargs="?", default=200)
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
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
            wide = math.exp(1.96 * math.hypot(error / mean, fresh[1] / fresh[0]) * (passes > 1))
            ratio = mean / fresh[0]
            values = (
                alpha1, alpha2, N, visits, passes, D, given.seeds, mean, error, ratio, ratio / wide,
                ratio * wide, theory, theory / fresh[2],
            )  # fmt: skip
            rows.append([f"{value:.5g}" if isinstance(value, float) else value for value in values])
            print(*rows[-1], flush=True)
    if given.table is not None:
        with given.table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
