"""The loss of nonlinear features of dense Gaussian inputs: N-limited, D-limited, and between.

Features and samples play the same part: with T(k) = sum v/(v+k) + sum l/(l + k/4), l the eigenvalues of the
even kernel, D samples resolve T(k) = D and leave

    L_D = k^2 sum v/(v+k)^2 / (1 - b/D),    b the sum of the squares of the terms of T.

N features see types too (``width_limit``), which samples do as well but hardly matter there. Between them

    N < D: loss = L_N D/(D - N),    N > D: loss = L_D + k_D T_lin(k_D) D/(N - D).
"""

from __future__ import annotations

import functools
import math

from sparselaw.inputs import Inputs
from sparselaw.sums.roots import solve_decreasing
from sparselaw.theory.nonlinear.curved_limit import curved_data, curved_features, curved_spill
from sparselaw.theory.nonlinear.gaussian_tables import (
    LEVELS,
    further_gaussian_tables,
    level_of,
    main_gaussian_table,
    missing_share,
    resolved,
)
from sparselaw.theory.nonlinear.limit import NonlinearLimit
from sparselaw.theory.nonlinear.response import Response
from sparselaw.theory.nonlinear.width_limit import width_limit

MOST = LEVELS[-1].most  # directions that the points resolve
MOST_TYPED = LEVELS[0].most  # and that they resolve with types
SHARED = 0.3  # of what further types change: how far off that may be
ALIKE = 0.15  # of what the points leave out
DATA_ERROR = 0.07


@functools.lru_cache(maxsize=4096)
def gaussian_features_limit(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The loss of N features with all the data there are; beyond MOST_TYPED the exponent there goes on."""
    if N > MOST_TYPED:
        half = _features_at(inputs, response, MOST_TYPED / 2.0)
        return _features_at(inputs, response, MOST_TYPED).continued(half, N)
    return _features_at(inputs, response, N)


@functools.lru_cache(maxsize=4096)
def gaussian_data_limit(inputs: Inputs, response: Response, D: float) -> NonlinearLimit:
    """The loss of infinitely many features on D samples."""
    if D > MOST:
        return _data_at(inputs, response, MOST).continued(_data_at(inputs, response, MOST / 2.0), D)
    return _data_at(inputs, response, D)


def gaussian_spill(inputs: Inputs, response: Response, D: float) -> float:
    """k_D T_lin(k_D): what finitely many features add above the peak, in units of D/(N - D)."""
    size, scale = min(D, MOST), 1.0
    if D > MOST:
        scale = (
            gaussian_data_limit(inputs, response, D).loss / gaussian_data_limit(inputs, response, MOST).loss
        )
    if response.slope is None:
        return scale * curved_spill(inputs, response, size)
    k = _cutoff(inputs, response, size)
    return scale * k * inputs.variance_sums(size).degrees(math.log(k))[0]


def _features_at(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    if response.slope is None:
        return curved_features(inputs, response, N)
    cutoff, level, part = _cutoff(inputs, response, N) / 4.0, level_of(N), response.parts[0]
    weight = response.even_weight
    missing = missing_share(inputs, part, level, cutoff / weight)
    plain = width_limit(inputs, main_gaussian_table(inputs, part, level), N, weight, missing, cutoff)
    first, *others = (
        width_limit(inputs, table, N, weight, 0.0, cutoff).loss
        for table in further_gaussian_tables(inputs, part, level)
    )
    further = sum(math.log(other / first) for other in others)
    error = math.hypot(ALIKE * missing, SHARED * further, 0.5 * plain.correction, 0.015)
    return NonlinearLimit(size=N, loss=plain.loss * math.exp(further), error=error, linear=plain.linear)


def _data_at(inputs: Inputs, response: Response, D: float) -> NonlinearLimit:
    if response.slope is None:
        return curved_data(inputs, response, D)
    k, part = _cutoff(inputs, response, D), response.parts[0]
    linear, spread = inputs.variance_sums(D).degrees(math.log(k))
    squares = linear - spread + resolved(inputs, part, level_of(D), k / (4.0 * response.even_weight))[1]
    return NonlinearLimit(size=D, loss=k * spread / (1.0 - squares / D), error=DATA_ERROR, linear=linear)


@functools.lru_cache(maxsize=4096)
def _cutoff(inputs: Inputs, response: Response, size: float) -> float:
    """k with T_lin(k) + T_even(k/4) = size."""
    sums, level, part = inputs.variance_sums(size), level_of(size), response.parts[0]

    def spent(log_k: float) -> tuple[float, float]:
        linear, spread = sums.degrees(log_k)
        even, squares = resolved(inputs, part, level, math.exp(log_k) / (4.0 * response.even_weight))
        return linear + even, -spread - (even - squares)

    return math.exp(solve_decreasing(spent, size, -1.5 * math.log(size)))
