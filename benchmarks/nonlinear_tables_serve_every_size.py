"""Processor time of the theory of ReLU features: the first N of a setting, and further ones on its tables.

    python benchmarks/nonlinear_tables_serve_every_size.py

The cache folder is an empty one; compiled loops are warm.
"""

from __future__ import annotations

import os
import tempfile
import time

import sparselaw as sl
from sparselaw.theory.nonlinear.drawn_regression import sharing
from sparselaw.theory.nonlinear.features_limit import features_limit
from sparselaw.theory.nonlinear.fold import Fold
from sparselaw.theory.nonlinear.sector_tables import sector_table
from sparselaw.theory.nonlinear.unit_types import unit_types

RELU = Fold(slope=0.5, bend=0.5)


def seconds(inputs: sl.SparseInputs, N: float) -> float:
    start = time.process_time()
    features_limit(inputs, RELU, N)
    return time.process_time() - start


def main() -> None:
    sector_table(sl.SparseInputs(alpha1=1.0, alpha2=0.3), RELU.parts, 1e-2, unit_types(True, 2))
    print("| (alpha1, alpha2) | N | first, s | further N, s | first over further |")
    print("|---|---|---|---|---|")
    for alpha1, alpha2 in ((1.0, 0.3), (2.0, 0.0)):
        inputs = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)
        for N in (64.0, 256.0, 512.0):
            first, further = seconds(inputs, N), seconds(inputs, 1.02 * N)
            ratio = f"{first:.2f} | {further:.2f} | {first / further:.0f}"
            print(f"| ({alpha1:g}, {alpha2:g}) | {N:g} | {ratio} |")
    start = time.process_time()
    sharing(sl.SparseInputs(alpha1=1.0, alpha2=0.3), RELU)
    print(f"regressions of the data side, once for a setting: {time.process_time() - start:.1f} s")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SPARSELAW_CACHE"] = folder
        main()
