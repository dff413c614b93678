"""What a wrong N costs at one budget: the loss along the budget curve around its best place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost
from sparselaw.planning.allocate import Loss, Valley
from sparselaw.records import put

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("factor", "N", "D", "loss", "excess", "wasted")
SOUGHT, PLACES = 200.0, 161  # times the best N to either side, and places on it
FACTORS = (0.125, 0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0, 8.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class IsoFlop:
    """Loss at ``factor`` times the best N, the whole budget spent.

    ``excess`` is loss / loss* - 1; ``wasted`` the part of the budget that a best allocation would not have
    needed to reach that loss, from the local exponent of loss* - E.
    """

    budget: float
    factor: FloatArray
    N: FloatArray
    D: FloatArray
    loss: FloatArray
    excess: FloatArray
    wasted: FloatArray

    def as_rows(self) -> list[dict[str, Any]]:
        """One row for each factor, in plain values."""
        rows: list[dict[str, Any]] = []
        for i in range(self.N.size):
            row: dict[str, Any] = {"factor": float(self.factor[i])}
            for key in COLUMNS[1:]:
                value = float(getattr(self, key)[i])
                put(row, key, value, "infinite" if math.isinf(value) else "not defined at this point")
            rows.append(row)
        return rows

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in COLUMNS})


def valley_of(
    loss: Loss, cost: Cost, budget: float, best: Valley, within: float = 0.01
) -> tuple[float, float]:
    """The smallest and the largest N, around the best, whose loss is within a share of the best loss.

    Sought up to 200 times the best N to either side, where the budget still buys both sizes.
    """
    low = max(-math.log(SOUGHT), -math.log(best.N))
    x = np.unique(np.concatenate([np.linspace(low, 0.0, PLACES), np.linspace(0.0, math.log(SOUGHT), PLACES)]))
    N = best.N * np.exp(x)
    D = np.asarray(cost.data_for(N, budget))
    bought = D >= 1.0 - 1e-9
    x, values = x[bought], np.asarray(loss(N[bought], D[bought]), dtype=np.float64)
    excess = values / best.loss - 1.0 - within
    at = int(np.argmin(np.abs(x)))
    ends: list[float] = []
    for outside in (
        np.flatnonzero(excess[:at] > 0.0)[-1:],
        at + 1 + np.flatnonzero(excess[at + 1 :] > 0.0)[:1],
    ):
        if outside.size == 0:
            ends.append(x[0] if not ends else x[-1])
            continue
        i = int(outside[0])
        j = i + 1 if i < at else i - 1
        ends.append(x[j] + (x[i] - x[j]) * excess[j] / (excess[j] - excess[i]))
    return float(best.N * np.exp(ends[0])), float(best.N * np.exp(ends[1]))


def isoflop(
    loss: Loss,
    cost: Cost,
    budget: float,
    best: Valley,
    floor: float,
    slope: float,
    factors: tuple[float, ...] = FACTORS,
) -> IsoFlop:
    """The profile at the given multiples of the best N that the budget still buys."""
    N = best.N * np.asarray(factors)
    D = np.asarray(cost.data_for(N, budget))
    bought = (N >= 1.0 - 1e-9) & (D >= 1.0 - 1e-9)
    N, D = N[bought], D[bought]
    values = np.array(loss(N, D), dtype=np.float64)
    values[np.asarray(factors)[bought] == 1.0] = best.loss  # the same but for rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (values - floor) / (best.loss - floor)
        excess = values / best.loss - 1.0
        wasted = 1.0 - ratio ** (-1.0 / slope) if slope > 0.0 else np.full(values.size, np.nan)
    return IsoFlop(
        budget=budget,
        factor=np.asarray(factors)[bought],
        N=N,
        D=D,
        loss=values,
        excess=excess,
        wasted=np.maximum(wasted, 0.0),
    )
