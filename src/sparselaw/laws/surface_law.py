"""The sparse-feature surface itself: for simulated runs, through the double-descent peak.

In its own units, n = N/N_scale features and d = D/D_scale samples, the scaling limit of the theory is

    L = E + loss_scale n^-alpha_N S(xi),   xi = d^(1/(alpha1+1))/n,   alpha_N = alpha1 + alpha2 + 1.

Away from the peak only two combinations of the three scales can be seen: the limits A N^-alpha_N (infinite
data) and B D^-alpha_D (infinite size). So these are the parameters, with N_scale, which the peak alone shows:
K, the coordinates seen, scatters by sigma = sqrt((2^(1/(alpha1+1)) - 1) K), and the median of the loss over K
has 1/|n - K| rounded to 1/sqrt((n-K)^2 + (0.67 sigma)^2). For ``sparselaw simulate`` all scales are 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sparselaw.laws.base import Law, real
from sparselaw.laws.ranges import Range, floor


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

        from sparselaw.laws.surface_table import curves, log_above_floor

        each: Any = np.broadcast_arrays(self.E, self.A, self.B, self.alpha1, self.alpha2, self.N_scale)
        x, y = np.broadcast_arrays(np.log(real(N)), np.log(real(D)))
        shape = np.broadcast_shapes(each[0].shape, x.shape)
        if each[0].size > 1 and each[0].shape != shape[:1] + (1,) * (len(shape) - 1):  # a law for every point
            each = [np.broadcast_to(values, shape) for values in each]
        laws = each[0].size
        if x.shape != shape[1:] and laws > 1:  # points of its own for each law
            x, y = np.broadcast_to(x, shape).reshape(laws, -1), np.broadcast_to(y, shape).reshape(laws, -1)
        else:
            x, y = x.reshape(1, -1), y.reshape(1, -1)
        one = SurfaceLaw(**{n: v.ravel() for n, v in zip(self.parameters(), each, strict=True)})
        with np.errstate(all="ignore"):
            alpha_N = one.alpha1 + one.alpha2 + 1.0
            known = alpha_N > 0.01
            safe = np.where(known, alpha_N, 1.0)
            curve = curves(np.asarray(one.alpha1), safe)
            shift = np.where(known, one._shift(), np.nan)
        settings = (one.A, one.B, one.alpha1, safe, one.N_scale, shift)
        sizes = np.ascontiguousarray(x), np.ascontiguousarray(y)
        value = np.asarray(one.E)[:, None] + np.exp(log_above_floor(curve, *settings, *sizes))
        value = value.reshape(shape)
        return value if np.ndim(value) else float(value)


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
