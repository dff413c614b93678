"""The sparse-feature surface itself: for simulated runs, through the double-descent peak.

In its own units, n = N/N_scale features and d = D/D_scale samples, the scaling limit of the theory is

    L = E + loss_scale n^-alpha_N S(xi),   xi = d^(1/(alpha1+1))/n,   alpha_N = alpha1 + alpha2 + 1.

Away from the peak only two combinations of the three scales can be seen: the limits A N^-alpha_N (infinite
data) and B D^-alpha_D (infinite size). So these are the parameters, with N_scale, which the peak alone shows:
K, the coordinates seen, scatters by sigma = sqrt((2^(1/(alpha1+1)) - 1) K), and the median of the loss over K
has 1/|n - K| rounded to 1/sqrt((n-K)^2 + (0.67 sigma)^2). For ``sparselaw simulate`` all scales are 1.

Below the peak f(u; alpha1, alpha_N) = log(F(t) (1 - t)), u = log(t/(1-t)), is found by the theory
(theory.scaling_limit) at Chebyshev's points of log alpha1, log alpha_N and u, once in a process, in two to
three seconds. Beyond the ends in alpha1 and alpha_N it is held; for few features it falls like t.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from sparselaw.laws.base import Law, real
from sparselaw.laws.ranges import Range, floor

ALPHA1 = (0.15, 3.0)
ALPHA_N = (0.2, 5.0)
U = (-7.0, 4.0)
ORDERS = (11, 11, 36)
MEDIAN = 0.6745  # |x| of a normal x is below this many standard deviations half of the time


def _unit(size: str) -> Any:
    """(median loss) * (mean size)^exponent, the exponent being alpha_N or alpha_D."""

    def unit(values: Mapping[str, Any], centre: Mapping[str, float]) -> Any:
        exponent = values["alpha1"] + values["alpha2"] + 1.0
        if size == "D":
            exponent = exponent / (values["alpha1"] + 1.0)
        return centre["loss"] * centre[size] ** exponent

    return unit


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceLaw(Law):
    """L = E + A N^-alpha_N F(N/K), K the coordinates seen in D samples; B D^-alpha_D for infinite N.

    >>> law = SurfaceLaw(E=0.0, A=1.673, B=0.4666, alpha1=1.0, alpha2=0.3)
    >>> round(law.loss(1e9, 1e4) / (0.4666 * 1e4**-1.15), 6), round(law.peak(50_000))
    (1.0, 396)
    """

    name: ClassVar[str] = "surface"
    formula: ClassVar[str] = "L = E + A N^-(alpha1+alpha2+1) F(N/K(D)), the sparse-feature surface"
    floor_name: ClassVar[str | None] = "E"
    sparsity_names: ClassVar[tuple[str, str] | None] = ("alpha1", "alpha2")
    compared: ClassVar[bool] = False
    ranges: ClassVar[dict[str, Range]] = {
        "E": floor(starts=(0.01, 0.5)),
        "A": Range(low=1e-12, high=1e12, starts=(0.3, 2.0), unit=_unit("N")),
        "B": Range(low=1e-12, high=1e12, starts=(0.3, 2.0), unit=_unit("D")),
        "alpha1": Range(low=0.15, high=3.0, starts=(0.3, 0.8, 1.6)),
        "alpha2": Range(low=-3.5, high=5.0, starts=(-0.5, 0.3, 1.0), linear=True),
        "N_scale": Range(low=1e-3, high=1e9, starts=(1.0,)),
    }

    E: float
    A: float
    B: float
    alpha1: float
    alpha2: float
    N_scale: float = 1.0

    @property
    def exponents(self) -> tuple[Any, Any]:
        alpha_N = self.alpha1 + self.alpha2 + 1.0
        return alpha_N, alpha_N / (self.alpha1 + 1.0)

    @property
    def loss_scale(self) -> Any:
        """A/(C_N N_scale^alpha_N)."""
        import numpy as np

        alpha_N, _ = self.exponents
        return self.A * np.exp(-_log_model_constant(alpha_N)) * self.N_scale**-alpha_N

    @property
    def D_scale(self) -> Any:
        """(B/(C_D loss_scale))^(1/alpha_D)."""
        import numpy as np

        _, alpha_D = self.exponents
        log_scale = np.log(self.B / self.loss_scale) - _log_data_constant(self.alpha1, alpha_D)
        return np.exp(log_scale / alpha_D)

    def peak(self, D: Any) -> Any:
        """The N at which the peak stands for D samples."""
        import numpy as np

        return np.exp(np.log(real(D)) / (self.alpha1 + 1.0) - self._shift())

    def _shift(self) -> Any:
        """log t = log N - log D/(alpha1+1) + this, t = N/K."""
        import numpy as np
        from scipy.special import gammaln

        alpha_N, alpha_D = self.exponents
        constants = _log_data_constant(self.alpha1, alpha_D) - _log_model_constant(alpha_N)
        peak = gammaln(self.alpha1 / (1.0 + self.alpha1))
        return (np.log(self.B) - np.log(self.A) - constants) / alpha_N - peak

    def loss(self, N: Any, D: Any) -> Any:
        import numpy as np
        from scipy.special import erfc

        x, y = np.log(real(N)), np.log(real(D))
        with np.errstate(all="ignore"):
            alpha_N = np.where(self.exponents[0] > 0.01, self.exponents[0], np.nan)
            s = 1.0 / (self.alpha1 + 1.0)
            log_t = x - s * y + self._shift()
            t = np.exp(np.minimum(log_t, 600.0))
            below = np.log(self.A) - alpha_N * x + _below_peak(self.alpha1, alpha_N, log_t)
            above = np.log(self.B) - alpha_N * s * y + log_t
            # Of the peak, as a share of K.
            width = MEDIAN * np.sqrt((2.0**s - 1.0) * self.N_scale * t * np.exp(-x))
            weight = 0.5 * erfc(-(t - 1.0) / (width * np.sqrt(2.0)))
            joined = np.where(weight < 1.0, (1.0 - weight) * below, 0.0)
            joined += np.where(weight > 0.0, weight * above, 0.0)
            value = self.E + np.exp(joined - np.log(np.hypot(t - 1.0, width)))
        return value if np.ndim(value) else float(value)


@lru_cache(maxsize=1)
def _table() -> Any:
    """(11, 11, 36): coefficients of T_i(log alpha1) T_j(log alpha_N) T_l(u), each scaled to [-1, 1]."""
    import numpy as np
    from numpy.polynomial.chebyshev import chebpts1, chebvander

    from sparselaw.inputs import SparseInputs
    from sparselaw.theory.scaling_limit import below_peak

    ends = np.log(ALPHA1), np.log(ALPHA_N), np.array(U)
    places = [
        low + 0.5 * (high - low) * (1.0 + chebpts1(n)) for (low, high), n in zip(ends, ORDERS, strict=True)
    ]
    rows = [[(a, n - a - 1.0) for n in np.exp(places[1])] for a in np.exp(places[0])]
    table = np.array(
        [[below_peak(SparseInputs(alpha1=a, alpha2=b), places[2]) for a, b in row] for row in rows]
    )
    for axis, n in enumerate(ORDERS):
        transform = chebvander(chebpts1(n), n - 1).T * 2.0 / n
        transform[0] *= 0.5
        table = np.moveaxis(np.tensordot(transform, table, axes=(1, axis)), 0, axis)
    return table


def _below_peak(alpha1: Any, alpha_N: Any, log_t: Any) -> Any:
    """f at t; constant beyond the peak."""
    import numpy as np
    from numpy.polynomial.chebyshev import chebval, chebvander

    def polynomials(values: Any, ends: tuple[float, float], order: int) -> Any:
        low, high = np.log(ends)
        x = np.clip((2.0 * np.log(values) - low - high) / (high - low), -1.0, 1.0)
        return chebvander(x, order - 1).reshape(*np.shape(values), order)

    along = polynomials(alpha1, ALPHA1, ORDERS[0]) @ _table().reshape(ORDERS[0], -1)
    along = along.reshape(*along.shape[:-1], *ORDERS[1:])
    curve = np.einsum("...j,...ju->u...", polynomials(alpha_N, ALPHA_N, ORDERS[1]), along)
    u = np.where(log_t < -1e-9, log_t - np.log1p(-np.exp(np.minimum(log_t, -1e-9))), U[1])
    x = (2.0 * np.clip(u, *U) - U[0] - U[1]) / (U[1] - U[0])
    return chebval(x, curve, tensor=False) * np.exp(np.minimum(u - U[0], 0.0))


def _log_model_constant(alpha_N: Any) -> Any:
    """log C_N, C_N = ((pi/a)/sin(pi/a))^a, a = alpha_N + 1."""
    import numpy as np

    a = alpha_N + 1.0
    return a * np.log((math.pi / a) / np.sin(math.pi / a))


def _log_data_constant(alpha1: Any, alpha_D: Any) -> Any:
    """log C_D, C_D = Gamma(alpha_D)/(alpha1+1)."""
    import numpy as np
    from scipy.special import gammaln

    return gammaln(alpha_D) - np.log(alpha1 + 1.0)
