"""What a wrong N costs at one budget: the loss along the budget curve around its best place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost
from sparselaw.plain import put
from sparselaw.planning.allocate import Loss, Valley

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("factor", "N", "D", "loss", "excess", "wasted")
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
