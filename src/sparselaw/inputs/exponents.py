"""The exponents of the paper and the regimes of its phase diagram (figure 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from sparselaw.records import html_record

Regime = Literal["symmetric", "asymmetric", "gd-failure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponents:
    """What the paper predicts for one pair (alpha1, alpha2), or for dense inputs.

    ``nu`` is None where gradient descent has no spike to fail on (alpha2 >= -1).
    """

    regime: Regime
    alpha_N: float  # loss ~ N^-alpha_N, prop:underparam
    alpha_D: float  # loss ~ D^-alpha_D, thm:over-scaling
    alpha_C: float  # loss ~ C^-alpha_C at C = N D min(N, D), prop:compute-optimal
    xi_crit: float  # the double-descent peak: N = K(D) when alpha1 > 0, N = D otherwise
    nu: float | None  # P(gradient descent diverges) ~ D^-nu, thm:gd_failure_scaling
    seen_exponent: float = 1.0  # K(D) ~ seen_constant D^seen_exponent directions are resolved, eq:K-of-D
    seen_constant: float = 1.0

    def xi(self, N: float, D: float) -> float:
        """D^(alpha_D/alpha_N) / N: D^(1/(alpha1+1))/N for alpha1 > 0, D/N otherwise."""
        return math.exp(math.log(D) * self.alpha_D / self.alpha_N - math.log(N))

    def as_dict(self) -> dict[str, Any]:
        """Plain values; nu is None where there is no spike."""
        return {name: getattr(self, name) for name in self.__slots__}

    def _repr_html_(self) -> str:
        return html_record("exponents", self.as_dict())


@lru_cache(maxsize=256)  # asked for at every point of a curve
def _one_over_gamma(x: float) -> float:
    """1 / Gamma(x) for x >= 0, also where Gamma(x) is too large a number: x / Gamma(1 + x)."""
    return x / math.gamma(1.0 + x)


def sparse_exponents(alpha1: float, alpha2: float) -> Exponents:
    """The exponents of sparse inputs.

    >>> round(sparse_exponents(1.0, 0.3).alpha_D, 12)
    1.15
    """
    alpha_N = alpha1 + alpha2 + 1.0
    symmetric = alpha1 <= 0.0
    alpha_D = alpha_N if symmetric else alpha_N / (alpha1 + 1.0)
    fails = alpha2 < -1.0
    seen_exponent, seen_constant = seen_law(alpha1)
    return Exponents(
        regime="gd-failure" if fails else "symmetric" if symmetric else "asymmetric",
        alpha_N=alpha_N,
        alpha_D=alpha_D,
        alpha_C=compute_exponent(alpha_N, alpha_D),
        xi_crit=1.0 if symmetric else _one_over_gamma(alpha1 / (1.0 + alpha1)),
        nu=alpha_N / (-alpha2 - 1.0) if fails else None,
        seen_exponent=seen_exponent,
        seen_constant=seen_constant,
    )


def seen_law(alpha1: float) -> tuple[float, float]:
    """(s, g) of K(D) ~ g D^s (eq:K-of-D); for alpha1 <= 0 every coordinate is seen and K(D) stands for D.

    >>> s, g = seen_law(1.0)
    >>> s, round(g**2, 12) == round(math.pi, 12)
    (0.5, True)
    """
    s = 1.0 / (alpha1 + 1.0) if alpha1 > 0.0 else 1.0
    return (s, math.gamma(1.0 - s)) if s < 1.0 else (1.0, 1.0)


def dense_exponents(alpha: float) -> Exponents:
    """The exponents of the dense Gaussian baseline: one for both sizes."""
    return Exponents(
        regime="symmetric",
        alpha_N=alpha,
        alpha_D=alpha,
        alpha_C=compute_exponent(alpha, alpha),
        xi_crit=1.0,
        nu=None,
    )


def compute_exponent(alpha_N: float, alpha_D: float, r: float = 2.0) -> float:
    """alpha_C for the budget C = N^r D: both terms of the loss balanced (app:optimal-derivation, r = 2)."""
    return alpha_N * alpha_D / (alpha_N + r * alpha_D)
