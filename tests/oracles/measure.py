"""Naive twins of the measurement of real features."""

from fractions import Fraction
from itertools import combinations

import numpy as np


def seen_and_unseen(matrix, D):
    """K(D), and the energy of unseen features in a row that is not among the D, over all choices of rows."""
    x = np.asarray(matrix, dtype=float)
    seen, unseen = [], []
    for chosen in combinations(range(len(x)), D):
        missing = ~(x[list(chosen)] != 0).any(axis=0)
        seen.append((~missing).sum())
        others = [row for row in range(len(x)) if row not in chosen]
        unseen.append(np.mean([(x[row, missing] ** 2).sum() for row in others]))
    return float(np.mean(seen)), float(np.mean(unseen))


def exact_sum(numbers):
    """The sum of doubles as a fraction, rounded once."""
    return float(sum((Fraction(float(v)) for v in numbers), Fraction(0)))
