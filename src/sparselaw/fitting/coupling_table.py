"""The coupling g of the theory's surfaces at given exponents, from the map of benchmarks/theory_coupling.py.

``python benchmarks/coupling_of_the_theory.py best`` prints the map anew. One pass has the same g whatever the
sparsity; with the best ridge sparse inputs have one of their own.
"""

from __future__ import annotations

import math

import numpy as np

ADDITIVE = 1.0  # Chinchilla's sum
ALPHA_N = (0.15, 0.2, 0.25, 0.35, 0.5, 0.7, 1.0)
TABLE = {
    "dense, best ridge": (0.285, 0.348, 0.403, 0.506, 0.643, 0.803, 1.005),
    "one pass": (0.093, 0.124, 0.153, 0.211, 0.303, 0.417, 0.588),
}
SPARSE = "sparse, best ridge"
SPARSE_ALPHA_N = (0.25, 0.35, 0.5, 1.0)
SPARSE_TABLE = {  # by alpha1
    0.2: (0.334, 0.416, 0.516, 0.790),
    0.5: (0.468, 0.490, 0.547, 0.773),
    1.0: (0.367, 0.462, 0.566, 0.799),
}
FEWEST = 0.05  # alpha1 below which inputs are as good as dense


def theory_couplings(alpha_N: float, alpha1: float | None = None) -> dict[str, float]:
    """g by the way of training; with the sparsity that the exponents imply, that of sparse inputs too.

    >>> theory_couplings(0.35)["one pass"]
    0.211
    >>> theory_couplings(0.35, alpha1=0.5)["sparse, best ridge"]
    0.49
    """
    found = {name: _at(alpha_N, ALPHA_N, values) for name, values in TABLE.items()}
    if alpha1 is not None and alpha1 >= FEWEST:
        rows = [_at(alpha_N, SPARSE_ALPHA_N, values) for values in SPARSE_TABLE.values()]
        found[SPARSE] = float(np.interp(alpha1, list(SPARSE_TABLE), rows))
    return {name: round(g, 6) for name, g in found.items()}


def _at(alpha_N: float, grid: tuple[float, ...], values: tuple[float, ...]) -> float:
    place = math.log(min(max(alpha_N, grid[0]), grid[-1]))
    return float(np.interp(place, np.log(grid), values))
