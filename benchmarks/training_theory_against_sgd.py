"""The loss of unfinished SGD, predicted and simulated: one row for each cell.

    python benchmarks/training_theory_against_sgd.py [seeds] [first cell] [last cell]

A quarter of an hour with 200 seeds on one core.
"""

from __future__ import annotations

import sys
import time

from sparselaw.dynamics.training_cells import CELLS, compare_cell


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:]]
    seeds = numbers[0] if numbers else 200
    first, last = (numbers[1], numbers[2]) if len(numbers) > 2 else (0, len(CELLS))
    print(
        "| alpha1, 2 | N | D | passes | step | batch | noise | simulated | se | predicted | error | caution |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    right, start = 0, time.perf_counter()
    for cell in CELLS[first:last]:
        found = compare_cell(cell, seeds)
        alpha1, alpha2, N, D, passes, step, batch, noise = cell
        right += found.right
        print(
            f"| {alpha1:g}, {alpha2:g} | {N:g} | {D:g} | {passes:g} | {step:g} | {batch:g} | {noise:g} | "
            f"{found.mean:.4g} | {100 * found.stderr / found.mean:.1f} % | {found.predicted:.4g} | "
            f"{100 * found.error:+.1f} %{'' if found.right else ' *'} | {found.caution.split(':')[0]} |",
            flush=True,
        )
    count = len(CELLS[first:last])
    seconds = time.perf_counter() - start
    print(f"{right} of {count} within 3 % or two standard errors; {seconds:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
