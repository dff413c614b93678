"""The minimum-norm least-squares solution, the paper's pinv: eq:thetaSolved as the ridge goes to zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparselaw.errors import check_not_negative
from sparselaw.solvers.base import Solution, Solver, register

if TYPE_CHECKING:
    from sparselaw.solvers.equations import NormalEquations


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class MinNorm(Solver):
    """The minimum-norm least-squares solution.

    Parameters
    ----------
    rtol
        Singular values below so small a share of the largest count as zero.
    """

    name: ClassVar[str] = "min-norm"
    linear: ClassVar[bool] = True
    rtol: float = 1e-10

    def __post_init__(self) -> None:
        object.__setattr__(self, "rtol", check_not_negative("rtol", self.rtol))

    @property
    def ridge_of_theory(self) -> float:
        return 0.0

    @property
    def rank_tolerance(self) -> float:
        return self.rtol

    def solve(self, equations: NormalEquations) -> Solution:
        """coefficient = projection / eigenvalue where sqrt(eigenvalue) > rtol sqrt(largest), else zero."""
        eigenvalues = equations.eigenvalues
        largest = eigenvalues.max(initial=0.0)
        kept = eigenvalues > self.rtol**2 * largest
        coefficients = np.zeros_like(equations.projections)
        coefficients[kept] = equations.projections[kept] / eigenvalues[kept, None]
        if kept.all():
            return Solution(coefficients=coefficients)
        reason = f"{np.count_nonzero(~kept)} of {len(kept)} singular values below rtol={self.rtol:g}"
        return Solution(coefficients=coefficients, status="rank-deficient", reason=reason)
