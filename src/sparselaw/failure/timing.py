"""How long one data set takes, roughly: right to a factor of two or so."""

from __future__ import annotations

import numpy as np

from sparselaw.failure.divergence import DENSE_LIMIT
from sparselaw.failure.draw import DataLaw

BETWEEN_LOOKS = 0.1  # seconds of compiled work at a time: Ctrl-C and progress wait no longer
# Seconds, measured on one core of 2020: for a data set, for a common coordinate, for a nonzero drawn and
# looked at, and more for a rare one, which is sorted; for the products of Lanczos's method with a nonzero;
# for a pair of nonzeros where a matrix is filled.
START, COORDINATE, NONZERO, RARE, PRODUCTS, PAIR = 2e-6, 1e-8, 4e-8, 3e-7, 1.6e-7, 6e-9


def data_set_seconds(law: DataLaw, most_active: float | None = None) -> float:
    """To draw a data set and to decide whether it fails.

    ``most_active`` is the sum of the common coordinates' probabilities where they are not those of the law.
    """
    common = float(law.active.sum()) if most_active is None else most_active
    nonzeros = law.D * (common + law.rare.mass)
    often = law.active[law.D * law.active > 2.0]
    seconds = START + COORDINATE * len(law.active) + NONZERO * nonzeros + RARE * law.D * law.rare.mass
    if min(often.size, law.D) > DENSE_LIMIT:
        return seconds + PRODUCTS * nonzeros
    if often.size > law.D:  # the matrix of the samples: pairs of samples that share a coordinate
        return seconds + PAIR * 0.5 * float(np.sum((law.D * often) ** 2))
    return seconds + PAIR * 0.5 * law.D * float(often.sum()) ** 2  # pairs of coordinates within a sample


def data_sets_at_a_time(law: DataLaw, most_active: float | None = None) -> int:
    return max(1, int(BETWEEN_LOOKS / data_set_seconds(law, most_active)))


def in_words(seconds: float) -> str:
    """About how long.

    >>> in_words(45.0), in_words(9000.0), in_words(1e12)
    ('about 45 s', 'about 2.5 h', 'years')
    """
    for size, unit in ((31_557_600.0, ""), (86_400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2.0 * size:
            return f"about {seconds / size:.2g} {unit}" if unit else "years"
    return f"about {seconds:.2g} s"
