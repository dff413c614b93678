"""The likelihood-ratio test of alpha_N = alpha_D.

The statistic compares the law with one exponent to the law with two. With the scale of the noise unknown,
-2 log(likelihood ratio) is n log(f0/f1) for Gaussian noise in log loss (f the sum of squares) and
2 n log(f0/f1) for Laplace noise (f the sum of absolute residuals; Huber's objective is taken the same way).

Runs of real models are neither, and rows of one run hang together. So the chance of a larger statistic is
not read off a chi-square table: the residuals of the one-exponent law get random signs, one for each row or
one for each whole group, are added back to that law, and both laws are fitted again. This supposes residuals
that are symmetric about zero and independent between rows (or groups), and nothing else. Signs that change
nothing give the data themselves, and so the observed statistic, a tie: with three groups every eighth draw.
That is said and not computed, since a fit from other starts would decide it by rounding.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.bootstrap import CHUNK, in_order, stream
from sparselaw.fitting.design import Design
from sparselaw.fitting.fitted_law import EqualityTest
from sparselaw.fitting.objectives import Objective
from sparselaw.fitting.solve import LARGEST_POLISH_ROWS, Minimum, global_minimum

MOST_DRAWS = 399
MOST_SLOW_DRAWS = 99  # of a law that is fitted by its formula


def equal_exponents(
    free: Design,
    tied: Design,
    objective: Objective,
    minimum: Minimum,
    *,
    draws: int,
    seed: int,
    group: IntArray | None = None,
    workers: int = 1,
) -> EqualityTest | None:
    """The test; None when no draws were asked for or the table is too large to fit this often."""
    draws = min(draws, MOST_DRAWS if free.law.terms else MOST_SLOW_DRAWS)
    if draws == 0 or free.rows > LARGEST_POLISH_ROWS:
        return None
    null = global_minimum(tied, objective)
    observed = likelihood_ratio(null.value, minimum.value, free.rows, objective)
    residual = tied.residuals(null.theta)
    fitted = tied.log_loss - residual
    units = np.arange(free.rows) if group is None else group
    count = int(units.max()) + 1
    # Data drawn under the null have their optimum near the null law: start both fits there too.
    starts = np.vstack([_untie(free, tied, null.theta), minimum.basins[:1]])

    def one_chunk(first: int) -> FloatArray:
        last = min(first + CHUNK, draws)
        signs = np.array(
            [stream(seed, 1, b).integers(0, 2, count)[units] * 2 - 1 for b in range(first, last)]
        )
        losses = fitted + signs * residual
        _, tied_values = tied.minimise_many(null.basins, objective, losses=losses)
        _, free_values = free.minimise_many(starts, objective, losses=losses)
        found = [
            likelihood_ratio(a, b, free.rows, objective)
            for a, b in zip(tied_values, np.minimum(free_values, tied_values), strict=True)
        ]
        return np.where(np.all((signs > 0) | (residual == 0.0), axis=1), observed, found)

    drawn = np.concatenate(list(in_order(one_chunk, range(0, draws, CHUNK), workers)))
    return EqualityTest(
        statistic=observed,
        p_value=(1 + int(np.count_nonzero(drawn >= observed))) / (draws + 1),
        exponent=float(tied.natural(null.theta)[tied.exponent_places()[0]]),
        method=f"likelihood ratio, {draws} refits, random signs per {'row' if group is None else 'group'}",
    )


def likelihood_ratio(narrow: float, wide: float, rows: int, objective: Objective) -> float:
    """-2 log of the ratio for a law within a wider one, from the values of the objective."""
    if narrow <= wide or narrow == 0.0:
        return 0.0
    factor = 1.0 if math.isinf(objective.delta) else 2.0
    return factor * rows * math.log(narrow / max(wide, 1e-300))


def _untie(free: Design, tied: Design, theta: FloatArray) -> FloatArray:
    """The theta with two exponents that equals a theta with one."""
    places = {place: tied.places[i] for i, place in enumerate(free.places) if place is not None}
    return np.array([theta[places[i]] for i in range(free.free)])
