"""What a budget buys: compute C(N, D), up to constants, and the data left for a given N.

Every cost here is the smallest of a few monomials c N^p D^q with q > 0. All of them rise with D, so the D
that spends a budget is the largest of the monomials' own: D = max (C / (c N^p))^(1/q). For instance
N D min(N, D) = min(N^2 D, N D^2).

Training by first-order methods costs N D kappa^e, e = 1 for gradient descent and 1/2 when accelerated, with
the paper's condition number kappa = min(N, K(D))^(alpha1 + alpha2 + 2), K(D) = g D^s, s = 1/(alpha1 + 1),
g = Gamma(1 - s) (appendix on compute, table 3); for alpha1 <= 0 K(D) is D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.errors import InputError, check_finite
from sparselaw.inputs import SparseInputs

COSTS = ("direct", "6nd", "gd", "accelerated", "cheapest", "power:r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """C(N, D) = min over ``terms`` (c, p, q) of c N^p D^q.

    >>> direct = parse_cost("direct", None)
    >>> round(float(direct.compute(10, 1000)), 6), round(float(direct.data_for(10, 1e5)), 6)
    (100000.0, 1000.0)
    """

    name: str
    terms: tuple[tuple[float, float, float], ...]

    def compute(self, N: Any, D: Any) -> Any:
        log_N, log_D = np.log(np.asarray(N, np.float64)), np.log(np.asarray(D, np.float64))
        logs = [math.log(c) + p * log_N + q * log_D for c, p, q in self.terms]
        with np.errstate(over="ignore"):
            return np.exp(np.minimum.reduce(logs))

    def data_for(self, N: Any, budget: float) -> Any:
        """The D that spends the budget at this N."""
        log_N = np.log(np.asarray(N, np.float64))
        logs = [(math.log(budget / c) - p * log_N) / q for c, p, q in self.terms]
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(np.maximum.reduce(logs))

    def compute_exponent(self, alpha_N: float, alpha_D: float) -> float:
        """alpha_C of the law N^-alpha_N + D^-alpha_D for large budgets: loss* ~ C^-alpha_C.

        The best path balances both terms, D = N^rho with rho = alpha_N / alpha_D; along it the cheapest
        monomial has the smallest p + q rho.
        """
        ratio = alpha_N / alpha_D
        return alpha_N / min(p + q * ratio for _, p, q in self.terms)


def parse_cost(text: str, model: SparseInputs | None) -> Cost:
    """The cost named ``text``. Those that depend on the condition number need the sparsity of ``model``."""
    return _named(text, None if model is None else (model.alpha1, model.alpha2))


def cost_for_exponents(text: str, alpha1: float, alpha2: float) -> Cost:
    """The same for the sparsity that a fit implies, which need not be one a model may have."""
    return _named(text, (alpha1, alpha2))


def _named(text: str, sparsity: tuple[float, float] | None) -> Cost:
    name = text.strip().lower()
    direct = ((1.0, 2.0, 1.0), (1.0, 1.0, 2.0))
    if name == "direct":
        return Cost(name=name, terms=direct)
    if name == "6nd":
        return Cost(name=name, terms=((6.0, 1.0, 1.0),))
    if name.startswith("power:"):
        return Cost(name=name, terms=((1.0, _rank(text, name.removeprefix("power:")), 1.0),))
    if name not in COSTS or name == "power:r":
        raise InputError("cost", text, "is not one of the costs", f"choose {', '.join(COSTS)}")
    if sparsity is None:
        raise InputError(
            "cost", text, "needs alpha1 and alpha2", "give a sparse model, or choose direct or 6nd"
        )
    slow, fast = _first_order(*sparsity, 1.0), _first_order(*sparsity, 0.5)
    return Cost(name=name, terms={"gd": slow, "accelerated": fast}.get(name, direct + slow + fast))


def _first_order(alpha1: float, alpha2: float, effort: float) -> tuple[tuple[float, float, float], ...]:
    power = effort * (alpha1 + alpha2 + 2.0)
    s = 1.0 / (alpha1 + 1.0) if alpha1 > 0.0 else 1.0
    g = math.gamma(1.0 - s) if alpha1 > 0.0 else 1.0
    return (1.0, 1.0 + power, 1.0), (g**power, 1.0, 1.0 + power * s)


def _rank(text: str, rank: str) -> float:
    try:
        r = check_finite("cost", float(rank))
    except (ValueError, InputError):
        raise InputError("cost", text, "is not power:<number>", "write power:2") from None
    if not 0.0 < r <= 100.0:
        raise InputError("cost", text, "r must be positive and at most 100", "write power:2")
    return r
