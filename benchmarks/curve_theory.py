"""Claim: real curves have p below 1 and noise that falls with time, where the theory has p = 1 and m = 0.

    python benchmarks/curve_theory.py | python docs/quote_results.py --keep curve-theory

All nine schedules of each size, priors of p and m five times as wide, the memory with an exponent of its own
(r times that of the descent; the theory has p = 1, m = 0, r = 1). The last row is SGD on Gaussian features of
power-law variances, its mean over runs by an exact recursion, under six schedules.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from curve_folds import read

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from oracles.made_curves import sgd_curves
from sparselaw.curves.law import FeatureForm
from sparselaw.curves.logs import Log, make_logs
from sparselaw.curves.model import fit_model, student

SHAPES = (
    "constant:4000",
    "cosine:4000",
    "wsd:3200,4000",
    "cosine:8000",
    "linear:4000,end=0",
    "step:2000,4000",
)


def row(name: str, logs: Sequence[Log]) -> str:
    fitted = fit_model(logs, FeatureForm(free=True, loose=5.0)).estimate
    half = student() * np.sqrt(np.diag(fitted.covariance))
    cells = []
    for parameter in ("ln a", "p", "m", "ln r"):
        i = fitted.form.names.index(parameter)
        ends = fitted.theta[i] + half[i] * np.array([0.0, -1.0, 1.0])
        best, low, high = np.exp(ends) if parameter.startswith("ln") else ends
        cells.append(f"{best:.2f} [{low:.2f}, {high:.2f}]")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    print("| curves | a | p | m | r |")
    print("|---|---|---|---|---|")
    for size, curves in read().items():
        print(row(f"{size}, nine schedules", list(curves.values())), flush=True)
    made = make_logs([(c[0], c[1], c[4]) for c in sgd_curves(0, SHAPES, noise=3.0)], warmup=200)[0]
    print(row("SGD, spectrum 1.7 (a = 0.41)", made), flush=True)


if __name__ == "__main__":
    main()
