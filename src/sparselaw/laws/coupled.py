"""A floor, and the powers of N and of D joined by a norm instead of a sum.

Derivatives by the logarithms of the parameters: two terms in logarithms t_N and t_D with the norm g between
them have

    c = g log(e^(t_N/g) + e^(t_D/g)),    dc = p_N dt_N + p_D dt_D + H dg,
    p_N = 1/(1 + e^-w), p_D = 1 - p_N,   w = (t_N - t_D)/g,   H = -p_N log p_N - p_D log p_D,

and with v = p_N p_D the second derivatives by t are v/g times those of (t_N - t_D)^2/2, by t_N and log g
-v w, by log g twice g (H + v w^2). A floor under it: eta = log(E + e^c), with s = e^c/(E + e^c) the share
above,

    eta_i = s c_i,   eta_ij = s c_ij + s (1-s) c_i c_j,   eta_E = 1-s,   eta_Ei = -s (1-s) c_i.

Arrays are (fits, rows); the floor stands first among the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sparselaw.laws.base import Law, LogSlopes, real
from sparselaw.laws.ranges import Range, coefficient, exponent, floor

LARGEST = 700.0  # exponents of e beyond it leave the range of numbers


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

    def log_slopes(self, N: Any, D: Any) -> LogSlopes:
        import numpy as np

        with np.errstate(all="ignore"):
            fall_N, fall_D = -self.alpha * np.log(real(N)), -self.beta * np.log(real(D))
            of_N, of_D = np.log(self.A) + fall_N, np.log(self.B) + fall_D
            w = np.clip(np.nan_to_num((of_N - of_D) / self.g, nan=0.0), -LARGEST, LARGEST)
            tail = np.log1p(np.exp(-np.abs(w)))
            p_N, p_D = np.exp(np.minimum(w, 0.0) - tail), np.exp(np.minimum(-w, 0.0) - tail)
            c = np.maximum(of_N, of_D) + self.g * tail
            mixing = tail + np.minimum(p_N, p_D) * np.abs(w)
            v = p_N * p_D
            J = np.stack([p_N, p_D, p_N * fall_N, p_D * fall_D, self.g * mixing], axis=-1)
            one = np.ones_like(c)
            apart = np.stack([one, -one, fall_N * one, -fall_D * one], axis=-1)
            V = np.empty((*c.shape, 5, 5))
            V[..., :4, :4] = (v / self.g)[..., None, None] * apart[..., :, None] * apart[..., None, :]
            V[..., 4, :4] = V[..., :4, 4] = -(v * w)[..., None] * apart
            V[..., 2, 2] += p_N * fall_N
            V[..., 3, 3] += p_D * fall_D
            V[..., 4, 4] = self.g * (mixing + v * w * w)
            eta = np.logaddexp(np.log(self.E), c)
            s, floor = np.exp(c - eta), np.exp(np.log(self.E) - eta)
            both = s * floor
            first, second = np.empty((*c.shape, 6)), np.empty((*c.shape, 6, 6))
            first[..., 0], first[..., 1:] = floor, s[..., None] * J
            second[..., 0, 0] = both
            second[..., 1:, 0] = second[..., 0, 1:] = -both[..., None] * J
            second[..., 1:, 1:] = (
                s[..., None, None] * V + (both[..., None] * J)[..., :, None] * J[..., None, :]
            )
            return LogSlopes(eta, first, second)
