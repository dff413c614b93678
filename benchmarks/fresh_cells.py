"""153 cells of the loss surface, small data sets among them, simulated in plain numpy.

    python benchmarks/fresh_cells.py > tests/agreement/fresh_cells.csv
    python benchmarks/fresh_cells.py 777501 > tests/agreement/new_fresh_cells.csv

The rule was written before any of them was simulated. Three cells are those of earlier complaints; then

- ``power`` (60): alpha1 from 0.05 to 2.2, alpha2 up to 2, M from 12 to 30,000, D from 20 to 2,000, N from
  0.15 to 4 ranks; half with a ridge, two fifths with label noise. Without a ridge N stays 2.5 standard
  deviations of the rank and 2 units away from it.
- ``table`` (40): as in ``surface_cells``, 0.2 to 3 coordinates seen for each sample.
- ``small`` (50): power laws of at most 25 coordinates, 40 samples and 40 features.

Another seed draws 150 other cells, at two fifths of the work.
"""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, fields

import numpy as np
from benchmarks import surface_cells
from benchmarks.surface_cells import TABLE_KINDS, Cell, coordinates, rank_of, seen, simulated, table

COMPLAINTS = (
    Cell("small", "power", 0.043, 0.87, 15, 13, 9, 0.0, 0.0),
    Cell("small", "power", 0.115, -0.27, 17, 15, 9, 0.0, 0.1),
    Cell("small", "power", 0.5, -1.499, 2, 10, 5, 0.1, 1.0),
)


def three_digits(value: float) -> float:
    return float(f"{value:.3g}")


def all_cells(seed: int = 20261118) -> list[Cell]:
    """The 150 that were drawn, in the order in which they were."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < 60:
        first = round(float(rng.uniform(0.05, 2.2)), 3)
        second = round(float(rng.uniform(max(-first - 0.9, -1.6), 2.0)), 3)
        few = int(np.exp(rng.uniform(np.log(12), np.log(60))))
        dimension = int(rng.choice([few, 300, 3000, 30000]))
        D = int(np.exp(rng.uniform(np.log(20), np.log(2000))))
        p, c = coordinates(Cell("", "power", first, second, dimension, 0, 0, 0.0, 0.0))
        if seen(p, D) > 400:
            continue
        rank, sd = rank_of(p, c, D, 30)
        N = round(rank * math.exp(rng.uniform(math.log(0.15), math.log(4))))
        has_ridge, has_noise = rng.random() < 0.5, rng.random() < 0.4
        if N < 3 or (not has_ridge and abs(N - rank) < 2.5 * sd + 2):
            continue
        total = float(p @ c)
        ridge = D * total / max(rank, 1) * 10.0 ** rng.uniform(-5, 0) if has_ridge else 0.0
        noise = total * 10.0 ** rng.uniform(-3, 0) if has_noise else 0.0
        sizes = dimension, N, D
        found.append(Cell("power", "power", first, second, *sizes, three_digits(ridge), three_digits(noise)))
    while len(found) < 100:
        kind, dimension = str(rng.choice(TABLE_KINDS)), int(rng.integers(30, 250))
        eta, number = round(float(rng.uniform(-0.6, 0.6)), 2), int(rng.integers(1, 10**6))
        p, c = table(kind, number, eta, dimension)
        share, places = rng.uniform(0.2, 3.0), np.arange(8, 1200)
        D = int(places[np.argmin([abs(seen(p, d) / d - share) for d in places])])
        rank, sd = rank_of(p, c, D, 20)
        N = round(rank * math.exp(rng.uniform(math.log(0.15), math.log(4))))
        has_ridge, has_noise = rng.random() < 0.5, rng.random() < 0.4
        near = not has_ridge and abs(N - rank) < max(2.5 * sd + 2, 4)
        if N < 4 or abs(seen(p, D) / D / share - 1) > 0.15 or near:
            continue
        total = float(p @ c)
        ridge = D * total / dimension * 10.0 ** rng.uniform(-4, 0) if has_ridge else 0.0
        noise = total * 10.0 ** rng.uniform(-2, 0) if has_noise else 0.0
        sizes = dimension, N, D
        found.append(Cell("table", kind, number, eta, *sizes, three_digits(ridge), three_digits(noise)))
    while len(found) < 150:
        first = round(float(rng.uniform(0.02, 1.5)), 3)
        second = round(float(rng.uniform(max(-first - 0.9, -1.5), 1.5)), 3)
        sizes = int(rng.integers(2, 26)), int(rng.integers(3, 41)), int(rng.integers(2, 41))
        dimension, D, N = sizes
        p, c = coordinates(Cell("", "power", first, second, dimension, 0, 0, 0.0, 0.0))
        rank, sd = rank_of(p, c, D, 200)
        has_ridge, has_noise = rng.random() < 0.5, rng.random() < 0.5
        if not has_ridge and abs(N - rank) < 2.5 * sd + 2:
            continue
        total = float(p @ c)
        ridge = total * 10.0 ** rng.uniform(-3, 1) if has_ridge else 0.0
        noise = total * 10.0 ** rng.uniform(-2, 0.5) if has_noise else 0.0
        sizes = dimension, N, D
        found.append(Cell("small", "power", first, second, *sizes, three_digits(ridge), three_digits(noise)))
    return found


def main() -> None:
    """Print one row a cell."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else None
    share = 1.0 if seed is None else 0.4
    surface_cells.WORK |= {"power": 6e9 * share, "small": 4e9 * share, "table": 4e9 * share}
    results = ["seeds", "mean", "stderr", "median", "median_stderr"]
    print(",".join([*(field.name for field in fields(Cell)), *results]))
    cells = [*COMPLAINTS, *all_cells()] if seed is None else all_cells(seed)
    for i, cell in enumerate(cells):
        row = [
            *asdict(cell).values(),
            *simulated(cell, 900_000 + i if seed is None else 10 * seed + i).values(),
        ]
        print(",".join(x if isinstance(x, str) else f"{x:.8g}" for x in row), flush=True)


if __name__ == "__main__":
    main()
