"""Unfinished training in closed form against simulated SGD: the cells that are compared, and the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.experiments.dynamics import sgd_loss
from sparselaw.inputs import SparseInputs
from sparselaw.predicting import predict
from sparselaw.solvers import SGD

WITHIN = 0.03  # relative error that counts as right
STANDARD_ERRORS = 2.0
VISITS = 4e7  # of samples, that a cell may cost
SEEDS = (200, 2000)  # at least and at most: runs are heavy-tailed, 200 of them may miss their mean by 10 %
TEACHERS_OF_FEW = 2  # a run with an embedding costs more, and its data scatter more than its teachers

# alpha1, alpha2, N, D, passes, step, batch, label noise
CELLS = (
    (1, 0.3, math.inf, 1000, 1, 0.5, 1, 0),
    (1, 0.3, math.inf, 4000, 4, 0.5, 1, 0),
    (1, 0.3, math.inf, 4000, 16, 0.5, 1, 0),
    (1, 0.3, math.inf, 1000, 64, 0.3, 1, 0),
    (1, 0.3, math.inf, 1000, 256, 0.5, 4, 0),
    (1, 0.3, 64, 4000, 1, 0.5, 1, 0),
    (1, 0.3, 64, 4000, 16, 0.5, 1, 0),
    (1, 0.3, 100, 4000, 64, 0.5, 1, 0),
    (1, 0.3, 30, 2000, 256, 0.5, 16, 0),
    (1, 0.3, 16, 1000, 16, 0.3, 4, 0),
    (1, 0.3, 50, 10000, 4, 0.8, 64, 0),
    (1, 0.3, 100, 2000, 16, 0.5, 1, 0.1),
    (1, 0.3, math.inf, 2000, 64, 0.2, 1, 0.1),
    (0.5, 0.5, math.inf, 1000, 1, 0.5, 1, 0),
    (0.5, 0.5, math.inf, 4000, 4, 0.5, 4, 0),
    (0.5, 0.5, math.inf, 2000, 64, 0.5, 1, 0),
    (0.5, 0.5, 64, 2000, 1, 0.5, 1, 0),
    (0.5, 0.5, 64, 2000, 16, 0.5, 1, 0),
    (0.5, 0.5, 100, 1000, 64, 0.5, 16, 0),
    (0.5, 0.5, 32, 500, 256, 0.5, 64, 0),
    (0.5, 0.5, 100, 1000, 16, 0.3, 1, 0.05),
    (2, 0, math.inf, 1000, 1, 0.5, 1, 0),
    (2, 0, math.inf, 4000, 16, 0.5, 1, 0),
    (2, 0, math.inf, 1000, 256, 0.5, 16, 0),
    (2, 0, 30, 4000, 1, 0.3, 1, 0),
    (2, 0, 64, 4000, 16, 0.5, 4, 0),
    (2, 0, 30, 10000, 64, 0.8, 64, 0),
    (2, 0, 16, 2000, 4, 0.5, 1, 0),
    (2, 0, 100, 2000, 64, 0.2, 1, 0.1),
    (1.5, -0.5, math.inf, 2000, 1, 0.3, 1, 0),
    (1.5, -0.5, math.inf, 2000, 16, 0.5, 4, 0),
    (1.5, -0.5, 64, 2000, 16, 0.3, 1, 0),
    (1.5, -0.5, 30, 1000, 64, 0.5, 16, 0),
    (1.5, -0.5, 100, 2000, 256, 0.5, 64, 0),
    (1.5, -0.5, 64, 4000, 4, 0.3, 1, 0.1),
    (0.8, 0.2, math.inf, 2000, 1, 0.5, 1, 0),
    (0.8, 0.2, math.inf, 2000, 16, 0.5, 1, 0),
    (0.8, 0.2, 64, 4000, 4, 0.5, 4, 0),
    (0.8, 0.2, 100, 1000, 64, 0.3, 1, 0),
    (0.8, 0.2, 30, 500, 256, 0.5, 64, 0),
    (0.8, 0.2, 50, 4000, 16, 0.5, 16, 0.05),
    (0.6, -0.8, math.inf, 2000, 4, 0.3, 4, 0),
    (0.6, -0.8, 64, 1000, 16, 0.3, 16, 0),
    (0.6, -0.8, 100, 2000, 1, 0.1, 1, 0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One cell: predicted beside simulated."""

    cell: tuple[float, ...]
    predicted: float
    quasi_static: float
    caution: str
    mean: float
    stderr: float
    seeds: int

    @property
    def error(self) -> float:
        return self.predicted / self.mean - 1.0

    @property
    def right(self) -> bool:
        """Within 3 % or two standard errors."""
        return abs(self.error) <= WITHIN or abs(self.predicted - self.mean) <= STANDARD_ERRORS * self.stderr


def seeds_of(cell: tuple[float, ...]) -> int:
    """As many as cost the same in every cell."""
    _, _, _, D, passes, *_ = cell
    return int(max(SEEDS[0], min(SEEDS[1], VISITS / (D * passes))))


def compare_cell(cell: tuple[float, ...], seeds: int | None = None) -> Compared:
    """Simulate one cell and predict it."""
    alpha1, alpha2, N, D, passes, step, batch, noise = cell
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    solver = SGD(passes=int(passes), step=step, batch=int(batch))
    teachers = 8 if math.isinf(N) else TEACHERS_OF_FEW
    count = seeds_of(cell) if seeds is None else seeds
    losses = np.array([sgd_loss(inputs, N, int(D), solver, noise, seed, teachers) for seed in range(count)])
    return beside_theory(cell, float(losses.mean()), float(losses.std(ddof=1)) / math.sqrt(count), count)


def beside_theory(cell: tuple[float, ...], mean: float, stderr: float, seeds: int) -> Compared:
    """What was simulated, and what the theory says."""
    alpha1, alpha2, N, D, passes, step, batch, noise = cell
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    solver = SGD(passes=int(passes), step=step, batch=int(batch))
    point = predict(inputs, N=N, D=int(D), solver=solver, noise=noise)
    quick = predict(inputs, N=N, D=int(D), solver=solver, noise=noise, form="quasi-static")
    return Compared(
        cell=cell,
        predicted=point.loss,
        quasi_static=quick.loss,
        caution=point.caution,
        mean=mean,
        stderr=stderr,
        seeds=seeds,
    )
