"""Scaling laws as records: parameters in, loss(N, D) out. Arrays pass through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLaw:
    """L = A x^-alpha, in one variable.

    >>> PowerLaw(A=2.0, alpha=1.0).loss(4)
    0.5
    """

    A: float
    alpha: float

    def loss(self, x: Any) -> Any:
        return self.A * _float(x) ** -self.alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoPowerLaw:
    """L = A N^-alpha_N + B D^-alpha_D, with no floor (Eq. 7)."""

    A: float
    B: float
    alpha_N: float
    alpha_D: float

    def loss(self, N: Any, D: Any) -> Any:
        return self.A * _float(N) ** -self.alpha_N + self.B * _float(D) ** -self.alpha_D


@dataclass(frozen=True, slots=True, kw_only=True)
class ChinchillaLaw:
    """L = E + A N^-alpha + B D^-beta."""

    E: float
    A: float
    B: float
    alpha: float
    beta: float

    def loss(self, N: Any, D: Any) -> Any:
        return self.E + self.A * _float(N) ** -self.alpha + self.B * _float(D) ** -self.beta


Law = PowerLaw | TwoPowerLaw | ChinchillaLaw


def _float(x: Any) -> Any:
    """Integers to a negative power are an error in numpy; 1.0 * x makes both scalars and arrays real."""
    return 1.0 * x
