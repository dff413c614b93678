"""Laws that are sums of powers: one power of a size, two of them, and both above a floor."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from sparselaw.laws.base import ANY_SIZE, Law, Term, real
from sparselaw.laws.coupled import CoupledLaw
from sparselaw.laws.data_constrained import PUBLISHED, PUBLISHED_R_D, PUBLISHED_R_N, DataConstrainedLaw

COUPLINGS = (1.0, 0.6, 0.35)  # where the coupled law starts from Chinchilla's


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
        return DataConstrainedLaw(**asdict(self), R_N=PUBLISHED_R_N, R_D=PUBLISHED_R_D), PUBLISHED

    def starts_beside(self) -> tuple[CoupledLaw, ...]:
        return tuple(CoupledLaw(**asdict(self), g=g) for g in COUPLINGS)


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
