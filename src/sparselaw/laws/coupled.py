"""A floor, and the powers of N and of D joined by a norm instead of a sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sparselaw.laws.base import Law, LogSlopes, real
from sparselaw.laws.ranges import Range, coefficient, exponent, floor


@dataclass(frozen=True, slots=True, kw_only=True)
class CoupledLaw(Law):
    """L = E + [(A N^-alpha)^(1/g) + (B D^-beta)^(1/g)]^g.

    g = 1 is Chinchilla's sum. As g falls to 0 the larger of the two terms alone remains: what is scarcer
    decides. g = beta is Kaplan's form with a floor.

    >>> round(CoupledLaw(E=1.0, A=12.0, B=16.0, alpha=1.0, beta=1.0, g=0.5).loss(4, 4), 12)
    6.0
    """

    name: ClassVar[str] = "coupled"
    formula: ClassVar[str] = "L = E + [(A N^-alpha)^(1/g) + (B D^-beta)^(1/g)]^g"
    floor_name: ClassVar[str | None] = "E"
    exponent_names: ClassVar[tuple[str, str] | None] = ("alpha", "beta")
    coupling_name: ClassVar[str | None] = "g"
    read_beside: ClassVar[str | None] = "chinchilla"
    read_first: ClassVar[bool] = True
    ranges: ClassVar[dict[str, Range]] = {
        "E": floor(starts=(0.3, 0.65, 0.9)),
        "A": coefficient("N", "alpha"),
        "B": coefficient("D", "beta"),
        "alpha": exponent(),
        "beta": exponent(),
        "g": Range(low=0.05, high=20.0, starts=(0.3, 0.6, 1.0)),
    }

    E: float
    A: float
    B: float
    alpha: float
    beta: float
    g: float

    def loss(self, N: Any, D: Any) -> Any:
        import numpy as np

        return self.loss_of_logs(np.log(real(N)), np.log(real(D)))

    def loss_of_logs(self, *log_sizes: Any) -> Any:
        """The larger term is taken out: a term to the power 1/g may leave the range of numbers."""
        import numpy as np

        log_N, log_D = log_sizes
        with np.errstate(divide="ignore", invalid="ignore"):  # a coefficient of zero, or two of them
            of_N, of_D = np.log(self.A) - self.alpha * log_N, np.log(self.B) - self.beta * log_D
            larger = np.maximum(of_N, of_D)
            joined = larger + self.g * np.log1p(np.exp((np.minimum(of_N, of_D) - larger) / self.g))
            value = self.E + np.where(np.isneginf(larger), 0.0, np.exp(joined))
        return value if np.ndim(value) else float(value)

    def log_slopes(self, *sizes: Any) -> LogSlopes:
        from sparselaw.laws.slopes import of_two_powers

        return of_two_powers(self.E, self.A, self.B, self.alpha, self.beta, self.g, *sizes)
