"""Chinchilla's law with one exponent for N and D."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sparselaw.laws.base import Law, Term, real


@dataclass(frozen=True, slots=True, kw_only=True)
class OneExponentLaw(Law):
    """L = E + A N^-alpha + B D^-alpha: what dense inputs have, and inputs with alpha1 <= 0.

    >>> OneExponentLaw(E=1.0, A=2.0, B=3.0, alpha=1.0).loss(4, 6)
    2.0
    """

    name: ClassVar[str] = "one-exponent"
    formula: ClassVar[str] = "L = E + A N^-alpha + B D^-alpha"
    terms: ClassVar[tuple[Term, ...]] = (Term("E"), Term("A", "N", "alpha"), Term("B", "D", "alpha"))
    floor_name: ClassVar[str | None] = "E"

    E: float
    A: float
    B: float
    alpha: float

    @property
    def exponents(self) -> tuple[Any, Any]:
        return self.alpha, self.alpha

    def loss(self, N: Any, D: Any) -> Any:
        return self.E + self.A * real(N) ** -self.alpha + self.B * real(D) ** -self.alpha
