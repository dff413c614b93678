"""A power of N and a power of D, with no floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sparselaw.laws.base import Law, Term, real


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoPowerLaw(Law):
    """L = A N^-alpha_N + B D^-alpha_D.

    >>> TwoPowerLaw(A=2.0, B=3.0, alpha_N=1.0, alpha_D=0.5).loss(4, 9)
    1.5
    """

    name: ClassVar[str] = "two-power"
    formula: ClassVar[str] = "L = A N^-alpha_N + B D^-alpha_D"
    terms: ClassVar[tuple[Term, ...]] = (Term("A", "N", "alpha_N"), Term("B", "D", "alpha_D"))
    exponent_names: ClassVar[tuple[str, str] | None] = ("alpha_N", "alpha_D")

    A: float
    B: float
    alpha_N: float
    alpha_D: float

    def loss(self, N: Any, D: Any) -> Any:
        return self.A * real(N) ** -self.alpha_N + self.B * real(D) ** -self.alpha_D
