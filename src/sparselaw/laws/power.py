"""One power of one size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sparselaw.laws.base import ANY_SIZE, Law, Term, real


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLaw(Law):
    """L = A x^-alpha, x whichever size varies.

    >>> PowerLaw(A=2.0, alpha=1.0).loss(4)
    0.5
    """

    name: ClassVar[str] = "power"
    formula: ClassVar[str] = "L = A x^-alpha"
    sizes: ClassVar[tuple[str, ...]] = (ANY_SIZE,)
    terms: ClassVar[tuple[Term, ...]] = (Term("A", ANY_SIZE, "alpha"),)

    A: float
    alpha: float

    def loss(self, x: Any) -> Any:
        return self.A * real(x) ** -self.alpha
