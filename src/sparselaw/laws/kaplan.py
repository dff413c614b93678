"""Kaplan's form: N and D in series, no floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sparselaw.laws.base import Law, real
from sparselaw.laws.ranges import Range, coefficient, exponent


@dataclass(frozen=True, slots=True, kw_only=True)
class KaplanLaw(Law):
    """L = [(A N^-alpha_N)^(1/alpha_D) + B^(1/alpha_D) / D]^alpha_D.

    This is Kaplan's [(N_c/N)^(alpha_N/alpha_D) + D_c/D]^alpha_D with A = N_c^alpha_N and B = D_c^alpha_D: the
    loss at infinite data is A N^-alpha_N, at infinite size B D^-alpha_D, and coefficients like these are
    better known than N_c and D_c.

    >>> law = KaplanLaw(A=8.0, B=4.0, alpha_N=1.0, alpha_D=0.5)
    >>> law.loss(4, 4), law.D_c
    (2.8284271247461903, 16.0)
    """

    name: ClassVar[str] = "kaplan"
    formula: ClassVar[str] = "L = [(A N^-alpha_N)^(1/alpha_D) + B^(1/alpha_D)/D]^alpha_D"
    exponent_names: ClassVar[tuple[str, str] | None] = ("alpha_N", "alpha_D")
    ranges: ClassVar[dict[str, Range]] = {
        "A": coefficient("N", "alpha_N", starts=(0.2, 0.6)),
        "B": coefficient("D", "alpha_D", starts=(0.2, 0.6)),
        "alpha_N": exponent(starts=(0.05, 0.15, 0.5)),
        "alpha_D": exponent(starts=(0.05, 0.15, 0.5)),
    }

    A: float
    B: float
    alpha_N: float
    alpha_D: float

    @property
    def N_c(self) -> Any:
        return self.A ** (1.0 / self.alpha_N)

    @property
    def D_c(self) -> Any:
        return self.B ** (1.0 / self.alpha_D)

    def loss(self, N: Any, D: Any) -> Any:
        """The larger part is taken out first: small alpha_D make large powers."""
        import numpy as np

        of_N, of_D = self.A * real(N) ** -self.alpha_N, self.B * real(D) ** -self.alpha_D
        largest = np.maximum(of_N, of_D)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(largest > 0.0, np.minimum(of_N, of_D) / largest, 0.0)
        value = largest * (1.0 + ratio ** (1.0 / self.alpha_D)) ** self.alpha_D
        return value if np.ndim(value) else float(value)
