"""The loss of infinitely many nonlinear features trained on D samples.

    loss = sum_j s_j sum_n P(n_j = n) e_n(c_j),    n_j ~ Binomial(D, p_j),

e_n the error of a coordinate that n samples have shown (``rare_coordinate``), e_0 = 1. As D grows this is a
constant times the unseen variance sum_j s_j (1 - p_j)^D: the exponent alpha_D is that of linear features.
Rare coordinates that share samples add a part that falls with D (``drawn_regression``).
"""

from __future__ import annotations

import functools
import math
from typing import cast

import numpy as np

from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.sums.coordinates import coordinate_nodes, power_integral
from sparselaw.theory.nonlinear.drawn_regression import sharing
from sparselaw.theory.nonlinear.rare_coordinate import interpolation_errors
from sparselaw.theory.nonlinear.response import Response

RARE = 1e-6  # coordinates that fewer than this many samples show are as unseen


@functools.lru_cache(maxsize=4096)
def data_limit(inputs: Inputs, response: Response, D: float) -> float:
    """The loss for any number of samples."""
    law, a = inputs.power_activations(), inputs.spectrum
    reach = (math.log(D) - math.log(RARE)) / law.decay
    errors = interpolation_errors(inputs, response)
    nodes = coordinate_nodes(inputs.dimension, reach, max(a, law.decay * errors.last))
    p = np.exp(-law.decay * nodes.log_j)
    log_c = law.growth * nodes.log_j
    each = errors.at(log_c)
    n = np.arange(min(errors.last, D) + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ways = np.cumsum(np.concatenate([[0.0], np.log((D - n[:-1]) / n[1:])]))
        quiet = np.where(p[:, None] < 1.0, (D - n) * np.log1p(-p[:, None]), np.where(n < D, -np.inf, 0.0))
        chance = np.exp(log_ways + n * np.log(p)[:, None] + quiet)
    mean = np.sum(chance * each[:, : n.size], axis=1)
    mean += np.maximum(1.0 - chance.sum(axis=1), 0.0) * each[:, -1] * errors.beyond(D * p)
    found = float((nodes.weight * p * np.exp(log_c)) @ mean)
    end = math.log(inputs.dimension + 0.5)
    alone = found + (power_integral(1.0 - a, nodes.log_end, end) if nodes.log_end < end else 0.0)
    return alone * sharing(cast(ActivationInputs, inputs), response).factor(inputs, D)
