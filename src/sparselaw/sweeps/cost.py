"""How long a task will take, roughly: only the order and the batches depend on it, never an answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from statistics import median

from sparselaw.problem import SparseInputs
from sparselaw.solvers.settings import SGD, Nesterov
from sparselaw.task import Task

_FLOPS = 2e9  # of one core, to begin with; what is measured corrects it
_SMALLEST = 2e-4  # seconds
_REMEMBERED = 31


def cost_of(task: Task) -> float:
    """Seconds for a task, from counting its multiplications.

    D samples touch about K = D^(1/(1+alpha1)) sparse coordinates, so linear features act on N by K matrices;
    ReLU features and dense inputs have N by D ones.
    """
    N, D = float(task.N), float(task.D)
    problem = task.problem
    wide = D
    draws = D
    if isinstance(problem, SparseInputs):
        seen = min(problem.dimension, D ** (1 / (1 + problem.alpha1)) if problem.alpha1 > -1 else D)
        per_sample = 1 + 1 / problem.alpha1 if problem.alpha1 > 0 else min(seen, problem.dimension)
        draws = 10 * D * min(per_sample, 100.0)
        wide = min(D, seen) if task.features == "linear" else D
    work = N * wide * min(N, wide) + draws
    if isinstance(task.solver, SGD):
        work += 4 * N * D * task.solver.passes
    if isinstance(task.solver, Nesterov):
        work += 4000 * min(N, wide) ** 2
    return _SMALLEST + work / _FLOPS


class Calibration:
    """Measured seconds per estimated second, for each kind of task: the median of the last few."""

    def __init__(self) -> None:
        self._ratios: dict[Hashable, deque[float]] = {}

    def learn(self, kind: Hashable, estimated: float, measured: float) -> None:
        self._ratios.setdefault(kind, deque(maxlen=_REMEMBERED)).append(measured / estimated)

    def ratio(self, kind: Hashable) -> float | None:
        """None where nothing of this kind has been measured."""
        ratios = self._ratios.get(kind)
        return median(ratios) if ratios else None


def kind_of(task: Task) -> Hashable:
    """Tasks of one kind share the error of the estimate."""
    return type(task.problem), task.features, type(task.solver), task.estimator
