"""The best N and D for a budget: from fits, from laws, from the theory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

from case_list import SPARSE, add, spread
from fit_cases import synthetic

import sparselaw as sl


def planned(
    source: Callable[[], Any], budget: float, cost: str, surface: Literal["sharp", "leading"] = "leading"
) -> dict[str, Any]:
    found = sl.plan(source(), budget=budget, cost=cost, surface=surface)
    values: dict[str, Any] = {name: spread(getattr(found, name)) for name in ("N", "D")}
    values |= {
        "loss": spread(found.law_loss),
        "alpha_C": found.alpha_C,
        "slope": found.slope,
        "side": found.side,
    }
    values["others"] = [[v.N, v.D, v.loss] for v in found.others]
    values |= {
        f"isoflop {k}": getattr(found.isoflop, k).tolist() for k in ("N", "D", "loss", "excess", "wasted")
    }
    return values


@functools.cache
def fit_of_synthetic(law: str) -> Any:
    return sl.fit(synthetic(), law=law, bootstrap=24)


COSTS = ("direct", "6nd", "gd", "accelerated", "cheapest", "power:1.5")
FINITE = sl.SparseInputs(alpha1=1.0, alpha2=0.3, dimension=300)
SYMMETRIC = sl.SparseInputs(alpha1=0.0, alpha2=0.5, dimension=500)
for cost in COSTS:
    add(f"plan chinchilla {cost}", planned, lambda: fit_of_synthetic("chinchilla"), 1e19, cost)
    add(f"plan two-power {cost}", planned, lambda: fit_of_synthetic("two-power"), 1e19, cost)
    add(f"plan theory finite {cost}", planned, lambda: FINITE, 1e7, cost)
    add(f"plan theory dense {cost}", planned, lambda: sl.DenseInputs(alpha=1.3, dimension=500), 1e5, cost)
    add(f"plan theory symmetric {cost}", planned, lambda: SYMMETRIC, 1e5, cost)
add("plan theory infinite direct", planned, lambda: SPARSE, 1e8, "direct")
add("plan theory infinite direct sharp", planned, lambda: SPARSE, 1e8, "direct", "sharp")
add("plan theory finite 6nd sharp", planned, lambda: FINITE, 1e7, "6nd", "sharp")
add(
    "plan law two-power",
    planned,
    lambda: sl.TwoPowerLaw(A=1.0, B=2.0, alpha_N=2.3, alpha_D=1.15),
    1e9,
    "direct",
)
law_given = sl.ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.35)
add("plan law chinchilla", planned, lambda: law_given, 6e20, "6nd")
