"""Simulated runs: which lie near the double-descent peak, where no sum of power laws holds.

The peak sits where the parameters just interpolate the data: at N = K(D) for sparse inputs with alpha1 > 0,
K(D) = Gamma(1 - 1/(alpha1+1)) D^(1/(alpha1+1)) (eq:K-of-D), and at N = D for dense inputs or alpha1 <= 0. A
rank cannot exceed the samples or the coordinates, so K is cut off at D and at the dimension.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sparselaw.errors import InputError
from sparselaw.fitting.clean_runs import Source, as_table
from sparselaw.fitting.tables import column, find_columns, floats

PEAK_FACTOR = 2.0  # N between K/2 and 2K: the loss is more than about twice what its power law says


def interpolation_threshold(D: Any, alpha1: float, dimension: float = math.inf) -> Any:
    """The N at which the peak sits. A nan alpha1 stands for inputs without rare coordinates.

    >>> round(float(interpolation_threshold(50_000, 1.0)), 1)
    396.3
    """
    from sparselaw.inputs.base import seen_law

    samples = 1.0 * np.asarray(D, dtype=np.float64)
    s, g = seen_law(alpha1)
    return np.minimum(np.minimum(g * samples**s, samples), dimension)


def near_peak(N: Any, D: Any, alpha1: float, dimension: float = math.inf, factor: float = PEAK_FACTOR) -> Any:
    """Is N within ``factor`` of the threshold?"""
    ratio = np.asarray(N, dtype=np.float64) / interpolation_threshold(D, alpha1, dimension)
    return (ratio > 1.0 / factor) & (ratio < factor)


def without_peak(
    source: Source, columns: Mapping[str, str] | None = None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The table without the rows near the peak, and how many went."""
    table = as_table(source)
    found = find_columns(table, columns)
    if "alpha1" not in table or "N" not in found or "D" not in found:
        condition = "needs the columns N, D and alpha1 of simulated runs"
        raise InputError("drop-peak", True, condition, "leave it out for other runs")
    N, D, alpha1 = (floats(column(table, name)) for name in (found["N"], found["D"], "alpha1"))
    if "inputs" in table:
        from sparselaw.inputs import KINDS

        never_rare = [name for name, kind in KINDS.items() if kind.sampling == "gaussian"]
        alpha1 = np.where(column(table, "inputs").isin(never_rare), np.nan, alpha1)
    dimension = floats(column(table, "dimension")) if "dimension" in table else np.full(N.size, np.inf)
    dimension = np.where(np.isnan(dimension), np.inf, dimension)
    near = np.zeros(N.size, bool)
    settings = pd.DataFrame({"alpha1": alpha1, "dimension": dimension})
    for rows in settings.groupby(["alpha1", "dimension"], dropna=False).indices.values():
        a, M = settings.iloc[rows[0]]
        with np.errstate(invalid="ignore", divide="ignore"):
            near[rows] = near_peak(N[rows], D[rows], float(a), float(M))
    return table[~near], ({"near the double-descent peak": int(near.sum())} if near.any() else {})
