"""Claims: `sparselaw --help` starts in less than twice the time of `import numpy`; `predict` within a second.

Also: the surface costs the same at (1e9, 1e13) as at (100, 10,000). All ratios are taken in this one run.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

REPEATS = 9


def seconds(*command: str) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    numpy = seconds(sys.executable, "-c", "import numpy")
    help_ = seconds(sys.executable, "-m", "sparselaw", "--help")
    point = ["--alpha1", "1", "--alpha2", "0.3", "-N", "1e9", "-D", "1e13", "--json"]
    predict = seconds(sys.executable, "-m", "sparselaw", "predict", *point)
    print(f"import numpy          {numpy:.3f} s")
    print(f"sparselaw --help      {help_:.3f} s   ratio {help_ / numpy:.2f} (claim: below 2)")
    print(f"sparselaw predict     {predict:.3f} s   (claim: below 1 s)")

    from sparselaw.inputs import SparseInputs
    from sparselaw.predicting import predict as surface

    model = SparseInputs(alpha1=1.0, alpha2=0.3)
    times = {}
    for N, D in [(100, 10_000), (10**6, 10**13), (10**9, 10**13)]:
        surface(model, N=N, D=D)
        start = time.perf_counter()
        for _ in range(20):
            surface(model, N=N, D=D)
        times[N, D] = (time.perf_counter() - start) / 20
        ratio = times[N, D] / times[100, 10_000]
        print(f"surface at N={N:.0e} D={D:.0e}  {1e3 * times[N, D]:.1f} ms   ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
