"""Words of caution beside a predicted loss."""

from __future__ import annotations

import math

from sparselaw.gram.law import GramLaw
from sparselaw.inputs import Inputs

TRUSTED_MEDIAN = 0.08  # relative error up to which a median needs no caution
TRUSTED_ERROR = 0.03  # the same of the mean

# The leading surface's own.
PEAK_WIDTH = 5.0  # in standard deviations of the rank; at its edge the leading surface is about 4 % off
SMALL_SIZE = 20
MISSING = 0.02  # share by which the rank may fall short of the coordinates seen


def sharp_cautions(loss: float, error: float, has_median: bool, rough: float) -> list[str]:
    """Where the surface's own estimate of its error is large; ``rough`` is that of the median."""
    if math.isinf(loss):
        size = f", good to about {rough:.0%}" if rough > TRUSTED_MEDIAN else ""
        return [f"at the double-descent peak: compare medians{size}"] if has_median else []
    found = []
    if error > TRUSTED_ERROR:
        where = "near the double-descent peak or at very few features"
        found.append(f"{where}: the loss may be off by about {error:.0%}")
    if has_median and rough > TRUSTED_MEDIAN:
        found.append(f"the median is good to about {rough:.0%}")
    return found


def leading_cautions(inputs: Inputs, N: float, D: float, ridge: float = 0.0) -> list[str]:
    """Of the leading surface: near its peak, where samples are shared, and at few features."""
    law, sharp = inputs.gram(D, sharp=False), inputs.gram(D)
    found = []
    if ridge == 0.0 and abs(N - law.rank) <= max(PEAK_WIDTH * law.spread, _beside(law), 1.0):
        found.append(
            f"at the double-descent peak (N = {N:g}, rank about {law.rank:.4g}): "
            "the mean over data is infinite or nearly so, compare medians"
        )
    if law.rank - sharp.rank > MISSING * sharp.rank:
        found.append(
            f"co-activation: {law.rank:.3g} coordinates are seen in {D:g} samples of rank {sharp.rank:.3g}: "
            "rare coordinates cannot be told apart, which is left out here and is in the sharp surface"
        )
    if min(N, law.rank) < SMALL_SIZE:
        found.append(f"N < {SMALL_SIZE}: corrections of relative order 1/N (several per cent) are left out")
    return found


def _beside(law: GramLaw) -> float:
    """Dense data have one rank; the leading surface is 5 % off as near to it."""
    return 0.05 * law.rank if law.spread == 0.0 else 0.0
