"""The minimum-norm least-squares solution, the paper's pinv."""

from __future__ import annotations

import numpy as np

from sparselaw.solvers.equations import NormalEquations
from sparselaw.solvers.settings import MinNorm
from sparselaw.solvers.solution import Solution


def min_norm(settings: MinNorm, equations: NormalEquations) -> Solution:
    """coefficient = projection / eigenvalue where sqrt(eigenvalue) > rtol sqrt(largest), else zero."""
    eigenvalues = equations.eigenvalues
    largest = eigenvalues.max(initial=0.0)
    kept = eigenvalues > settings.rtol**2 * largest
    coefficients = np.zeros_like(equations.projections)
    coefficients[kept] = equations.projections[kept] / eigenvalues[kept, None]
    if kept.all():
        return Solution(coefficients=coefficients)
    reason = f"{np.count_nonzero(~kept)} of {len(kept)} singular values below rtol={settings.rtol:g}"
    return Solution(coefficients=coefficients, status="rank-deficient", reason=reason)
