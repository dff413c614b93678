"""Stopped gradient descent, SGD and schedules in cells that nobody chose: a verdict on `loss_error`.

    python benchmarks/training_fresh_cells.py > tests/agreement/fresh_training_cells.csv

The rule was written before any cell was looked at: gradient descent, SGD, SGD, a schedule in turn; alpha1
crowded (0.2 to 0.5) and not (0.8 to 2.5) in turn; alpha2 from -2.5 (and -0.8 - alpha1) to 1.5; N of 8, of 8
to 300, or infinite; one or many passes; batches that divide D and that do not. A run counts as diverged where
its loss is more than three times the variance of the inputs; the mean is that of the others.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.experiments.dynamics import sgd_loss
from sparselaw.inputs import SparseInputs
from sparselaw.solvers import SGD

COUNT, SEED = 40, 2911
DIMENSION = 600
NAMES = ("alpha1", "alpha2", "N", "D", "steps", "passes", "step", "last_step", "batch", "momentum", "noise")
VISITS, SEEDS = 8e6, (100, 2000)  # of samples that a cell may cost, and runs at least and at most
WORK = 2e10  # operations of a cell of gradient descent


def drawn_cells(count: int = COUNT, seed: int = SEED) -> list[dict[str, float]]:
    """The cells: zero steps is SGD, zero passes gradient descent."""
    rng, cells = np.random.default_rng(seed), []
    for i in range(count):
        kind = ("gd", "sgd", "sgd", "schedule")[i % 4]
        crowded = i // 4 % 2 == 0
        alpha1 = rng.uniform(0.2, 0.5) if crowded else rng.uniform(0.8, 2.5)
        alpha2 = rng.uniform(max(-2.5, -0.8 - alpha1), 1.5)
        few = rng.random()
        N = 8.0 if few < 0.2 else math.inf if few > 0.8 else float(round(math.exp(rng.uniform(2.1, 5.7))))
        largest = 300 if crowded else 800 if kind == "gd" else 3000
        D = round(math.exp(rng.uniform(math.log(100), math.log(largest))))
        batch = int(rng.choice([1, 4, 16, 32]))
        if rng.random() < 0.5:
            D = batch * math.ceil(D / batch)
        elif batch > 1 and D % batch == 0:
            D += 1 + int(rng.integers(batch - 1))
        passes = 1 if rng.random() < 0.25 else round(math.exp(rng.uniform(math.log(2), math.log(100))))
        passes = max(passes, 4) if kind == "schedule" else passes
        steps = round(math.exp(rng.uniform(math.log(5), math.log(20_000))))
        step = round(rng.uniform(0.1, 0.6), 2)
        last = round(step * rng.uniform(0.05, 0.5), 3) if kind == "schedule" else step
        momentum = 0.9 if kind == "gd" and rng.random() < 0.2 else 0.0
        noise = 0.05 if rng.random() < 0.25 else 0.0
        by_steps = kind == "gd"
        values = (
            round(alpha1, 2),
            round(alpha2, 2),
            N,
            D,
            steps if by_steps else 0,
            0 if by_steps else passes,
        )
        cells.append(
            dict(zip(NAMES, (*values, step, last, D if by_steps else batch, momentum, noise), strict=True))
        )
    return cells


def pass_steps(cell: dict[str, float]) -> list[float]:
    """The step of every pass: the last half of the passes of a schedule have a smaller one."""
    passes = int(cell["passes"])
    early = (passes + 1) // 2 if cell["last_step"] != cell["step"] else passes
    return [cell["step"]] * early + [cell["last_step"]] * (passes - early)


def simulated(cell: dict[str, float], seed: int) -> tuple[int, float, float, float]:
    """(runs, mean, standard error, share that diverged)."""
    from training_full_batch_cells import one_run  # beside this file

    inputs = SparseInputs(alpha1=cell["alpha1"], alpha2=cell["alpha2"], dimension=DIMENSION)
    most = 3.0 * float(inputs.variances(np.arange(1.0, DIMENSION + 1.0)).sum())
    N, D = cell["N"], int(cell["D"])
    if cell["steps"]:
        size = min(DIMENSION, 2 * D)
        cost = size**2 * D * 0.3 + min(size, N) ** 3 * 10.0
        count = int(np.clip(WORK / cost, *SEEDS))
        rng = np.random.default_rng(seed)
        settings = (cell["steps"], cell["step"], cell["momentum"], cell["noise"])
        full = (cell["alpha1"], cell["alpha2"], DIMENSION, N, D, *settings)
        runs = [one_run(full, rng) for _ in range(count)]
        losses = np.array([math.inf if gone else loss for loss, gone in runs])
    else:
        solver = SGD(passes=int(cell["passes"]), step=cell["step"], batch=int(cell["batch"]))
        count = int(np.clip(VISITS / (D * cell["passes"]), *SEEDS))
        steps, teachers = pass_steps(cell), 8 if math.isinf(N) else 2
        losses = np.array(
            [
                sgd_loss(inputs, N, D, solver, cell["noise"], seed + 7919 * k, teachers, steps)
                for k in range(count)
            ]
        )
    kept = losses[np.isfinite(losses) & (losses < most)]
    error = float(kept.std(ddof=1)) / math.sqrt(kept.size) if kept.size > 1 else math.nan
    return count, float(kept.mean()) if kept.size else math.nan, error, 1.0 - kept.size / count


def main() -> None:
    print(",".join([*NAMES, "seeds", "mean", "stderr", "diverged"]))
    for i, cell in enumerate(drawn_cells()):
        seeds, mean, stderr, diverged = simulated(cell, 5000 + i)
        values = [f"{x:g}" for x in cell.values()]
        print(",".join([*values, str(seeds), f"{mean:.8g}", f"{stderr:.4g}", f"{diverged:.3g}"]), flush=True)


if __name__ == "__main__":
    main()
