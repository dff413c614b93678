"""The closed-form loss of a dense ReLU layer of N = 16,000: its memory, and its agreement with test inputs.

    python benchmarks/relu_closed_form_fits_in_4_gib.py [N] [D]

Runs one trial with the embedding drawn in full and the N x N moments formed block by block, and the trials of
the wide layer, which spare both; prints seconds, the peak memory of the process and the losses.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

import sparselaw.trials.nonlinear_gaussian as engine
from sparselaw.inputs import DenseInputs
from sparselaw.solvers import Nesterov
from sparselaw.trials.task import Task

N = int(sys.argv[1]) if len(sys.argv) > 1 else 16_000
D = int(sys.argv[2]) if len(sys.argv) > 2 else 160


def main() -> None:
    inputs = DenseInputs(alpha=2.3)
    spectrum = np.arange(1.0, inputs.dimension + 1.0) ** -inputs.power_law().spectrum
    losses = []
    begin = time.perf_counter()
    for seed in range(20):
        task = Task(inputs=inputs, N=N, D=D, features="relu", seed=seed, solver=Nesterov())
        losses.append(engine.wide_trial(task, spectrum).loss)
    per_trial = (time.perf_counter() - begin) / len(losses)
    spread = f"{np.mean(losses):.4g} +- {np.std(losses):.2g} (spread)"
    print(f"wide layer   {per_trial:8.2f} s a trial, one teacher: {spread}")
    begin = time.perf_counter()
    loss = engine.narrow_trial(task, spectrum).loss
    print(f"closed form  {time.perf_counter() - begin:8.2f} s, one teacher: {loss:.4g}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory  {peak:8.2f} GiB")


if __name__ == "__main__":
    main()
