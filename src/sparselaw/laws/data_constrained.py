"""The data-constrained law: repeated data, and parameters beyond what the data feed, are worth less and less.

Muennighoff et al., "Scaling Data-Constrained Language Models" (2023). Of D samples seen, U are unique and the
rest are repetitions, R = D/U - 1 of each. They count as

    D' = U + U R_D (1 - e^{-R / R_D}).

With G = (alpha A / (beta B))^(1/(alpha+beta)), the size that fits U unique samples is G (G U)^(beta/alpha):
there both terms fall alike along N D. Parameters beyond it count likewise: with U_N that size, or N where N
is smaller, and R' = N/U_N - 1,

    N' = U_N + U_N R_N (1 - e^{-R' / R_N}),        L = E + A N'^-alpha + B D'^-beta.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sparselaw.laws.base import Law, real
from sparselaw.laws.ranges import Range, coefficient, exponent, floor

PUBLISHED_R_N, PUBLISHED_R_D = 5.309743, 15.387756  # of the paper's own fit
PUBLISHED = (
    f"the runs do not repeat data: repetitions decay as published, R_N = {PUBLISHED_R_N:.3g}, "
    f"R_D = {PUBLISHED_R_D:.3g} (Muennighoff et al. 2023)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataConstrainedLaw(Law):
    """L = E + A N'^-alpha + B D'^-beta with N' and D' as above. Without repetition D' is D.

    >>> law = DataConstrainedLaw(E=1.0, A=1.0, B=1.0, alpha=0.5, beta=0.5, R_N=5.0, R_D=15.0)
    >>> round(law.loss(100, 400, 400), 9), round(law.effective_data(4e9, 1e9) / 1e9, 3)
    (1.15, 3.719)
    """

    name: ClassVar[str] = "data-constrained"
    formula: ClassVar[str] = "L = E + A N'^-alpha + B D'^-beta, D' = U + U R_D (1 - e^-((D/U-1)/R_D))"
    sizes: ClassVar[tuple[str, ...]] = ("N", "D", "U")
    floor_name: ClassVar[str | None] = "E"
    exponent_names: ClassVar[tuple[str, str] | None] = ("alpha", "beta")
    column_names: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "U": ("unique_tokens", "unique_data", "unique_samples", "n_unique", "unique"),
    }
    ranges: ClassVar[dict[str, Range]] = {
        "E": floor(starts=(0.3, 0.8)),
        "A": coefficient("N", "alpha"),
        "B": coefficient("D", "beta"),
        "alpha": exponent(starts=(0.3, 0.6)),
        "beta": exponent(starts=(0.3, 0.6)),
        "R_N": Range(low=0.05, high=1e5, starts=(5.0, 50.0)),
        "R_D": Range(low=0.05, high=1e5, starts=(5.0, 20.0)),
    }

    E: float
    A: float
    B: float
    alpha: float
    beta: float
    R_N: float
    R_D: float

    def effective_data(self, D: Any, U: Any) -> Any:
        """D': the fresh samples that D samples, U of them unique, are worth."""
        import numpy as np

        unique = np.minimum(real(U), real(D))
        value = unique * (1.0 - self.R_D * np.expm1(-(real(D) / unique - 1.0) / self.R_D))
        return value if np.ndim(value) else float(value)

    def effective_size(self, N: Any, U: Any) -> Any:
        """N': the parameters that N parameters are worth where U samples are unique."""
        import numpy as np

        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            log_G = np.log(self.alpha * self.A / (self.beta * self.B)) / (self.alpha + self.beta)
            fed = np.exp(np.minimum(log_G + (self.beta / self.alpha) * (log_G + np.log(real(U))), 700.0))
        used = np.minimum(real(N), fed)
        value = used * (1.0 - self.R_N * np.expm1(-(real(N) / used - 1.0) / self.R_N))
        return value if np.ndim(value) else float(value)

    def loss(self, N: Any, D: Any, U: Any) -> Any:
        size, data = self.effective_size(N, U), self.effective_data(D, U)
        return self.E + self.A * size**-self.alpha + self.B * data**-self.beta

    def on_repeated_data(self) -> tuple[DataConstrainedLaw, str]:
        return self, ""
