"""Nesterov's method in the eigenbasis against the same iteration on theta, in one run.

    python benchmarks/descent_in_the_eigenbasis.py

500,000 iterations at (N, D) = (250, 5,000) features; theta space is timed over fewer iterations and scaled.
"""

from __future__ import annotations

import time

import numpy as np

from sparselaw.solvers import Nesterov
from sparselaw.solvers.equations import from_gram

N, D, ITERATIONS, TIMED = 250, 5_000, 500_000, 500


def main() -> None:
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((N, D)) * np.arange(1.0, N + 1.0)[:, None] ** -1.65
    y = rng.standard_normal(D)
    Nesterov(max_iterations=1).solve(from_gram(np.eye(1), np.ones((1, 1)), 1)[0])  # compiles
    begin = time.perf_counter()
    equations, _ = from_gram(Phi @ Phi.T / D, (Phi @ y)[:, None] / D, D)
    prepared = time.perf_counter() - begin
    solution = Nesterov(tolerance=0.0, max_iterations=ITERATIONS).solve(equations)
    ours = time.perf_counter() - begin
    theta = ahead = np.zeros(N)
    begin = time.perf_counter()
    for _ in range(TIMED):
        gradient = Phi @ (Phi.T @ ahead - y) / D
        new = ahead - 0.1 * gradient
        ahead, theta = new + 0.9 * (new - theta), new
    plain = (time.perf_counter() - begin) * ITERATIONS / TIMED
    print(f"theta space  {plain:8.1f} s for {ITERATIONS:,} iterations")
    print(f"eigenbasis   {ours:8.2f} s, of which {prepared:.2f} s to prepare; {solution.restarts} restarts")
    print(f"ratio        {plain / ours:8.0f}")


if __name__ == "__main__":
    main()
