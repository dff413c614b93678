"""SGD on sparse inputs: a run over the nonzeros of its samples against one over dense rows, the same run.

python benchmarks/sgd_visits_nonzeros.py
"""

from __future__ import annotations

import time

import sparselaw.solvers.sgd as mixed
from sparselaw.inputs import SparseInputs
from sparselaw.solvers import SGD
from sparselaw.trials.run import run
from sparselaw.trials.task import Task

SIZES = ((100, 4_000, 64), (10**9, 4_000, 64), (100, 4_000, 256))


def seconds(inputs: SparseInputs, N: int, D: int, passes: int, *, nonzeros: bool) -> tuple[float, float]:
    """The best of six runs, and a loss."""
    mixed.SLOWER = 2.0 if nonzeros else 1e9
    best, loss = 1e9, 0.0
    for seed in range(7):
        start = time.process_time()
        loss = run(Task(inputs=inputs, N=N, D=D, seed=seed, solver=SGD(passes=passes, step=0.5))).loss
        if seed:  # the first one compiles
            best = min(best, time.process_time() - start)
    return best, loss


def main() -> None:
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    for N, D, passes in SIZES:
        dense, loss = seconds(inputs, N, D, passes, nonzeros=False)
        sparse, same = seconds(inputs, N, D, passes, nonzeros=True)
        print(
            f"N = {N}, D = {D}, {passes} passes: rows {1e3 * dense:.1f} ms, nonzeros {1e3 * sparse:.1f} ms, "
            f"{dense / sparse:.2f} times faster; losses differ by {abs(same / loss - 1.0):.0e}"
        )


if __name__ == "__main__":
    main()
