"""Laws fitted to made-up and to simulated runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from case_list import SPARSE, add, spread

import sparselaw as sl


def synthetic() -> pd.DataFrame:
    """A law with a floor and some scatter. Sums of a generator's integers: the same on every machine."""
    draws = np.random.Generator(np.random.PCG64(11))
    rows = []
    for N in (1e6, 3e6, 1e7, 3e7, 1e8):
        for D in (2e7, 1e8, 5e8, 2e9, 1e10):
            for run in range(2):
                scatter = 1.0 + float(draws.integers(-1000, 1001)) * 2e-5
                loss = (1.7 + 400.0 * N**-0.34 + 1100.0 * D**-0.37) * scatter
                rows.append({"N": N, "D": D, "loss": loss, "run": run + 2 * (len(rows) // 6)})
    return pd.DataFrame(rows)


@functools.cache
def simulated() -> pd.DataFrame:
    return sl.simulate(SPARSE, N=[8, 16, 32, 64], D=[50, 200, 800, 3200], seeds=3, workers=1)


def fitted(table: Callable[[], pd.DataFrame], **settings: Any) -> dict[str, Any]:
    found = sl.fit(table(), **settings)
    values: dict[str, Any] = {f"params {name}": spread(v) for name, v in found.params.items()}
    values |= {f"sparsity {name}": spread(v) for name, v in (found.sparsity or {}).items()}
    values |= {"value": found.value, "status": found.status, "rows": found.rows_used}
    values |= {f"dropped {reason}": count for reason, count in found.dropped.items()}
    test = found.equal_exponents
    if test is not None:
        values["equal"] = [test.statistic, test.p_value, test.exponent]
    for line in found.leave_out:
        ends = [line.alpha1.low, line.alpha1.best, line.alpha1.high]
        values[f"leave out {line.left_out}"] = [line.rows_used, line.alpha_N, line.alpha_D, *ends]
    return values


def one_sweep() -> pd.DataFrame:
    frame = synthetic()
    return frame[frame["D"] == 1e10]


def other_names() -> pd.DataFrame:
    frame = synthetic()
    frame["compute"] = 6.0 * frame["N"] * frame["D"]
    return frame.rename(columns={"N": "params", "loss": "final"}).drop(columns="D")


def with_errors() -> pd.DataFrame:
    frame = synthetic()
    frame["stderr"] = 0.001 * (1.0 + np.arange(len(frame)) % 4)
    return frame


for law in ("chinchilla", "two-power", "power"):
    for objective in ("huber", "l1", "least-squares"):
        of = {"law": law, "objective": objective, "bootstrap": 24}
        if law == "power":
            of["variable"] = "N"
        add(f"fit {law} {objective}", fitted, synthetic, **of)
        add(f"fit {law} {objective} group", fitted, synthetic, group="run", seed=3, **of)
        add(f"fit {law} {objective} simulated without peak", fitted, simulated, drop_peak=True, **of)
add("fit two-power simulated with peak", fitted, simulated, law="two-power", bootstrap=0)
add("fit two-power simulated group seed", fitted, simulated, law="two-power", bootstrap=20, group="seed")
add("fit chinchilla leave out", fitted, synthetic, bootstrap=20, leave_out=True)
add("fit chinchilla delta", fitted, synthetic, bootstrap=20, delta=0.01)
add("fit chinchilla weighted", fitted, with_errors, bootstrap=20)
add("fit power one sweep", fitted, one_sweep, law="power", bootstrap=20)
add("fit power last", fitted, synthetic, law="power", variable="D", last=3, bootstrap=20)
add(
    "fit chinchilla compute",
    fitted,
    other_names,
    bootstrap=20,
    columns={"N": "params", "loss": "final", "C": "compute"},
)
