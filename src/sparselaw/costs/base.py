"""What a cost answers: the compute C(N, D), up to constants, and the data that a budget leaves at a given N.

A cost is the smallest of a few terms

    c N^p D^q m^k,    m = min(N, K(D)),    K(D) = g D^s,

with m the directions that training resolves. With the minimum in m written out each is one or two monomials
c N^p D^q. All of them rise with D, so the D that spends a budget is the largest of the monomials' own,
D = max (C / (c N^p))^(1/q). For instance N D min(N, D) = min(N^2 D, N D^2).

A new cost is one file: a function that returns its terms, and ``register`` with the record that names it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from sparselaw.errors import InputError
from sparselaw.registry import add

if TYPE_CHECKING:
    from sparselaw.inputs import Inputs

SAME = 1e-12  # powers of one size that differ by less are the same but for rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditioning:
    """The condition number kappa = min(N, K(D))^power, K(D) = seen_constant D^seen_exponent.

    For sparse inputs with alpha1 > 0 it is the paper's estimate (appendix:compute, eq:K-of-D); where every
    coordinate is seen often (alpha1 <= 0, dense inputs) K(D) is D.

    >>> Conditioning.of_sparsity(1.0, 0.5).power
    3.5
    """

    power: float
    seen_exponent: float = 1.0
    seen_constant: float = 1.0

    @classmethod
    def of_sparsity(cls, alpha1: float, alpha2: float) -> Self:
        """For the sparsity that a fit implies, which need not be one that inputs may have."""
        from sparselaw.inputs.base import seen_law  # not above: the names of the costs need no numpy

        s, g = seen_law(alpha1)
        return cls(power=alpha1 + alpha2 + 2.0, seen_exponent=s, seen_constant=g)

    @classmethod
    def of_inputs(cls, inputs: Inputs) -> Self | None:
        """None where the inputs follow no power law."""
        of = inputs.exponents
        if of is None:
            return None
        power = inputs.power_law().spectrum
        return cls(power=power, seen_exponent=of.seen_exponent, seen_constant=of.seen_constant)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostTerm:
    """factor * N^N_power * D^D_power * min(N, seen_constant D^seen_exponent)^resolved_power."""

    factor: float = 1.0
    N_power: float = 1.0
    D_power: float = 1.0
    resolved_power: float = 0.0
    seen_exponent: float = 1.0
    seen_constant: float = 1.0

    def monomials(self) -> tuple[tuple[float, float, float], ...]:
        """(c, p, q) of c N^p D^q, of which the term is the smallest."""
        c, p, q, k = self.factor, self.N_power, self.D_power, self.resolved_power
        if k == 0.0:
            return ((c, p, q),)
        return (c, p + k, q), (c * self.seen_constant**k, p, q + k * self.seen_exponent)

    def leading(self, e: float) -> CostTerm:
        """The term for large N and D = (xi N)^e: which of N and K(D) is smaller may depend on xi."""
        growth = self.seen_exponent * e  # K(D) ~ N^growth
        if self.resolved_power == 0.0 or abs(growth - 1.0) <= SAME:
            return self
        few, many = self.monomials()
        c, p, q = few if growth > 1.0 else many
        return CostTerm(factor=c, N_power=p, D_power=q)

    def growth(self, e: float) -> float:
        """The power of N with which a leading term grows along D = (xi N)^e."""
        return self.N_power + self.resolved_power + self.D_power * e

    def log_spent(self, e: float, log_xi: float, log_xi_crit: float) -> float:
        """log of the compute over N^growth at xi, of a leading term; K(D) = N at xi_crit."""
        resolved = self.resolved_power * min(0.0, log_xi - log_xi_crit)
        return math.log(self.factor) + self.D_power * e * log_xi + resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """C(N, D) is the smallest of ``terms``.

    >>> direct = Cost(name="direct", terms=(CostTerm(resolved_power=1.0),))
    >>> round(float(direct.compute(10, 1000)), 6), round(float(direct.data_for(10, 1e5)), 6)
    (100000.0, 1000.0)
    """

    name: str
    terms: tuple[CostTerm, ...]

    def __post_init__(self) -> None:
        for c, p, q in self.monomials():
            if not (c > 0.0 and p > 0.0 and q > 0.0 and math.isfinite(c * p * q)):
                raise InputError("cost", self.name, "must rise with N and with D", "give positive powers")

    def monomials(self) -> tuple[tuple[float, float, float], ...]:
        """(c, p, q): the cost is the smallest of all c N^p D^q."""
        return tuple(monomial for term in self.terms for monomial in term.monomials())

    def compute(self, N: Any, D: Any) -> Any:
        import numpy as np

        log_N, log_D = np.log(np.asarray(N, np.float64)), np.log(np.asarray(D, np.float64))
        logs = [math.log(c) + p * log_N + q * log_D for c, p, q in self.monomials()]
        with np.errstate(over="ignore"):
            return np.exp(np.minimum.reduce(logs))

    def data_for(self, N: Any, budget: Any) -> Any:
        """The D that spends the budget at this N."""
        import numpy as np

        log_N = np.log(np.asarray(N, np.float64))
        logs = [(np.log(budget / c) - p * log_N) / q for c, p, q in self.monomials()]
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(np.maximum.reduce(logs))

    def log_largest_N(self, budget: float) -> float:
        """log of the N that leaves D = 1: the largest of the monomials' own, as in ``data_for``."""
        return max((math.log(budget) - math.log(c)) / p for c, p, _ in self.monomials())

    def compute_exponent(self, alpha_N: float, alpha_D: float) -> float:
        """alpha_C of the law N^-alpha_N + D^-alpha_D for large budgets: loss* ~ C^-alpha_C.

        The best path balances both terms, D = N^rho with rho = alpha_N / alpha_D; along it the cheapest
        monomial has the smallest p + q rho.
        """
        ratio = alpha_N / alpha_D
        return alpha_N / min(p + q * ratio for _, p, q in self.monomials())

    def leading(self, e: float) -> tuple[CostTerm, ...]:
        """The terms that stay the cheapest for large N along D = (xi N)^e; all grow alike."""
        forms = [term.leading(e) for term in self.terms]
        least = min(form.growth(e) for form in forms)
        return tuple(form for form in forms if form.growth(e) <= least + SAME)


Terms = tuple[CostTerm, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """A cost before it is applied to inputs or to a law.

    ``terms`` is called with the conditioning where ``needs_sparsity``, with the number after the colon where
    the cost has a ``parameter`` (power:r), and otherwise with nothing.
    """

    name: str
    terms: Callable[..., Terms]
    formula: str = ""
    needs_sparsity: bool = False
    parameter: str = ""

    @property
    def written(self) -> str:
        """How it is written on the command line."""
        return f"{self.name}:{self.parameter}" if self.parameter else self.name


COSTS: dict[str, CostModel] = {}


def register(cost: CostModel) -> CostModel:
    """Adds a cost to those that `frontier`, `plan` and the command line know."""
    name = cost.name
    if name != name.strip().lower() or not name or ":" in name:
        raise InputError("cost", name, "is not a plain name", "use lower case, no colon and no spaces around")
    add(COSTS, "cost", name, cost, lambda model: model.terms)
    return cost
