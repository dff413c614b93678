"""A trial of the engine against one of the paper's recipe, same sizes, same machine.

    python benchmarks/engine_against_recipe.py [sparse|dense linear|relu N D]
    python benchmarks/engine_against_recipe.py | python docs/quote_results.py --keep engine-against-recipe

Prints the recipe's time for one trial, the engine's median over many, and the ratio: of one cell, or of the
four of the page (some five minutes).
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
CELLS = (
    ("sparse", "linear", 256, 50_000),
    ("sparse", "linear", 16_000, 1_280),
    ("dense", "linear", 256, 50_000),
    ("sparse", "relu", 16_000, 1_280),
)


def main() -> None:
    given = sys.argv[1:]
    print("| cell | recipe, a trial | engine, a trial | ratio (clock; processor time) |")
    print("|---|---|---|---|")
    for cell in [(given[0], given[1], int(given[2]), int(given[3]))] if given else CELLS:
        compare(*cell)


def compare(inputs: str, features: str, N: int, D: int) -> None:
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
    start = clocks()
    draw = functools.partial(_sparse_rows if inputs == "sparse" else _dense_rows, M)
    loss = recipe.trial(draw, N, D, M, N_TEST, np.random.default_rng(0), relu=features == "relu")
    seconds = clocks() - start
    print(f"losses: recipe {loss:.4g}, engine's mean {np.mean(losses):.4g}", file=sys.stderr)
    wall, processor = (float(f"{ratio:.3g}") for ratio in seconds / engine)
    name = f"{inputs} {features.replace('relu', 'ReLU')}, N = {N:,}, D = {D:,}"
    own = f"{engine[0]:.2g} s" if engine[0] > 0.1 else f"{1e3 * engine[0]:.2g} ms"
    print(f"| {name} | {seconds[0]:.3g} s | {own} | {wall:,.0f}; {processor:,.0f} |", flush=True)


def clocks() -> np.ndarray:
    """Seconds by the clock, and of processor time over all threads: the second does not mind neighbours."""
    return np.array([time.perf_counter(), time.process_time()])


def _sparse_rows(M, D, rng):
    return recipe.draw_sparse_matrix(ALPHA1, ALPHA2, M, D, rng)


def _dense_rows(M, D, rng):
    return recipe.draw_dense_matrix(ALPHA1 + ALPHA2 + 1, M, D, rng)


if __name__ == "__main__":
    main()
