"""Training and serving together: C(N, D) = training cost + 2 N T for T tokens of inference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sparselaw.costs.base import Cost
from sparselaw.errors import InputError, check_positive

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

    def data_for(self, N: Any, budget: float) -> Any:
        """The D that what is left after serving buys; nothing where serving takes all."""
        import numpy as np

        N = np.asarray(N, np.float64)
        left = np.maximum(budget - PER_TOKEN * N * self.tokens, 1e-300)
        logs = [(np.log(left / c) - p * np.log(N)) / q for c, p, q in self.monomials()]
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(np.maximum.reduce(logs))

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
    return ServedCost(
        name=f"{training.name} + 2 N T, T = {tokens:g}",
        terms=training.terms,
        training=training,
        tokens=tokens,
    )
