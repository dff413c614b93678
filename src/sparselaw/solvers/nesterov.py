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
from typing import ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import lazy_njit
from sparselaw.errors import check_not_negative, check_size
from sparselaw.solvers.base import NormalEquations, Solution, Solver, register

FINISHED = 1e-8  # tolerance up to which what is left to learn does not change the loss, off the peak
ENOUGH = 10_000  # iterations without which a run is as good as stopped
DIVERGED = 1e8  # times the first gradient: far beyond the overshoot of a stable run
RUNNING, CONVERGED, GREW = 0, 1, 2
START_SEED = 20_231  # of the power iteration's start, fixed so that the same equations give the same bytes


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Nesterov(Solver):
    """Nesterov's method with adaptive restart, as in the paper's experiments.

    Parameters
    ----------
    tolerance
        It stops where the gradient is so small a share of the first one.
    max_iterations
        It stops after so many steps in any case.
    power_iterations
        Steps of power iteration that estimate the largest eigenvalue, whose inverse is the step.
    """

    name: ClassVar[str] = "nesterov"
    tolerance: float = 1e-9
    max_iterations: int = 500_000
    power_iterations: int = 50

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", check_not_negative("tolerance", self.tolerance))
        object.__setattr__(self, "max_iterations", check_size("max_iterations", self.max_iterations))
        object.__setattr__(self, "power_iterations", check_size("power_iterations", self.power_iterations))

    @property
    def ridge_of_theory(self) -> float | None:
        """None but for a small tolerance: then it is trained to the end, where it tells of no method."""
        finished = self.tolerance <= FINISHED and self.max_iterations >= ENOUGH
        return 0.0 if finished else None

    def solve(self, equations: NormalEquations, start: FloatArray | None = None) -> Solution:
        """Descend until |gradient| < tolerance * |first gradient|, for one target.

        ``start`` is the power iteration's start in the eigenbasis; without it a fixed Gaussian one is used.
        """
        eigenvalues, projections = equations.eigenvalues, equations.projections
        if projections.shape[1] != 1:
            raise ValueError("Nesterov's restarts depend on the target: solve for one target at a time")
        if not projections.any():
            return Solution(coefficients=np.zeros_like(projections), iterations=0, restarts=0, gradient=0.0)
        step = nesterov_step(self, equations, start)
        theta, ahead = np.zeros(len(eigenvalues)), np.zeros(len(eigenvalues))
        how = (step, self.tolerance, self.max_iterations)
        outcome, iterations, restarts, gradient, _ = advance(
            eigenvalues, projections[:, 0].copy(), *how, theta, ahead, 1.0
        )
        status, reason = "ok", ""
        if outcome == GREW:
            status, reason = (
                "diverged",
                f"the gradient grew {gradient:g}-fold; the step {step:g} is too large",
            )
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


def power_start(rank: int) -> FloatArray:
    """A Gaussian start: its law is the same in every orthonormal basis, theta's own or the eigenbasis."""
    return np.random.Generator(np.random.PCG64(START_SEED)).standard_normal(rank)


def nesterov_step(settings: Nesterov, equations: NormalEquations, start: FloatArray | None = None) -> float:
    """1 / (the power iteration's estimate of lambda_max), sum l^(2k+1) z^2 / sum l^(2k) z^2 from z."""
    top = equations.eigenvalues[0]
    ratio = equations.eigenvalues / top
    z = power_start(len(ratio)) if start is None else start
    weights = ratio ** (2 * settings.power_iterations) * z**2
    return 1.0 / float(top * (weights @ ratio) / weights.sum())


@lazy_njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def advance(eigenvalues, projections, step, tolerance, iterations, theta, ahead, momentum):  # type: ignore[no-untyped-def]
    """Up to ``iterations`` more from the state (theta, ahead, momentum), the two vectors in place.

    Returns (outcome, iterations done, restarts, |gradient| / |first gradient|, momentum). The gradient is
    taken at the extrapolated point ``ahead``; when it points along the last move, g . (new - theta) > 0,
    the momentum is dropped. A fresh run has both vectors at zero and momentum 1; a run in pieces is the
    same run.
    """
    rank = eigenvalues.size
    first = np.sqrt(np.sum(projections * projections))
    restarts = 0
    relative = 1.0
    for iteration in range(1, iterations + 1):
        square = 0.0
        along = 0.0
        for i in range(rank):
            g = eigenvalues[i] * ahead[i] - projections[i]
            square += g * g
            along += g * (ahead[i] - step * g - theta[i])
        relative = np.sqrt(square) / first
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        beta = (momentum - 1.0) / following
        momentum = following
        if along > 0.0:
            restarts += 1
            beta = 0.0
            momentum = 1.0
        for i in range(rank):
            new = ahead[i] - step * (eigenvalues[i] * ahead[i] - projections[i])
            ahead[i] = new + beta * (new - theta[i])
            theta[i] = new
        if relative < tolerance:
            return CONVERGED, iteration, restarts, relative, momentum
        if not relative < DIVERGED:  # or no longer a number
            return GREW, iteration, restarts, relative, momentum
    return RUNNING, iterations, restarts, relative, momentum
