"""How many different samples D draws of sparse inputs hold, and the rank of nonlinear features of them."""

from __future__ import annotations

import functools
import math

import numpy as np

from sparselaw.inputs import Inputs
from sparselaw.sums.coordinates import coordinate_nodes
from sparselaw.sums.power_sums import log_survival
from sparselaw.theory.nonlinear.coordinate_cells import coordinate_cells
from sparselaw.theory.nonlinear.response import Response

RARE = 1e-2  # patterns that are seen less often than this on average hardly ever come twice


@functools.lru_cache(maxsize=4096)
def features_rank(inputs: Inputs, response: Response, D: float) -> float:
    """The expected rank of very many nonlinear features on D samples.

    Where f is odd or even, a sample and its negative are the same: the rank is the number of samples that
    differ by more than their sign. Where neither part is linear, they are two.

    Where the odd part is linear, a sample and its negative have features that differ by u x: every sample
    that differs from the others by more than its sign adds a direction, and so does each coordinate that such
    a pair makes known. A pair is looked for among samples that show j with nothing else, with coordinate 2,
    or with 3.
    """
    if not response.even or response.slope == 0.0:
        return distinct_samples(inputs, D)
    if response.slope is None:
        return min(2.0 * distinct_samples(inputs, D / 2.0), D)
    law = inputs.power_activations()
    nodes = coordinate_nodes(inputs.dimension, math.log(D / RARE) / law.decay, 2.0 * law.decay)
    p = np.exp(-law.decay * nodes.log_j)
    quiet = math.exp(-log_survival(law.decay, 2.0, inputs.dimension))
    odds = [x / (1.0 - x) / 2.0 for x in (2.0**-law.decay, 3.0**-law.decay)]
    unpaired = np.ones_like(p)
    with np.errstate(divide="ignore"):
        alone = np.where(p < 1.0, quiet * p / (1.0 - p) / 2.0, 0.5 * quiet)
    for share, classes in ((1.0, 2.0), (odds[0], 4.0), (odds[1], 4.0)):
        pair = np.expm1(-0.5 * D * np.minimum(alone * share, 1.0)) ** 2
        unpaired *= (1.0 - pair) ** classes
    return min(distinct_samples(inputs, D) + float(nodes.weight @ (1.0 - unpaired)), D)


@functools.lru_cache(maxsize=1024)
def distinct_samples(inputs: Inputs, D: float) -> float:
    """The expected number of samples that differ by more than their common sign.

    sum over patterns of 1 - (1 - P)^D, P the probability of a pattern or its negative; what is too rare to be
    listed is seen once each.
    """
    law = inputs.power_activations()
    reach = (D / RARE) ** (1.0 / law.decay)
    cells = coordinate_cells(inputs, max(reach, 2.0) ** -inputs.spectrum)
    p, count = cells.p.tolist(), cells.count.tolist()
    odds = [x / (1.0 - x) / 2.0 for x in p]
    tail = 0.0 if cells.place.size == 0 else _quiet_tail(inputs, float(cells.place[-1]), law.decay)
    quiet = math.exp(sum(n * math.log1p(-x) for n, x in zip(count, p, strict=True)) - tail)
    seen, listed = 0.0, 0.0

    def visit(first: int, P: float, ways: float) -> None:
        nonlocal seen, listed
        seen -= ways * math.expm1(D * math.log1p(-P)) if P < 1.0 else -ways
        listed += ways * P
        for k in range(first, len(p)):
            if D * P * odds[k] < RARE:
                break
            # One coordinate of a cell: two of them are too rare to matter, or belong to the cells of one.
            visit(k + 1, P * odds[k], ways * count[k] * 2.0)

    visit(0, quiet, 1.0)
    return min(seen + D * max(1.0 - listed, 0.0), D)


def _quiet_tail(inputs: Inputs, last: float, decay: float) -> float:
    """sum of p_j beyond the last cell."""
    if last + 1.0 >= inputs.dimension:
        return 0.0
    end = math.pow(inputs.dimension, 1.0 - decay) if math.isfinite(inputs.dimension) else 0.0
    return (math.pow(last, 1.0 - decay) - end) / (decay - 1.0)
