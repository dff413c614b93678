"""A floor, a power of N and a power of D."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sparselaw.laws.base import Law, Term, real
from sparselaw.laws.coupled import CoupledLaw
from sparselaw.laws.data_constrained import PUBLISHED, PUBLISHED_R_D, PUBLISHED_R_N, DataConstrainedLaw

COUPLINGS = (1.0, 0.6, 0.35)  # where the coupled law starts from this one


@dataclass(frozen=True, slots=True, kw_only=True)
class ChinchillaLaw(Law):
    """L = E + A N^-alpha + B D^-beta.

    >>> ChinchillaLaw(E=1.0, A=2.0, B=3.0, alpha=1.0, beta=0.5).loss(4, 9)
    2.5
    """

    name: ClassVar[str] = "chinchilla"
    formula: ClassVar[str] = "L = E + A N^-alpha + B D^-beta"
    terms: ClassVar[tuple[Term, ...]] = (Term("E"), Term("A", "N", "alpha"), Term("B", "D", "beta"))
    floor_name: ClassVar[str | None] = "E"
    exponent_names: ClassVar[tuple[str, str] | None] = ("alpha", "beta")
    read_beside: ClassVar[str | None] = "coupled"

    E: float
    A: float
    B: float
    alpha: float
    beta: float

    def loss(self, N: Any, D: Any) -> Any:
        return self.E + self.A * real(N) ** -self.alpha + self.B * real(D) ** -self.beta

    def on_repeated_data(self) -> tuple[DataConstrainedLaw, str]:
        return DataConstrainedLaw(**self._own(), R_N=PUBLISHED_R_N, R_D=PUBLISHED_R_D), PUBLISHED

    def starts_beside(self) -> tuple[CoupledLaw, ...]:
        return tuple(CoupledLaw(**self._own(), g=g) for g in COUPLINGS)

    def _own(self) -> dict[str, float]:
        return {"E": self.E, "A": self.A, "B": self.B, "alpha": self.alpha, "beta": self.beta}
