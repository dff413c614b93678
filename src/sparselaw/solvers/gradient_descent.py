"""Full-batch gradient descent from zero (eq:GDequation), at any step count by its closed form.

With momentum beta it is the heavy ball, theta <- theta - eta grad + beta (last move), a polynomial of each
eigenvalue too (``theory.training.filters``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparselaw.errors import check_not_negative, check_size, check_step
from sparselaw.solvers.base import LATER, NormalEquations, Solution, Solver, check_momentum, register

if TYPE_CHECKING:
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
            object.__setattr__(self, "step", check_step(self.step))
        object.__setattr__(self, "momentum", check_momentum(self.momentum))

    @property
    def descent(self) -> Descent:
        from sparselaw.theory.training.schedule import Descent

        return Descent(step=self.step, steps=self.steps, momentum=self.momentum)

    def solve(self, equations: NormalEquations) -> Solution:
        """The iterate after ``steps``: (1 - (1 - eta l)^t) / l times the projection, eigenvalue l for l."""
        from sparselaw.theory.training.filters import HeavyBall

        eigenvalues, projections = equations.eigenvalues, equations.projections
        if len(eigenvalues) == 0:
            return Solution(coefficients=projections, iterations=self.steps, gradient=0.0)
        step = self.step if self.step is not None else 1.0 / float(eigenvalues[0])
        with np.errstate(all="ignore"):
            left_over = HeavyBall(step, self.momentum, float(self.steps)).left(eigenvalues)
            filtered = 1.0 - left_over
            if self.momentum == 0.0:  # without cancellation where step l steps is small
                small = -np.expm1(self.steps * np.log1p(-np.minimum(step * eigenvalues, 0.5)))
                filtered = np.where(step * eigenvalues <= 0.5, small, filtered)
            filtered = filtered / eigenvalues
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


def largest_stable_step(equations: NormalEquations) -> float:
    """2 / lambda_max: above it the error along the top eigenvector grows at every step."""
    return 2.0 / float(equations.eigenvalues[0]) if len(equations.eigenvalues) else np.inf
