"""Claim: a forecast of 240 runs with its back-test takes under half a second, once the modules are loaded.

    python benchmarks/forecast_is_quick.py [--repeats 7] | python docs/quote_results.py --keep forecast-times

Times are medians, of the processor: on one thread an idle machine's clock shows the same.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from sparselaw.forecasting import known_runs, posterior
from sparselaw.laws import ChinchillaLaw
from sparselaw.planning import forecast


def made_up(rows: int) -> dict[str, np.ndarray]:
    generator = np.random.Generator(np.random.PCG64(0))
    C = np.exp(generator.uniform(np.log(6e18), np.log(3e21), rows))
    N = 3e8 * (C / 6e18) ** 0.5 * np.exp(generator.uniform(-2, 2, rows))
    law = ChinchillaLaw(E=1.817, A=478.0, B=2143.0, alpha=0.347, beta=0.367)
    loss = law.loss(N, C / (6 * N)) * np.exp(0.005 * generator.standard_t(4, rows))
    return {"N": N, "D": C / (6 * N), "loss": loss}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    print("| runs | forecast with back-test | posterior alone |\n|---|---|---|")
    for rows in (60, 240, 400, 2000):
        table = made_up(rows)
        forecast(table, at=[(7e10, 1.4e12)])
        whole, alone = [], []
        for _ in range(repeats):
            begin = time.process_time()
            forecast(table, at=[(7e10, 1.4e12)])
            between = time.process_time()
            posterior(known_runs(**table)).log_losses(np.array([7e10]), np.array([1.4e12]))
            whole.append(between - begin)
            alone.append(time.process_time() - between)
        spent = " | ".join(f"{1e3 * np.median(times):.0f} ms" for times in (whole, alone))
        print(f"| {rows} | {spent} |", flush=True)


if __name__ == "__main__":
    main()
