"""Ridge regression, (Phi Phi^T + ridge I)^-1 Phi y (eq:thetaSolved)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sparselaw.errors import check_not_negative
from sparselaw.solvers.base import Solution, Solver, register

if TYPE_CHECKING:
    from sparselaw.solvers.equations import NormalEquations


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
