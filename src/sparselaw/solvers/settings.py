"""Which solver, with which settings: what a task names and a store can hash.

Every solver minimises (1/2D) |Phi^T theta - y|^2 from theta = 0; eta is the step on that objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparselaw.errors import InputError, check_finite, check_not_negative, check_size


@dataclass(frozen=True, slots=True, kw_only=True)
class MinNorm:
    """The minimum-norm least-squares solution; singular values below rtol times the largest count as zero."""

    name: ClassVar[str] = "min-norm"
    rtol: float = 1e-10

    def __post_init__(self) -> None:
        object.__setattr__(self, "rtol", check_not_negative("rtol", self.rtol))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge:
    """(Phi Phi^T + ridge I)^-1 Phi y: the ridge is the paper's gamma, not divided by D."""

    name: ClassVar[str] = "ridge"
    ridge: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "ridge", check_not_negative("ridge", self.ridge))


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientDescent:
    """Full-batch gradient descent stopped after ``steps``; the step None means 1/lambda_max."""

    name: ClassVar[str] = "gd"
    steps: int
    step: float | None = None

    def __post_init__(self) -> None:
        if check_not_negative("steps", self.steps) > 0:
            object.__setattr__(self, "steps", check_size("steps", self.steps))
        _check_step(self.step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nesterov:
    """Nesterov's method with adaptive restart, as in the paper's experiments."""

    name: ClassVar[str] = "nesterov"
    tolerance: float = 1e-9  # on |gradient| / |first gradient|
    max_iterations: int = 500_000
    power_iterations: int = 50  # the step is 1/lambda_max, estimated by these

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", check_not_negative("tolerance", self.tolerance))
        object.__setattr__(self, "max_iterations", check_size("max_iterations", self.max_iterations))
        object.__setattr__(self, "power_iterations", check_size("power_iterations", self.power_iterations))


@dataclass(frozen=True, slots=True, kw_only=True)
class SGD:
    """Minibatch stochastic gradient descent: ``passes`` over the data, reshuffled each time."""

    name: ClassVar[str] = "sgd"
    passes: int
    step: float | None = None  # None: 1/E|phi|^2 over the training samples, stable for one sample at a time
    batch: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "passes", check_size("passes", self.passes))
        object.__setattr__(self, "batch", check_size("batch", self.batch))
        _check_step(self.step)


def _check_step(step: float | None) -> None:
    if step is not None and check_finite("step", step) <= 0.0:
        raise InputError("step", step, "must be positive", "choose step > 0")


SolverSettings = MinNorm | Ridge | GradientDescent | Nesterov | SGD
