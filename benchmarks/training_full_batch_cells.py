"""Gradient descent stopped early, simulated in plain numpy: frequent large coordinates and crowded data.

    python benchmarks/training_full_batch_cells.py > tests/agreement/full_batch_cells.csv

Data are drawn, the descent is taken in the eigenbasis of its own Hessian, and the population loss is
averaged over teachers and over the unseen columns of the embedding in closed form. Runs that diverge (an
eigenvalue beyond the edge of stability) are counted and left out of the mean. Two minutes on one core.
"""

from __future__ import annotations

import math
import sys

import numpy as np

# alpha1, alpha2, dimension, N, D, steps, step, momentum, label noise
SPIKES = (
    (2.2, -2.4, 300, 60, 600, 3000, 0.25, 0, 0),
    (2.2, -2.4, 300, math.inf, 600, 10_000, 0.25, 0, 0),
    (2.2, -2.4, 300, 20, 2000, 300, 0.5, 0, 0),
    (1.5, -2.0, 500, 40, 400, 2000, 0.3, 0, 0),
    (1.5, -2.0, 500, math.inf, 1000, 30, 0.3, 0, 0),
    (1.5, -2.0, 500, 15, 1000, 200, 0.3, 0, 0),
    (1.2, -1.5, 1000, 50, 500, 1000, 0.5, 0, 0),
    (1.2, -1.5, 1000, math.inf, 300, 100, 0.5, 0, 0),
    (1.2, -1.5, 1000, 30, 2000, 10_000, 0.2, 0, 0.05),
    (0.8, -1.2, 1000, 40, 300, 500, 0.4, 0, 0),
    (0.8, -1.2, 1000, 100, 300, 3000, 0.4, 0, 0),
    (0.8, -1.2, 1000, math.inf, 1000, 200, 0.4, 0, 0),
    (0.5, -1.1, 600, 50, 200, 1000, 0.3, 0, 0),
    (3.0, -3.0, 200, 40, 1000, 1000, 0.3, 0, 0),
    (3.0, -3.0, 200, math.inf, 1000, 50, 0.3, 0, 0),
    (2.0, -1.3, 400, 30, 1000, 5000, 0.5, 0.5, 0),
    (2.0, -1.3, 400, 60, 500, 100, 0.3, 0.9, 0),
    (1.5, -2.3, 150, 50, 800, 400, 0.2, 0, 0.1),
    (1.2, -1.9, 200, 25, 1500, 800, 0.3, 0, 0),
    (2.5, -2.0, 500, 12, 3000, 2000, 0.4, 0, 0),
)
CROWDED = (
    (0.3, 0.5, 2000, 60, 200, 20_000, 0.5, 0, 0),
    (0.3, 0.5, 2000, 60, 200, 2000, 0.5, 0, 0),
    (0.5, 0.5, 2000, 40, 300, 5000, 0.5, 0, 0),
    (0.3, -0.3, 1000, 50, 200, 3000, 0.3, 0, 0),
    (0.2, 0.4, 1500, 100, 200, 10_000, 0.5, 0, 0),
    (0.2, 0.4, 1500, math.inf, 100, 1000, 0.5, 0, 0),
    (0.1, -0.5, 500, 40, 150, 500, 0.2, 0, 0),
    (0.0, 0.2, 400, 40, 100, 1000, 0.2, 0, 0),
    (0.4, 0.0, 1000, 300, 150, 3000, 0.4, 0, 0),
    (0.3, 0.3, 1000, 30, 300, 200, 0.5, 0, 0.05),
    (0.2, -0.6, 600, 80, 120, 300, 0.2, 0.9, 0),
    (0.5, -0.8, 1000, 100, 300, 2000, 0.2, 0, 0),
)
NAMES = ("alpha1", "alpha2", "dimension", "N", "D", "steps", "step", "momentum", "noise")
WORK = 3e9  # operations that a cell may cost
SEEDS = (100, 4000)


