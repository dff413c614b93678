"""Dependent rows, amplitudes below the tolerance, minimum norm: sparse factor against pivoting and SVD.

alpha1 = 0.5, D = 50,000, infinite dimension, N = 1e6. CPU seconds of both ways in the same run on the same
data, their ratio and how far their losses are apart; then the sparse way alone for other amplitudes.

Usage: python benchmarks/dependent_rows_need_no_svd.py [D, default 5e4] [alpha2, default 1] [others]
"""

from __future__ import annotations

import itertools
import sys
import time

from threadpoolctl import threadpool_limits

import sparselaw.trials.linear_trials as engine
from sparselaw.data.factor import factorise, left_out, sparse_factor, without_small
from sparselaw.data.tolerance import outside_kept
from sparselaw.inputs import SparseInputs
from sparselaw.trials.run import run
from sparselaw.trials.task import Record, Task

N = 10**6


def plain_outside(factor, variances, rtol):  # type: ignore[no-untyped-def]
    kept = without_small(factor, rtol)
    return kept.rank, left_out(kept, variances)


def timed(task: Task, factor, outside) -> tuple[Record, float]:  # type: ignore[no-untyped-def]
    engine.sparse_factor, engine.outside_kept = factor, outside  # type: ignore[attr-defined]
    start = time.process_time()
    return run(task), time.process_time() - start


def with_dependent_rows(alpha2: float, D: int) -> tuple[Task, Record, float]:
    """The first seed whose rows are dependent beyond twins, its record and its CPU seconds."""
    for seed in itertools.count():
        task, dependent = Task(inputs=SparseInputs(alpha1=0.5, alpha2=alpha2), N=N, D=D, seed=seed), []

        def factor(gram, dependent=dependent):  # type: ignore[no-untyped-def]
            found = sparse_factor(gram)
            dependent.append(found.length.size - found.rank)
            return found

        record, seconds = timed(task, factor, outside_kept)
        if dependent[0] > 0:
            print(
                f"alpha2={alpha2:g}: {seconds:.2f} s CPU, K={record.seen}, rank={record.rank}, "
                f"dependent rows {dependent[0]}, {record.reason or 'nothing cut'}",
                flush=True,
            )
            return task, record, seconds
    raise AssertionError


def main() -> None:
    D = int(float(sys.argv[1])) if len(sys.argv) > 1 else 50_000
    alpha2 = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    others = sys.argv[3] if len(sys.argv) > 3 else "0.3,2,3,6"
    run(Task(inputs=SparseInputs(alpha1=0.3, alpha2=2.0), N=N, D=300))  # compiles
    task, new, quick = with_dependent_rows(alpha2, D)
    for other in others.split(","):
        with_dependent_rows(float(other), D)
    old, slow = timed(task, factorise, plain_outside)
    print(f"pivoting and SVD at alpha2={alpha2:g}: {slow:.2f} s CPU; ratio {slow / quick:.0f}")
    apart = abs(new.loss / old.loss - 1.0)
    print(f"losses differ by {apart:.1e}, ranks {new.rank} and {old.rank}")


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
