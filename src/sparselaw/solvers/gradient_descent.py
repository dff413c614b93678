"""Full-batch gradient descent from zero (eq:GDequation), at any step count by its closed form.

With momentum beta it is the heavy ball, theta <- theta - eta grad + beta (last move), a polynomial of each
eigenvalue too (``theory.training.filters``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import check_not_negative, check_positive, check_size
from sparselaw.solvers.base import LATER, Solution, Solver, check_momentum, register

if TYPE_CHECKING:
    from sparselaw.solvers.equations import NormalEquations
    from sparselaw.theory.training.schedule import Descent


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class GradientDescent(Solver):
    """Gradient descent on all samples at once, stopped after some steps.

    Parameters
    ----------
    steps
        Number of steps.
    step
        Size of a step; one over the largest eigenvalue unless given.
    momentum
        Share of the last update that is added to the next.
    """

    name: ClassVar[str] = "gd"
    linear: ClassVar[bool] = True
    steps: int
    step: float | None = None
    momentum: float = field(default=0.0, metadata=LATER)

    def __post_init__(self) -> None:
        if check_not_negative("steps", self.steps) > 0:
            object.__setattr__(self, "steps", check_size("steps", self.steps))
        if self.step is not None:
            object.__setattr__(self, "step", check_positive("step", self.step))
        object.__setattr__(self, "momentum", check_momentum(self.momentum))

    @property
    def descent(self) -> Descent:
        from sparselaw.theory.training.schedule import Descent

        return Descent(step=self.step, steps=self.steps, momentum=self.momentum)

    def solve(self, equations: NormalEquations) -> Solution:
        """The iterate after ``steps``: (1 - (1 - eta l)^t) / l times the projection, eigenvalue l for l."""
        eigenvalues, projections = equations.eigenvalues, equations.projections
        if len(eigenvalues) == 0:
            return Solution(coefficients=projections, iterations=self.steps, gradient=0.0)
        step = self.step if self.step is not None else 1.0 / float(eigenvalues[0])
        with np.errstate(invalid="ignore", over="ignore"):
            left_over = self._left(eigenvalues, step)
            filtered = (
                shortfall(eigenvalues, step, self.steps) if self.momentum == 0.0 else 1.0 - left_over
            ) / eigenvalues
            moving = projections != 0.0
            coefficients = np.where(moving, filtered[:, None] * projections, 0.0)
            left = np.where(moving, left_over[:, None] * projections, 0.0)
            first = float(np.linalg.norm(projections))
            gradient = float(np.linalg.norm(left)) / first if first > 0.0 else 0.0
        unstable = bool(moving[step * eigenvalues > 2.0 * (1.0 + self.momentum)].any())
        limit = (1.0 + self.momentum) * largest_stable_step(equations)
        return Solution(
            coefficients=coefficients,
            status="diverged" if unstable else "ok",
            reason=f"step {step:g} is above the largest stable step {limit:g}" if unstable else "",
            iterations=self.steps,
            gradient=gradient,
        )

    def _left(self, eigenvalues: FloatArray, step: float) -> FloatArray:
        """What is left of each error after ``steps``."""
        if self.momentum == 0.0 or self.steps == 0:
            return contraction(eigenvalues, step, self.steps)
        from sparselaw.theory.training.filters import HeavyBall

        return HeavyBall(step=step, momentum=self.momentum, steps=float(self.steps)).left(eigenvalues)


def largest_stable_step(equations: NormalEquations) -> float:
    """2 / lambda_max: above it the error along the top eigenvector grows at every step."""
    return 2.0 / float(equations.eigenvalues[0]) if len(equations.eigenvalues) else np.inf


def contraction(eigenvalues: FloatArray, step: float, steps: int) -> FloatArray:
    """(1 - step l)^steps, right for any number of steps; an overflow is inf with its sign.

    Through log1p of -min(x, 2 - x), x = step l, so that neither a small x nor an x near 2 loses digits.
    """
    x = step * eigenvalues
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        size = np.exp(steps * np.log1p(-np.minimum(x, 2.0 - x)))
    if steps == 0:
        size = np.ones_like(x)  # where x = 1 exactly the product above is 0 * inf
    signed: FloatArray = np.where((x > 1.0) & (steps % 2 == 1), -size, size)
    return signed


def shortfall(eigenvalues: FloatArray, step: float, steps: int) -> FloatArray:
    """1 - (1 - step l)^steps, without cancellation where step l steps is small."""
    x = step * eigenvalues
    with np.errstate(divide="ignore", invalid="ignore"):
        small = -np.expm1(steps * np.log1p(-np.minimum(x, 0.5)))
    return np.where(x <= 0.5, small, 1.0 - contraction(eigenvalues, step, steps))