def drawn_cells(count: int, seed: int) -> list[tuple[float, ...]]:
    """Settings drawn at random, half of them with alpha2 < -1: for a verdict on what nobody chose."""
    rng, cells = np.random.default_rng(seed), []
    for i in range(count):
        spiky = i % 2 == 0
        alpha1 = rng.uniform(0.8, 3.0) if spiky else rng.uniform(0.05, 0.6)
        alpha2 = rng.uniform(-0.8 - alpha1, -1.0) if spiky else rng.uniform(-0.9, 0.6)
        D = round(math.exp(rng.uniform(math.log(100), math.log(1500 if spiky else 300))))
        N = math.inf if rng.random() < 0.15 else round(math.exp(rng.uniform(math.log(12), math.log(200))))
        steps = round(math.exp(rng.uniform(math.log(5), math.log(20_000))))
        momentum = 0.9 if rng.random() < 0.15 else 0.0
        noise = 0.05 if rng.random() < 0.2 else 0.0
        dimension = round(rng.uniform(100, 800))
        cells.append(
            (
                round(alpha1, 2),
                round(alpha2, 2),
                dimension,
                N,
                D,
                steps,
                round(rng.uniform(0.1, 0.6), 2),
                momentum,
                noise,
            )
        )
    return cells


SETS = {
    "spikes": SPIKES,
    "crowded": CROWDED,
    "drawn": drawn_cells(24, 11),
    "kept back": drawn_cells(24, 12),
    "kept back later": drawn_cells(24, 13),
}


def left(curvature: np.ndarray, step: float, momentum: float, steps: int) -> np.ndarray:
    """What the steps leave of an error."""
    if momentum == 0:
        return np.asarray((1.0 - step * curvature) ** steps)
    before = now = np.ones_like(curvature)
    for _ in range(steps):
        before, now = now, now - step * curvature * now + momentum * (now - before)
    return now


def one_run(cell: tuple[float, ...], rng: np.random.Generator) -> tuple[float, bool]:
    """(population loss, whether it diverged) of one data set and embedding."""
    alpha1, alpha2, dimension, N, D, steps, step, momentum, noise = cell
    j = np.arange(1.0, dimension + 1.0)
    p, c = j ** -(alpha1 + 1.0), j ** -(alpha2 + 1.0)
    n = rng.binomial(int(D), p)
    seen = np.flatnonzero(n)
    s, unseen = (p * c)[seen], float((p * c)[n == 0].sum())
    X = np.zeros((seen.size, int(D)))
    for row, k in zip(X, seen, strict=True):
        row[rng.choice(int(D), n[k], replace=False)] = rng.choice([-1.0, 1.0], n[k]) * math.sqrt(c[k])
    G = X @ X.T / D
    u = np.eye(seen.size) if math.isinf(N) else rng.standard_normal((int(N), seen.size)) / math.sqrt(N)
    curvature, V = np.linalg.eigh(u @ G @ u.T)
    curvature = np.maximum(curvature, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        rest = left(curvature, step, momentum, int(steps))
        fitted = np.where(
            curvature * step > 1e-11, (1.0 - rest) / np.where(curvature > 0.0, curvature, 1.0), 0.0
        )
        readout = (V * fitted) @ (V.T @ (u @ G))
        error = np.eye(seen.size) - u.T @ readout
        moved = noise / D * fitted**2 * curvature  # of label noise, along each eigenvector
        loss = float(s @ (error**2).sum(axis=1)) + float(s @ ((u.T @ V) ** 2 @ moved))
        loss += unseen * (1.0 + (float((readout**2).sum()) + float(moved.sum())) / N)
    return loss, bool(curvature[-1] * step > 2.0 * (1.0 + momentum))


def simulated(cell: tuple[float, ...], seed: int) -> tuple[int, float, float, float]:
    """(seeds, mean, standard error, share that diverged)."""
    rng = np.random.default_rng(seed)
    _, _, dimension, N, D, *_ = cell
    size = min(dimension, 2 * D)
    cost = size**2 * D * 0.3 + min(size, N) ** 3 * 10.0
    seeds = int(np.clip(WORK / cost, *SEEDS))
    runs = [one_run(cell, rng) for _ in range(seeds)]
    losses = np.array([loss for loss, diverged in runs if not diverged])
    return (
        seeds,
        float(losses.mean()),
        float(losses.std(ddof=1)) / math.sqrt(losses.size),
        1.0 - losses.size / seeds,
    )


def main() -> None:
    print(",".join(["set", *NAMES, "seeds", "mean", "stderr", "diverged"]))
    for name, cells in SETS.items():
        for i, cell in enumerate(cells):
            seeds, mean, stderr, diverged = simulated(cell, 1000 + i)
            values = [f"{x:g}" for x in cell]
            print(
                ",".join([name, *values, str(seeds), f"{mean:.8g}", f"{stderr:.4g}", f"{diverged:.3g}"]),
                flush=True,
            )
            print(name, i, file=sys.stderr)


if __name__ == "__main__":
    main()
