"""Nesterov's method with gradient restart (O'Donoghue and Candes), run in the eigenbasis.

Every quantity of the method is invariant under rotations of theta: the gradient norm, the restart test, the
power iteration. So the iteration on r numbers, with H diagonal, gives the iterates of the N-dimensional one.

The step is 1 over the Rayleigh quotient after the power iterations, which is at most lambda_max: with 50 of
them it is low by less than 0.4 % times (z_2 / z_1)^2, the start's weight on close eigenvectors over that on
the first. The method stays stable while step * lambda_max < 4/3, so only a start almost orthogonal to the top
eigenvector can make it diverge; then the growth is recognised and the status says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import check_not_negative, check_size
from sparselaw.solvers.base import Solver, register
from sparselaw.solvers.solution import Solution

if TYPE_CHECKING:
    from sparselaw.solvers.equations import NormalEquations

FINISHED = 1e-8  # tolerance up to which what is left to learn does not change the loss, off the peak
ENOUGH = 10_000  # iterations without which a run is as good as stopped
START_SEED = 20_231  # of the power iteration's start, fixed so that the same equations give the same bytes


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Nesterov(Solver):
    """Nesterov's method with adaptive restart, as in the paper's experiments."""

    name: ClassVar[str] = "nesterov"
    tolerance: float = 1e-9  # on |gradient| / |first gradient|
    max_iterations: int = 500_000
    power_iterations: int = 50  # the step is 1/lambda_max, estimated by these

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", check_not_negative("tolerance", self.tolerance))
        object.__setattr__(self, "max_iterations", check_size("max_iterations", self.max_iterations))
        object.__setattr__(self, "power_iterations", check_size("power_iterations", self.power_iterations))

    @property
    def ridge_of_theory(self) -> float | None:
        """None but for a small tolerance: then it is trained to the end, where it tells of no method."""
        finished = self.tolerance <= FINISHED and self.max_iterations >= ENOUGH
        return 0.0 if finished else None

    def solve(self, equations: NormalEquations) -> Solution:
        return nesterov(self, equations)


def power_start(rank: int) -> FloatArray:
    """A Gaussian start: its law is the same in every orthonormal basis, theta's own or the eigenbasis."""
    return np.random.Generator(np.random.PCG64(START_SEED)).standard_normal(rank)


def power_estimate(eigenvalues: FloatArray, start: FloatArray, iterations: int) -> float:
    """The Rayleigh quotient after the power iterations: sum l^(2k+1) z^2 / sum l^(2k) z^2."""
    ratio = eigenvalues / eigenvalues[0]
    weights = ratio ** (2 * iterations) * start**2
    return float(eigenvalues[0] * (weights @ ratio) / weights.sum())


def nesterov_step(settings: Nesterov, equations: NormalEquations, start: FloatArray | None = None) -> float:
    """1 / (the power iteration's estimate of lambda_max)."""
    start = power_start(len(equations.eigenvalues)) if start is None else start
    return 1.0 / power_estimate(equations.eigenvalues, start, settings.power_iterations)


def nesterov(settings: Nesterov, equations: NormalEquations, start: FloatArray | None = None) -> Solution:
    """Descend until |gradient| < tolerance * |first gradient|, for one target.

    ``start`` is the power iteration's start in the eigenbasis; without it a fixed Gaussian one is used.
    """
    from sparselaw.solvers.loops import GREW, RUNNING, advance  # numba: only where it is needed

    eigenvalues, projections = equations.eigenvalues, equations.projections
    if projections.shape[1] != 1:
        raise ValueError("Nesterov's restarts depend on the target: solve for one target at a time")
    if not projections.any():
        return Solution(coefficients=np.zeros_like(projections), iterations=0, restarts=0, gradient=0.0)
    step = nesterov_step(settings, equations, start)
    theta, ahead = np.zeros(len(eigenvalues)), np.zeros(len(eigenvalues))
    outcome, iterations, restarts, gradient, _ = advance(
        eigenvalues,
        projections[:, 0].copy(),
        step,
        settings.tolerance,
        settings.max_iterations,
        theta,
        ahead,
        1.0,
    )
    status, reason = "ok", ""
    if outcome == GREW:
        status, reason = "diverged", f"the gradient grew {gradient:g}-fold; the step {step:g} is too large"
    elif outcome == RUNNING:
        status, reason = "not-converged", f"relative gradient {gradient:g} after {iterations} iterations"
    return Solution(
        coefficients=theta[:, None],
        status=status,
        reason=reason,
        iterations=int(iterations),
        restarts=int(restarts),
        gradient=float(gradient),
    )
