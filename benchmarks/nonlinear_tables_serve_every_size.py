"""Processor time of nonlinear features in theory: the first N of a setting, and further ones on its tables.

    python benchmarks/nonlinear_tables_serve_every_size.py

The cache folder is an empty one; compiled loops are warm.
"""

from __future__ import annotations

import os
import tempfile
import time

import numpy as np

import sparselaw as sl
from sparselaw.features import FEATURES
from sparselaw.nonlinear.data_limit import sharing
from sparselaw.nonlinear.features_limit import features_limit
from sparselaw.nonlinear.response import Response
from sparselaw.nonlinear.samples import variance_factor
from sparselaw.nonlinear.sector_tables import sector_table, unit_types

NAMES = ("relu", "gelu", "tanh", "sign")


def seconds(inputs: sl.SparseInputs, response: Response, N: float) -> float:
    start = time.process_time()
    features_limit(inputs, response, N)
    return time.process_time() - start


def main() -> None:
    inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    found = {name: FEATURES[name].response for name in NAMES}
    for response in found.values():  # compiled, or loaded
        sector_table(inputs, response.parts, 1e-2, unit_types(True, 2), 0.05, 0.03)
        response.kernel(*np.ones((3, 1, 1)))
    print("| features | (alpha1, alpha2) | N | first, s | further N, s | first over further |")
    print("|---|---|---|---|---|---|")
    for name, response in found.items():
        for alpha1, alpha2 in ((1.0, 0.3), (2.0, 0.0)):
            inputs = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)
            for N in (64.0, 256.0, 512.0):
                first, further = seconds(inputs, response, N), seconds(inputs, response, 1.02 * N)
                ratio = f"{first:.2f} | {further:.2f} | {first / further:.0f}"
                print(f"| {name} | ({alpha1:g}, {alpha2:g}) | {N:g} | {ratio} |", flush=True)
        for what, constant in (("data side", sharing), ("both sizes", variance_factor)):
            start = time.process_time()
            constant(sl.SparseInputs(alpha1=1.0, alpha2=0.3), response)
            print(
                f"{name}: regressions, {what}, once a setting: {time.process_time() - start:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SPARSELAW_CACHE"] = folder
        main()
