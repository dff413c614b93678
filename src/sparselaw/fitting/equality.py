"""The likelihood-ratio test of alpha_N = alpha_D.

The statistic compares the law with one exponent to the law with two. With the scale of the noise unknown,
-2 log(likelihood ratio) is n log(f0/f1) for Gaussian noise in log loss (f the sum of squares) and
2 n log(f0/f1) for Laplace noise (f the sum of absolute residuals; Huber's objective is taken the same way).

Runs of real models are neither, and rows of one run hang together. So the chance of a larger statistic is
not read off a chi-square table: the residuals of the one-exponent law get random signs, one for each row or
one for each whole group, are added back to that law, and both laws are fitted again. This supposes residuals
that are symmetric about zero and independent between rows (or groups), and nothing else.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.bootstrap import CHUNK, in_order, stream
from sparselaw.fitting.design import Design
from sparselaw.fitting.kernel import minimise_many
from sparselaw.fitting.objectives import Objective
from sparselaw.fitting.result import EqualityTest
from sparselaw.fitting.solve import LARGEST_POLISH_ROWS, Minimum, global_minimum

MOST_DRAWS = 399


def equal_exponents(
    free: Design,
    tied: Design,
    what: Objective,
    minimum: Minimum,
    *,
    draws: int,
    seed: int,
    group: IntArray | None = None,
    workers: int = 1,
) -> EqualityTest | None:
    """The test; None when no draws were asked for or the table is too large to fit this often."""
    draws = min(draws, MOST_DRAWS)
    if draws == 0 or free.rows > LARGEST_POLISH_ROWS:
        return None
    null = global_minimum(tied, what)
    observed = _statistic(null.value, minimum.value, free.rows, what)
    residual = tied.residuals(null.theta)
    fitted = tied.log_loss - residual
    units = np.arange(free.rows) if group is None else group
    count = int(units.max()) + 1
    # Data drawn under the null have their optimum near the null law: start both fits there too.
    starts = np.vstack([_untie(null.theta), minimum.basins[:1]])

    def one_chunk(first: int) -> FloatArray:
        last = min(first + CHUNK, draws)
        signs = np.array(
            [stream(seed, 1, b).integers(0, 2, count)[units] * 2 - 1 for b in range(first, last)]
        )
        losses = fitted + signs * residual
        tied_values = _values(tied, what, null.basins, losses)
        free_values = np.minimum(_values(free, what, starts, losses), tied_values)
        return np.array(
            [_statistic(a, b, free.rows, what) for a, b in zip(tied_values, free_values, strict=True)]
        )

    drawn = np.concatenate(list(in_order(one_chunk, range(0, draws, CHUNK), workers)))
    return EqualityTest(
        statistic=observed,
        p_value=(1 + int(np.count_nonzero(drawn >= observed))) / (draws + 1),
        exponent=float(null.theta[-1]),
        method=f"likelihood ratio, {draws} refits, random signs per {'row' if group is None else 'group'}",
    )


def _statistic(tied: float, free: float, rows: int, what: Objective) -> float:
    if tied <= free or tied == 0.0:
        return 0.0
    factor = 1.0 if math.isinf(what.delta) else 2.0
    return factor * rows * math.log(tied / max(free, 1e-300))


def _untie(theta: FloatArray) -> FloatArray:
    """The theta with two exponents that equals a theta with one."""
    return np.append(theta, theta[-1])


def _values(design: Design, what: Objective, starts: FloatArray, losses: FloatArray) -> FloatArray:
    _, values, _ = minimise_many(
        starts, design.x, design.intercept, design.slope, design.sweep, losses, design.inverse_scale,
        np.ones((1, design.rows)), what.delta, design.lower, design.upper,
    )  # fmt: skip
    return np.asarray(values)
