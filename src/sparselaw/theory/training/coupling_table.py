"""The coupling g of the theory's surfaces at given exponents, from the map of fitting/theory_coupling.py.

``python benchmarks/coupling_of_the_theory.py best`` prints the map anew. One pass has the same g whatever the
sparsity.
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


def theory_couplings(alpha_N: float) -> dict[str, float]:
    """g by the way of training.

    >>> theory_couplings(0.35)["one pass"]
    0.211
    """
    place = math.log(min(max(alpha_N, ALPHA_N[0]), ALPHA_N[-1]))
    found = {name: float(np.interp(place, np.log(ALPHA_N), values)) for name, values in TABLE.items()}
    return {name: round(g, 6) for name, g in found.items()}
