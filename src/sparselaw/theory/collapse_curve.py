"""S(xi) for many xi: along the scaling limit in one pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.theory.collapse import scaling_function
from sparselaw.theory.limit_curve import limit_for

REACH = 1e6  # xi/xi_crit up to which the pass goes; beyond it, and in closed forms, one by one


def scaling_values(inputs: Inputs, xi: Sequence[float] | FloatArray) -> FloatArray:
    """``scaling_function`` at each xi.

    Above xi_crit the loss is the unseen variance times a function of N/K = xi_crit/xi alone
    (``limit_curve``), so that S = C_D xi^-alpha_N times it.

    >>> from sparselaw.inputs import SparseInputs
    >>> scaling_values(SparseInputs(alpha1=1.0, alpha2=0.3), [0.1, 2.0]).round(6).tolist()
    [113.135884, 1.8167]
    """
    places = np.asarray(xi, dtype=float)
    law = inputs.power_law()
    together = (places > law.xi_crit) & (places < REACH * law.xi_crit) & (inputs.closed_form == "counts")
    found = np.empty_like(places)
    found[~together] = [scaling_function(inputs, float(x)) for x in places[~together]]
    if together.any():
        share = law.xi_crit / places[together]
        excess = limit_for(inputs, share).log_excess(share)
        found[together] = inputs.data_constant() * np.exp(excess - law.alpha_N * np.log(places[together]))
    return found
