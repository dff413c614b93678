"""Claim: three curves of 500 points are fitted in 0.2 s and 200 curves in 5 s, once the modules are loaded.

    python benchmarks/curve_is_quick.py [--repeats 5] | python docs/quote_results.py --keep curve-times

Medians of processor time, which a busy machine does not change, and of the time that went by.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import sparselaw as sl
from sparselaw.curves.schedules import written_schedule

SHAPES = ("constant:25000", "cosine:25000", "wsd:20000,25000", "step:10000,25000", "cosine:25000,end=0")


def made_up(curves: int, points: int) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    found = {}
    for i in range(curves):
        schedule = written_schedule(SHAPES[i % len(SHAPES)], peak=3e-4, warmup=1_000)
        step = np.linspace(25_000 / points, 25_000, points)
        rate, tau = schedule.rate(step), schedule.tau(step)
        noise = np.exp(3e-4 * np.random.Generator(np.random.PCG64(i)).standard_normal(points))
        found[f"run {i}"] = (step, rate, (2.8 + 0.3 * (tau / tau[-1]) ** -0.5 + 500 * rate) * noise)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    sl.fit_curves(made_up(2, 100), schedules=["cosine:50000"])
    print("| curves | points each | processor time | time | with back-test, processor |")
    print("|---|---|---|---|---|")
    for curves, points in ((1, 500), (3, 500), (20, 500), (200, 500)):
        table = made_up(curves, points)
        worked, gone, tested = [], [], []
        for _ in range(repeats if curves < 200 else 2):
            begin, busy = time.perf_counter(), time.process_time()
            found = sl.fit_curves(table, schedules=["cosine:50000"])
            worked.append(time.process_time() - busy)
            gone.append(time.perf_counter() - begin)
            if curves <= 3:
                found.as_dict()
                tested.append(time.process_time() - busy)
        times = [f"{np.median(t):.2f} s" if t else "-" for t in (worked, gone, tested)]
        print(f"| {curves} | {points} | {' | '.join(times)} |", flush=True)


if __name__ == "__main__":
    main()
