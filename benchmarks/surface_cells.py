"""The loss surface where it is hardest, simulated in plain numpy: tables, small ridges at the peak, below it.

    python benchmarks/surface_cells.py > tests/agreement/surface_cells.csv

The rule by which the cells are drawn was written before any of them was simulated; nothing of the package is
used but for the table at the end of the page. Three groups:

- ``table``: every combination of frequent, rare and mixed coordinates; fewer and more coordinates seen than
  samples; without and with a ridge; without and with label noise; three of each. Without a ridge N stays 15 %
  and 5 units away from the rank, since the mean at the peak is infinite.
- ``peak``: a power law with a small ridge, N within 1.5 standard deviations of the rank.
- ``below``: a power law without a ridge, N 2 to 5 standard deviations of the rank below its mean.

A mean is over data sets, two embeddings each (above the rank: all embeddings, in closed form), over all
teachers and label noises, with the unseen variance as its control. A first sixty data sets decide how many
more are needed for a standard error of 0.7 %; they are not part of the mean. About 40 minutes on one core.
"""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass, fields
from itertools import product

import numpy as np

EMBEDDINGS = 2
PILOT = 60
WANTED = 0.007  # relative standard error
SEEDS = (150, 3000)
WORK = {"table": 4e9, "peak": 2.5e10, "below": 2.5e10}  # operations that a cell may cost, at most
TABLE_KINDS = ("frequent", "rare", "mixed")
PROBABILITIES = {"frequent": (0.05, 0.7), "rare": (0.001, 0.03), "mixed": (0.002, 0.7)}


@dataclass(frozen=True, slots=True)
class Cell:
    """Where the loss is simulated; ``kind`` and ``shape`` make the coordinates (``coordinates``)."""

    group: str
    kind: str  # power, or that of a table
    first: float  # alpha1; of a table, the seed of its coordinates
    second: float  # alpha2; of a table, eta: amplitudes fall as c ~ p^eta
    dimension: int
    N: int
    D: int
    ridge: float
    noise: float


def coordinates(cell: Cell) -> tuple[np.ndarray, np.ndarray]:
    """(p, c): how often each coordinate is active, and its squared amplitude."""
    if cell.kind == "power":
        j = np.arange(1.0, cell.dimension + 1.0)
        return j ** -(cell.first + 1.0), j ** -(cell.second + 1.0)
    return table(cell.kind, int(cell.first), cell.second, cell.dimension)


