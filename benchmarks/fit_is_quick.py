"""Claim: a fit of 240 runs without draws takes 30 ms of the processor once the modules are loaded.

Least, median and worst of 25 fits; with draws the time of one.

python benchmarks/fit_is_quick.py [--draws 1000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

import sparselaw as sl
from sparselaw.laws import DataConstrainedLaw

TIMES = 25


def table(rows: int) -> pd.DataFrame:
    """A table of runs with repeated data; 240 rows as in Chinchilla's."""
    rng = np.random.default_rng(0)
    N = np.exp(rng.uniform(np.log(1e7), np.log(1e10), rows))
    D = N * np.exp(rng.uniform(np.log(5.0), np.log(200.0), rows))
    U = D / np.exp(rng.uniform(0.0, 3.0, rows))
    worth = DataConstrainedLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37, R_N=5.3, R_D=15.4)
    loss = worth.loss(N, D, U) * np.exp(0.003 * rng.normal(size=rows))
    return pd.DataFrame({"N": N, "D": D, "U": U, "loss": loss})


def seconds(work: Callable[[], object], times: int) -> list[float]:
    """Of the processor, from least to most, after a first go."""
    work()
    found = []
    for _ in range(times):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000)
    draws = parser.parse_args().draws
    runs = table(240)
    plain = runs.drop(columns="U")
    print("240 runs, processor time")
    for law in ("chinchilla", "two-power", "coupled", "kaplan", "data-constrained"):
        of = runs if law == "data-constrained" else plain
        times = seconds(lambda law=law, of=of: sl.fit(of, law=law, bootstrap=0), TIMES)  # type: ignore[misc]
        with_draws = seconds(lambda law=law, of=of: sl.fit(of, law=law, bootstrap=draws), 1)  # type: ignore[misc]
        least, median, worst = (1e3 * t for t in (times[0], times[TIMES // 2], times[-1]))
        print(
            f"{law:>18}: --bootstrap 0 {least:4.0f} ms, median {median:4.0f} ms, worst {worst:4.0f} ms; "
            f"--bootstrap {draws} {with_draws[0]:6.2f} s"
        )


if __name__ == "__main__":
    main()
