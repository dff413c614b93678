"""One door to the solvers: settings and equations in, solution out."""

from __future__ import annotations

from sparselaw.solvers.equations import NormalEquations
from sparselaw.solvers.gradient_descent import gradient_descent
from sparselaw.solvers.min_norm import min_norm
from sparselaw.solvers.ridge import ridge
from sparselaw.solvers.settings import SGD, GradientDescent, MinNorm, Nesterov, Ridge, SolverSettings
from sparselaw.solvers.solution import Solution


def is_linear(settings: SolverSettings) -> bool:
    """Whether the solution is a linear filter of the target, so that targets can be averaged exactly."""
    return isinstance(settings, MinNorm | Ridge | GradientDescent)


def solve(settings: SolverSettings, equations: NormalEquations) -> Solution:
    """Solve prepared equations; SGD needs the samples themselves, see ``minibatch``."""
    match settings:
        case MinNorm():
            return min_norm(settings, equations)
        case Ridge():
            return ridge(settings, equations)
        case GradientDescent():
            return gradient_descent(settings, equations)
        case Nesterov():
            from sparselaw.solvers.nesterov import nesterov  # numba: only where it is needed

            return nesterov(settings, equations)
        case SGD():
            raise ValueError("SGD works on samples: call minibatch.sgd(settings, features, targets, rng)")
