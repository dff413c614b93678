"""A ReLU trial against the paper's recipe, in one run on one machine.

    python benchmarks/relu_trial_against_the_recipe.py [--inputs sparse|dense] [--repeats 3]

The recipe at (N, D, M) = (16,000, 1,280, 10,000) draws M x D inputs, an N x M embedding and 50,000 test
inputs, multiplies, solves by pinv and averages over the test set. Its drawing, its training features and its
test features are timed on a slice and scaled up in proportion: some rows of u for u X, a few hundred of the
test inputs. Its pinv is timed in full.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from sparselaw.problem import DenseInputs, Problem, SparseInputs
from sparselaw.risk import relu_dense, relu_sparse
from sparselaw.task import Task

N, D, M, N_TEST = 16_000, 1_280, 10_000, 50_000
ROWS, TESTS = 1_000, 500  # the slices that are timed


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def recipe(problem: Problem, rng: np.random.Generator) -> dict[str, float]:
    """Seconds of each part of the recipe."""
    j = np.arange(1.0, M + 1.0)[:, None]

    def draw(count: int) -> np.ndarray:
        if isinstance(problem, SparseInputs):
            active = rng.random((M, count)) < j ** -(problem.alpha1 + 1.0)
            return active * rng.choice([-1.0, 1.0], (M, count)) * j ** (-(problem.alpha2 + 1.0) / 2.0)
        return rng.standard_normal((M, count)) * j ** (-problem.spectrum / 2.0)

    parts = {"draw X": seconds(lambda: draw(D))}
    X, X_test = draw(D), draw(TESTS)
    parts["draw u"] = seconds(lambda: rng.standard_normal((ROWS, M))) * N / ROWS
    u = rng.standard_normal((ROWS, M)) / np.sqrt(N)
    parts["features"] = seconds(lambda: np.maximum(u @ X, 0.0)) * N / ROWS
    parts["draw test"] = seconds(lambda: draw(TESTS)) * N_TEST / TESTS
    parts["test features"] = seconds(lambda: np.maximum(u @ X_test, 0.0)) * (N / ROWS) * (N_TEST / TESTS)
    Phi = np.maximum(rng.standard_normal((N, M // 100)) @ rng.standard_normal((M // 100, D)), 0.0)
    parts["pinv"] = seconds(lambda: np.linalg.pinv(Phi.T, rcond=1e-10))
    return parts


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--inputs", choices=["sparse", "dense"], default="sparse")
    arguments.add_argument("--repeats", type=int, default=3)
    options = arguments.parse_args()
    sparse = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=M)
    problem = sparse if options.inputs == "sparse" else DenseInputs.matching(sparse)
    trial = relu_sparse.trial if options.inputs == "sparse" else relu_dense.trial
    trial(Task(problem=problem, N=N, D=D, features="relu", seed=99))  # compiles
    ours = min(
        seconds(lambda s=seed: trial(Task(problem=problem, N=N, D=D, features="relu", seed=s)))
        for seed in range(options.repeats)
    )
    parts = recipe(problem, np.random.default_rng(0))
    for name, value in parts.items():
        print(f"recipe, {name:14s} {value:9.2f} s")
    total = sum(parts.values())
    print(f"recipe, total          {total:9.2f} s")
    print(f"ours                   {ours:9.3f} s   ratio {total / ours:,.0f}")


if __name__ == "__main__":
    main()
