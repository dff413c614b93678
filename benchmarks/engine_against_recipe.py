"""A trial of the engine against one of the paper's recipe, same sizes, same machine.

Usage: python benchmarks/engine_against_recipe.py sparse|dense linear|relu N D
Prints the recipe's time for one trial, the engine's median over many, and the ratio.
"""

from __future__ import annotations

import functools
import sys
import time

import numpy as np
import recipe

from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.trials.run import run
from sparselaw.trials.task import Task

ALPHA1, ALPHA2, M, N_TEST = 1.0, 0.3, 10_000, 50_000


def main() -> None:
    inputs, features, N, D = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    sparse = SparseInputs(alpha1=ALPHA1, alpha2=ALPHA2, dimension=M)
    problem = sparse if inputs == "sparse" else DenseInputs.matching(sparse, dimension=M)

    def task(seed):
        return Task(inputs=problem, N=N, D=D, features=features, seed=seed)

    run(task(1000))  # imports and caches
    losses, times, begin = [], [], clocks()[0]
    while len(losses) < 3 or (clocks()[0] - begin < 20.0 and len(losses) < 1000):
        start = clocks()
        losses.append(run(task(len(losses))).loss)
        times.append(clocks() - start)
    engine = np.median(times, axis=0)
    print(f"engine: {1e3 * engine[0]:.3f} ms a trial, {1e3 * engine[1]:.3f} of processor", flush=True)
    start = clocks()
    draw = functools.partial(_sparse_rows if inputs == "sparse" else _dense_rows, M)
    loss = recipe.trial(draw, N, D, M, N_TEST, np.random.default_rng(0), relu=features == "relu")
    seconds = clocks() - start
    print(f"recipe: {seconds[0]:.1f} s a trial, {seconds[1]:.1f} of processor")
    print(f"losses: recipe {loss:.4g}, engine's mean {np.mean(losses):.4g}")
    wall, processor = seconds / engine
    print(f"{inputs} {features} N={N} D={D} M={M}: ratio {wall:,.0f}; of processor time {processor:,.0f}")


def clocks() -> np.ndarray:
    """Seconds by the clock, and of processor time over all threads: the second does not mind neighbours."""
    return np.array([time.perf_counter(), time.process_time()])


def _sparse_rows(M, D, rng):
    return recipe.draw_sparse_matrix(ALPHA1, ALPHA2, M, D, rng)


def _dense_rows(M, D, rng):
    return recipe.draw_dense_matrix(ALPHA1 + ALPHA2 + 1, M, D, rng)


if __name__ == "__main__":
    main()