def table(kind: str, seed: int, eta: float, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """log p is uniform, log c normal about eta log p."""
    rng = np.random.default_rng(seed)
    low, high = np.log(PROBABILITIES[kind])
    p = np.exp(rng.uniform(low, high, dimension))
    return p, p**eta * np.exp(0.5 * rng.standard_normal(dimension))


def seen(p: np.ndarray, D: float) -> float:
    """The expected number of coordinates that D samples show."""
    return float(-np.expm1(D * np.log1p(-np.minimum(p, 1.0 - 1e-15))).sum())


def draw(p: np.ndarray, c: np.ndarray, D: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(X of the coordinates that are seen, which these are)."""
    n = rng.binomial(D, p)
    active = np.flatnonzero(n)
    X = np.zeros((active.size, D))
    for row, j in zip(X, active, strict=True):
        row[rng.choice(D, n[j], replace=False)] = rng.choice([-1.0, 1.0], n[j]) * math.sqrt(c[j])
    return X, active


def rank_of(p: np.ndarray, c: np.ndarray, D: int, seeds: int) -> tuple[float, float]:
    """Mean and standard deviation of the rank of the data."""
    rng = np.random.default_rng(5)
    ranks = [np.linalg.matrix_rank(draw(p, np.ones_like(c), D, rng)[0]) for _ in range(seeds)]
    return float(np.mean(ranks)), float(np.std(ranks))


def table_cells(seed: int) -> list[Cell]:
    rng, cells = np.random.default_rng(seed), []
    for kind, above, has_ridge, has_noise, _ in product(TABLE_KINDS, *[(False, True)] * 3, range(3)):
        while True:
            dimension, eta = int(rng.integers(60, 300)), round(float(rng.uniform(-0.6, 0.6)), 2)
            number = int(rng.integers(1, 10**6))
            p, c = table(kind, number, eta, dimension)
            share = rng.uniform(1.2, 3.0) if above else rng.uniform(0.25, 0.85)
            places = np.arange(20, 1500)
            D = int(places[np.argmin([abs(seen(p, d) / d - share) for d in places])])
            rank, _sd = rank_of(p, c, D, 20)
            N = round(rank * math.exp(rng.uniform(math.log(0.15), math.log(4.0))))
            far = abs(N - rank) > max(0.15 * rank, 5.0)
            if N >= 6 and abs(seen(p, D) / D / share - 1.0) < 0.1 and (has_ridge or far):
                break
        total = float(p @ c)
        ridge = D * total / dimension * 10.0 ** rng.uniform(-3.0, 0.0) if has_ridge else 0.0
        noise = total * 10.0 ** rng.uniform(-2.0, 0.0) if has_noise else 0.0
        cells.append(
            Cell("table", kind, number, eta, dimension, N, D, float(f"{ridge:.3g}"), float(f"{noise:.3g}"))
        )
    return cells


def power_cells(group: str, count: int, seed: int) -> list[Cell]:
    rng, cells = np.random.default_rng(seed), []
    while len(cells) < count:
        first, second = round(float(rng.uniform(0.3, 2.0)), 2), round(float(rng.uniform(-0.9, 2.0)), 2)
        dimension, wanted = (
            int(rng.choice([300, 1000, 3000])),
            math.exp(rng.uniform(math.log(20), math.log(150))),
        )
        p, c = coordinates(Cell("", "power", first, second, dimension, 0, 0, 0.0, 0.0))
        if wanted > 0.8 * dimension or seen(p, 4000) < wanted:
            continue
        D = round(math.exp(np.interp(wanted, *_seen_along(p))))
        rank, sd = rank_of(p, c, D, 100)
        place = rng.uniform(2.0, 5.0) if group == "below" else rng.uniform(-1.5, 1.5)
        N = round(rank - place * sd)
        if sd < 1.0 or N < 8:
            continue
        ridge = rank ** -(second + 1.0) * 10.0 ** rng.uniform(-4.0, 0.0) if group == "peak" else 0.0
        cells.append(Cell(group, "power", first, second, dimension, N, D, float(f"{ridge:.3g}"), 0.0))
    return cells


def _seen_along(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    places = np.geomspace(5.0, 4000.0, 60)
    return np.array([seen(p, D) for D in places]), np.log(places)


def one_data_set(cell: Cell, p: np.ndarray, c: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """(the population loss, the unseen variance)."""
    X, active = draw(p, c, cell.D, rng)
    s, N = (p * c)[active], cell.N
    unseen = float((p * c).sum() - s.sum())
    U, values, _ = np.linalg.svd(X, full_matrices=False)
    rank = int((values > 1e-10 * values[0]).sum())
    L = U[:, :rank] * values[:rank]  # X X^T = L L^T
    if cell.ridge == cell.noise == 0.0 and N > rank + 1:
        left = unseen + float(s @ (1.0 - (U[:, :rank] ** 2).sum(axis=1)))
        return left * (N - 1.0) / (N - rank - 1.0), unseen
    losses = []
    for _ in range(EMBEDDINGS):
        u = rng.standard_normal((N, active.size)) / math.sqrt(N)
        left_vectors, singular, right = np.linalg.svd(u @ L, full_matrices=False)
        kept = singular > 1e-10 * singular[0]
        B = left_vectors[:, kept] * (singular[kept] / (singular[kept] ** 2 + cell.ridge))
        T = B @ right[kept] @ L.T  # theta = T w
        missed = np.eye(active.size) - u.T @ T
        loss = float(s @ (missed**2).sum(axis=1)) + unseen * (1.0 + float((T**2).sum()) / N)
        fitted = float(s @ ((u.T @ B) ** 2).sum(axis=1)) + unseen * float((B**2).sum()) / N
        losses.append(loss + cell.noise * fitted)
    return float(np.mean(losses)), unseen


def simulated(cell: Cell, seed: int, seeds: int | None = None) -> dict[str, float]:
    """Mean and median over data sets, with their standard errors."""
    p, c = coordinates(cell)
    rng = np.random.default_rng(seed)
    if seeds is None:
        _, error = _mean(np.array([one_data_set(cell, p, c, rng) for _ in range(PILOT)]), p, c, cell.D)
        rows = min(seen(p, cell.D), cell.D)
        cost = 20.0 * rows * max(seen(p, cell.D), cell.D) * rows + 30.0 * EMBEDDINGS * cell.N * rows**2
        most = min(SEEDS[1], WORK[cell.group] / cost)
        seeds = int(max(SEEDS[0], min(most, PILOT * (error / WANTED) ** 2)))
    found = np.array([one_data_set(cell, p, c, rng) for _ in range(seeds)])
    mean, error = _mean(found, p, c, cell.D)
    ordered = np.sort(found[:, 0])
    middle, width = seeds // 2, max(1, round(0.5 * math.sqrt(seeds)))
    return {
        "seeds": seeds,
        "mean": mean,
        "stderr": error * mean,
        "median": float(np.median(ordered)),
        "median_stderr": float(0.5 * (ordered[middle + width] - ordered[middle - width])),
    }


def _mean(found: np.ndarray, p: np.ndarray, c: np.ndarray, D: int) -> tuple[float, float]:
    """The mean with the unseen variance as its control, and its relative standard error."""
    loss, control = found.T
    slope = np.cov(loss, control)[0, 1] / max(float(np.var(control, ddof=1)), 1e-300)
    known = float((p * c) @ np.exp(D * np.log1p(-np.minimum(p, 1.0 - 1e-15))))
    adjusted = loss - slope * (control - known)
    mean = float(adjusted.mean())
    return mean, float(adjusted.std(ddof=2)) / math.sqrt(loss.size) / mean


def all_cells() -> list[Cell]:
    return [*table_cells(251), *power_cells("peak", 24, 252), *power_cells("below", 24, 253)]


def main() -> None:
    print(
        ",".join(
            [*(field.name for field in fields(Cell)), "seeds", "mean", "stderr", "median", "median_stderr"]
        )
    )
    for i, cell in enumerate(all_cells()):
        row = [*asdict(cell).values(), *simulated(cell, 10_000 + i).values()]
        print(",".join(x if isinstance(x, str) else f"{x:.8g}" for x in row), flush=True)
        print(i, cell.group, cell.kind, file=sys.stderr)


if __name__ == "__main__":
    main()
