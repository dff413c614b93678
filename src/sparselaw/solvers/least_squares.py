"""Least squares in closed form (eq:thetaSolved): the minimum-norm solution, and ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparselaw.errors import check_not_negative
from sparselaw.solvers.base import NormalEquations, Solution, Solver, register


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class MinNorm(Solver):
    """The minimum-norm least-squares solution, the paper's pinv.

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
        kept = eigenvalues > self.rtol**2 * eigenvalues.max(initial=0.0)
        coefficients = np.zeros_like(equations.projections)
        coefficients[kept] = equations.projections[kept] / eigenvalues[kept, None]
        if kept.all():
            return Solution(coefficients=coefficients)
        reason = f"{np.count_nonzero(~kept)} of {len(kept)} singular values below rtol={self.rtol:g}"
        return Solution(coefficients=coefficients, status="rank-deficient", reason=reason)


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge(Solver):
    """Ridge regression, (Phi Phi^T + ridge I)^-1 Phi y.

    Parameters
    ----------
    ridge
        The paper's gamma, not divided by D.
    """

    name: ClassVar[str] = "ridge"
    linear: ClassVar[bool] = True
    ridge: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "ridge", check_not_negative("ridge", self.ridge))

    @property
    def ridge_of_theory(self) -> float:
        return self.ridge

    def solve(self, equations: NormalEquations) -> Solution:
        """With Phi Phi^T = D H the filter is 1 / (eigenvalue + ridge / D)."""
        shifted = equations.eigenvalues + self.ridge / equations.samples
        return Solution(coefficients=equations.projections / shifted[:, None])
