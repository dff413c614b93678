"""How strongly N and D are coupled, beside the theory's own surfaces."""

from __future__ import annotations

import numpy as np

from sparselaw.fitting.coupling_table import ADDITIVE, SPARSE, theory_couplings
from sparselaw.interval import Interval


def coupling_words(coupling: Interval, alpha_N: float, alpha1: float | None = None) -> str:
    """The g of a fit, the variants of the theory that have it at these exponents, and whether a sum fits.

    ``alpha1`` is the sparsity that the exponents imply, where they do.
    """
    found = theory_couplings(alpha_N, alpha1)
    names = {name: f"{name} at alpha1 = {alpha1:.2g}" if name == SPARSE else name for name in found}
    shown = ", ".join(f"{names[name]} {g:.2g}" for name, g in found.items())
    if np.isnan(coupling.low):
        return f"coupling g = {coupling.best:.2g}; the theory at these exponents: {shown}; a sum has 1"
    like = [name for name, g in found.items() if coupling.low <= g <= coupling.high]
    sum_too = "" if coupling.low <= ADDITIVE <= coupling.high else "; a sum of two terms (g = 1) is excluded"
    fits = f"like {' and '.join(like)}" if like else "like none of them"
    return f"coupling g = {coupling.best:.2g} {coupling.ends()}, {fits} (theory: {shown}){sum_too}"
