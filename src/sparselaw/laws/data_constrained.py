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

from sparselaw.laws.base import Law, LogSlopes, real
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

    def log_slopes(self, *sizes: Any) -> LogSlopes:
        values = (self.E, self.A, self.B, self.alpha, self.beta, self.R_N, self.R_D)
        return repeated_slopes(values, *sizes)


def repeated_slopes(values: tuple[Any, ...], N: Any, D: Any, U: Any) -> LogSlopes:
    """Derivatives of log loss by the logarithms of (E, A, B, alpha, beta, R_N, R_D), each (fits, 1).

    A count n = U h, h = 1 + R (1 - e), e = e^(-rho/R), rho = x/U - 1, is the worth of x, U of them fresh.
    With l = log U, f = log R, k = e (x/U)/h and q = R (1 - e) - e rho, of log n

        n_l = 1 - k,    n_ll = -k (x/(U R) - 1 + k),   n_lf = -k (rho/R - q/h),
        n_f = q/h,      n_ff = (q - e rho^2/R)/h - (q/h)^2.

    The size that U samples feed has the logarithm (log(alpha A/(beta B)) + beta log U)/alpha. Both terms are
    joined as in coupled.py, with g = 1.
    """
    import numpy as np

    from sparselaw.laws.coupled import above_floor, shares

    E, A, B, alpha, beta, R_N, R_D = values
    with np.errstate(all="ignore"):
        x, y, u = (np.log(real(size)) for size in np.broadcast_arrays(N, D, U))
        # The size: J and H are derivatives of log N' by (A, B, alpha, beta, R_N, R_D).
        fed = (np.log(alpha * A / (beta * B)) + beta * u) / alpha
        starved = fed < x  # elsewhere every parameter is fed: N' = N
        fed = np.maximum(fed, -700.0)
        n, by_l, by_f, by_ll, by_lf, by_ff = (np.where(starved, v, 0.0) for v in _worth(x, fed, R_N))
        n = np.where(starved, n, x)
        shape = n.shape
        l, h = np.zeros((*shape, 6)), np.zeros((*shape, 6, 6))  # noqa: E741
        l[..., 0], l[..., 1], l[..., 2], l[..., 3] = (
            1 / alpha,
            -1 / alpha,
            1 / alpha - fed,
            (beta * u - 1) / alpha,
        )
        for a, b, value in (
            (2, 0, -1 / alpha), (2, 1, 1 / alpha), (3, 2, -l[..., 3]), (2, 2, fed - 2 / alpha),
            (3, 3, beta * u / alpha),
        ):  # fmt: skip
            h[..., a, b] = h[..., b, a] = value
        H = by_l[..., None, None] * h + by_ll[..., None, None] * l[..., :, None] * l[..., None, :]
        H[..., 4, :4] = H[..., :4, 4] = by_lf[..., None] * l[..., :4]
        H[..., 4, 4] = by_ff
        J = by_l[..., None] * l
        J[..., 4] = by_f
        size = _falling(np.log(A), alpha, n, J, H, 0, 2)
        # The data.
        n, _, by_f, _, _, by_ff = _worth(y, np.minimum(u, y), R_D)
        J, H = np.zeros((*shape, 6)), np.zeros((*shape, 6, 6))
        J[..., 5], H[..., 5, 5] = by_f, by_ff
        data = _falling(np.log(B), beta, n, J, H, 1, 3)
        p_N, p_D, _, _, c = shares(size[0], data[0], 1.0)
        first = p_N[..., None] * size[1] + p_D[..., None] * data[1]
        apart = size[1] - data[1]
        second = p_N[..., None, None] * size[2] + p_D[..., None, None] * data[2]
        second += (p_N * p_D)[..., None, None] * apart[..., :, None] * apart[..., None, :]
        return above_floor(np.log(E), c, first, second)


def _worth(log_x: Any, log_fresh: Any, R: Any) -> tuple[Any, ...]:
    """log n, n_l, n_f, n_ll, n_lf, n_ff."""
    import numpy as np

    ratio = np.exp(np.minimum(log_x - log_fresh, 700.0))
    rho = ratio - 1.0
    e, gone = np.exp(-rho / R), -np.expm1(-rho / R)
    h = 1.0 + R * gone
    k, q = e * ratio / h, R * gone - e * rho
    ff = (q - e * rho * rho / R) / h - (q / h) ** 2
    return log_fresh + np.log(h), 1.0 - k, q / h, -k * (ratio / R - 1.0 + k), -k * (rho / R - q / h), ff


def _falling(log_c: Any, exponent: Any, n: Any, J: Any, H: Any, of_c: int, of_e: int) -> tuple[Any, Any, Any]:
    """log coefficient - exponent n, with its derivatives, from those of n."""
    J, H = -exponent[..., None] * J, -exponent[..., None, None] * H
    H[..., of_e, :] += J
    H[..., :, of_e] += J
    H[..., of_e, of_e] -= exponent * n
    J[..., of_e] -= exponent * n
    J[..., of_c] += 1.0
    return log_c - exponent * n, J, H
