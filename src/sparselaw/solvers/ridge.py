"""Ridge regression, (Phi Phi^T + ridge I)^-1 Phi y."""

from __future__ import annotations

from sparselaw.solvers.equations import NormalEquations
from sparselaw.solvers.settings import Ridge
from sparselaw.solvers.solution import Solution


def ridge(settings: Ridge, equations: NormalEquations) -> Solution:
    """With Phi Phi^T = D H the filter is 1 / (eigenvalue + ridge / D)."""
    shifted = equations.eigenvalues + settings.ridge / equations.samples
    return Solution(coefficients=equations.projections / shifted[:, None])
