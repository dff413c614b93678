r"""Time and memory against D from 1e3 to 1e7 at alpha1 = 1: fitted exponent, and where the time goes.

    python benchmarks/growth_with_samples.py [N, default 64] [largest D, default 1e7] \
      | python docs/quote_results.py --keep growth-with-samples
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from sparselaw.data.factor import factorise
from sparselaw.data.scaled_gram import scaled_gram
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.inputs import SparseInputs
from sparselaw.trials.run import run
from sparselaw.trials.task import Task, random_stream


def main() -> None:
    N = int(float(sys.argv[1])) if len(sys.argv) > 1 else 64
    largest = int(float(sys.argv[2])) if len(sys.argv) > 2 else 10**7
    problem = SparseInputs(alpha1=1.0, alpha2=0.3)
    run(Task(inputs=problem, N=N, D=1000, seed=99))
    sizes = [D for D in (10**3, 10**4, 10**5, 10**6, 10**7) if largest >= D]
    totals = []
    print("| D | K | draw, s | Gram, s | factor, s | trial, s | peak memory, GiB |")
    print("|---|---|---|---|---|---|---|")
    for D in sizes:
        task = Task(inputs=problem, N=N, D=D)
        t0 = time.perf_counter()
        data = draw_sparse(problem, D, random_stream(task, "data"))
        t1 = time.perf_counter()
        gram = scaled_gram(data, problem.amplitudes(data.active))
        t2 = time.perf_counter()
        factorise(gram)
        t3 = time.perf_counter()
        seen = data.active.size
        del data, gram
        start = time.perf_counter()
        run(task)
        totals.append(time.perf_counter() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        spent = " | ".join(f"{seconds:.2g}" for seconds in (t1 - t0, t2 - t1, t3 - t2, totals[-1]))
        print(f"| 1e{len(str(D)) - 1} | {seen:,} | {spent} | {peak:.2f} |", flush=True)
    slope = np.polyfit(np.log(sizes[1:]), np.log(totals[1:]), 1)[0]
    print(f"time ~ D^{slope:.2f} from D = {sizes[1]:.0e}")


if __name__ == "__main__":
    main()
