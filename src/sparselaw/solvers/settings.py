"""Which solver, with which settings: what a task names and a store can hash.

Every solver minimises (1/2D) |Phi^T theta - y|^2 from theta = 0; eta is the step on that objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class MinNorm:
    """The minimum-norm least-squares solution; singular values below rtol times the largest count as zero."""

    name: ClassVar[str] = "min-norm"
    rtol: float = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge:
    """(Phi Phi^T + ridge I)^-1 Phi y: the ridge is the paper's gamma, not divided by D."""

    name: ClassVar[str] = "ridge"
    ridge: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientDescent:
    """Full-batch gradient descent stopped after ``steps``; the step None means 1/lambda_max."""

    name: ClassVar[str] = "gd"
    steps: int
    step: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Nesterov:
    """Nesterov's method with adaptive restart, as in the paper's experiments."""

    name: ClassVar[str] = "nesterov"
    tolerance: float = 1e-9  # on |gradient| / |first gradient|
    max_iterations: int = 500_000
    power_iterations: int = 50  # the step is 1/lambda_max, estimated by these


@dataclass(frozen=True, slots=True, kw_only=True)
class SGD:
    """Minibatch stochastic gradient descent: ``passes`` over the data, reshuffled each time."""

    name: ClassVar[str] = "sgd"
    passes: int
    step: float | None = None  # None: 1/E|phi|^2 over the training samples, stable for one sample at a time
    batch: int = 1


SolverSettings = MinNorm | Ridge | GradientDescent | Nesterov | SGD
