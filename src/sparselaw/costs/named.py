"""The costs that come with the package (appendix:compute, tab:threeRegimes), how one is written, and serving.

A cost is written as its name, and after a colon its number. Training and serving together cost
C(N, D) = training cost + 2 N T for T tokens of inference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sparselaw.costs.base import COSTS, Conditioning, Cost, CostModel, CostTerm, Terms, register
from sparselaw.errors import InputError, check_finite, check_positive


def first_order(kappa: Conditioning, effort: float) -> Terms:
    """N D kappa^effort: the steps that a first-order method takes grow as a power of kappa."""
    seen = {"seen_exponent": kappa.seen_exponent, "seen_constant": kappa.seen_constant}
    return (CostTerm(resolved_power=effort * kappa.power, **seen),)


DIRECT: Terms = (CostTerm(resolved_power=1.0),)  # a direct least-squares solve


def cheapest(kappa: Conditioning) -> Terms:
    return DIRECT + first_order(kappa, 1.0) + first_order(kappa, 0.5)


for _name, _formula, _of_kappa, _terms in (
    ("direct", "N D min(N, D)", False, lambda: DIRECT),
    ("6nd", "6 N D", False, lambda: (CostTerm(factor=6.0),)),  # forward and backward through a network
    ("gd", "N D kappa", True, lambda kappa: first_order(kappa, 1.0)),
    ("accelerated", "N D sqrt(kappa)", True, lambda kappa: first_order(kappa, 0.5)),
    ("cheapest", "the smallest of direct, gd and accelerated", True, cheapest),
):
    register(CostModel(name=_name, terms=_terms, formula=_formula, needs_sparsity=_of_kappa))
register(CostModel(name="power", terms=lambda r: (CostTerm(N_power=r),), formula="N^r D", parameter="r"))

LARGEST_PARAMETER = 100.0


def cost_names() -> tuple[str, ...]:
    """All costs as they are written.

    >>> cost_names()[:2]
    ('direct', '6nd')
    """
    return tuple(model.written for model in COSTS.values())


def parse_cost(text: str, conditioning: Conditioning | None = None) -> Cost:
    """The cost named ``text``. One that depends on the condition number needs the conditioning.

    >>> parse_cost("power:1.5").terms[0].N_power
    1.5
    """
    written = str(text).strip().lower()
    name, colon, value = written.partition(":")
    model = COSTS.get(name)
    if model is None or (colon and not model.parameter):
        raise InputError("cost", text, "is not one of the costs", f"choose {', '.join(cost_names())}")
    arguments: list[Conditioning | float] = []
    if model.needs_sparsity:
        if conditioning is None:
            free = ", ".join(other.written for other in COSTS.values() if not other.needs_sparsity)
            raise InputError("cost", text, "needs alpha1 and alpha2", f"give sparse inputs, or choose {free}")
        arguments.append(conditioning)
    if model.parameter:
        remedy = f"write {name}:2"
        try:
            number = check_finite("cost", float(value))
        except ValueError:
            raise InputError("cost", text, f"is not {name}:<number>", remedy) from None
        if not 0.0 < number <= LARGEST_PARAMETER:
            condition = f"the number must be positive and at most {LARGEST_PARAMETER:g}"
            raise InputError("cost", text, condition, remedy)
        arguments.append(number)
    return Cost(name=written, terms=model.terms(*arguments))


PER_TOKEN = 2.0  # operations for each parameter and token served
MOST_TOKENS = 1e100  # beyond, 2 N T is no number for the N that large budgets buy


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedCost(Cost):
    """``training`` plus 2 N ``tokens``. For large budgets the training decides again.

    >>> from sparselaw.costs import parse_cost
    >>> both = with_serving(parse_cost("6nd"), 100.0)
    >>> float(both.compute(10, 5)), round(float(both.data_for(10, 2300)), 9)
    (2300.0, 5.0)
    """

    training: Cost
    tokens: float

    def compute(self, N: Any, D: Any) -> Any:
        import numpy as np

        return self.training.compute(N, D) + PER_TOKEN * np.asarray(N, np.float64) * self.tokens

    def data_for(self, N: Any, budget: Any) -> Any:
        """The D that what is left after serving buys; nothing where serving takes all."""
        import numpy as np

        served = PER_TOKEN * np.asarray(N, np.float64) * self.tokens
        return self.training.data_for(N, np.maximum(budget - served, 1e-300))

    def log_largest_N(self, budget: float) -> float:
        """log of the N that leaves D = 1; zero where not even N = 1 does."""
        from scipy.optimize import brentq

        def over(log_N: float) -> float:
            return math.log(float(self.compute(math.exp(log_N), 1.0)) / budget)

        most = max(self.training.log_largest_N(budget), 0.0)
        if over(0.0) >= 0.0:
            return 0.0
        return most if over(most) <= 0.0 else float(brentq(over, 0.0, most, xtol=1e-12))


def with_serving(training: Cost, tokens: float) -> Cost:
    """The cost of training, and of serving the model for so many tokens."""
    tokens = check_positive("inference-tokens", tokens)
    if tokens > MOST_TOKENS:
        raise InputError("inference-tokens", tokens, "is too large", f"choose at most {MOST_TOKENS:g}")
    name = f"{training.name} + 2 N T, T = {tokens:g}"
    return ServedCost(name=name, terms=training.terms, training=training, tokens=tokens)
