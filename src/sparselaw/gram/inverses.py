"""tr G^+ and tr Sigma G^+ of activations that share samples: where label noise is fitted exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import LARGEST_LOG
from sparselaw.gram.sampled import Sampled

LEFT = 0.18  # of an eigenvalue of G, where the closure is read for kappa -> 0
HARDLY = 0.01  # of the data sets: what they decide is error, for a simulation of a hundred does not see it
MOST_ON = 1.5  # by which label noise may rise from there on
STRIDE_UP = 1.0  # from where the closure ends, for the error of ending there
LOST = 1e-6  # of S: a smaller slope of the closure is lost in its rounding
MOST = 0.3  # that the next order may add to label noise
DEEP = 5.0  # below the faintest coordinate, in log g: all are resolved


def faint_errors(law: Any, found: tuple[float, float], errors: tuple[float, float]) -> tuple[float, float]:
    """The errors and the share of coordinates so faint that hardly a data set shows one."""
    every, of_seen = found
    faintest = np.argsort(law.of.log_g)
    rare = faintest[np.cumsum(law.of.weight[faintest]) < HARDLY]
    inverse = law._free * np.exp(-np.maximum(law.of.log_g[rare], -LARGEST_LOG))
    of_every = min(abs(float(law.of.weight[rare] @ inverse)) / every, 1.0)
    of_variance = min(abs(float(law.of.variance[rare] @ inverse)) / of_seen, 1.0)
    return errors[0] + of_every, errors[1] + of_variance


def end_slopes(law: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """tr G^+ and tr Sigma G^+, to which P/kappa and T/kappa rise as kappa falls, and their errors.

    The closure is of endless trees: it follows G to eigenvalues smaller than any that D samples have. So
    it is read where less than a fifth of an eigenvalue is left, P = 0.18. Below are faint coordinates on
    their own, as far as a sample that shows one has no other left open; where more is seen than there are
    samples it goes on as the effective medium does. What it would add down to half of that is the error,
    or, where the closure ends before, what it adds in the last stride.
    """
    medium = np.array(Sampled.inverses(law), float)
    if not law.crowded:
        return _followed(law, medium, np.zeros(2), float(law.of.lattice[1].min()) - DEEP)
    x = np.array([_where_left(law, part) for part in (LEFT, 0.5 * LEFT)])
    x[1] += STRIDE_UP * (x[1] == x[0])
    m, kappa = law.at(x), np.exp(x)
    if (m.P < LOST * m.S).any():
        return _followed(law, medium, np.ones(2), float(law.inner(x)[0]))
    found = np.stack([m.P, m.T]) / kappa
    if law.full:  # as the effective medium goes on
        there = Sampled.at(law, x)
        found = found * np.clip(medium[:, None] / (np.stack([there.P, there.T]) / kappa), 1.0, MOST_ON)
    else:
        alone, plain = law._free * np.array(law.of.inverses())[:, None], law.of.at(x)
        found = found - law._free * np.stack([plain.P, plain.T]) / kappa + alone
    with np.errstate(invalid="ignore"):
        errors = np.abs(np.nan_to_num(np.log(found[:, 1] / found[:, 0])))
    return _followed(law, found[:, 0], errors, float(law.inner(x)[0]))


def _followed(
    law: Any, found: FloatArray, errors: FloatArray, y: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """With the next order in 1/D at y (``looped``)."""
    m, (df2, of_S, _) = law.of.at(np.array([y])), law.of.loops(np.array([y]))
    own = 0.0 if law.crowded else m.Q / law.D
    if law.crowded:  # 1/left is 1/(left - 1), and scatters, as far as coordinates are seen repeatedly
        left = max(law.D - law.rank, abs(law.D - law.of.rank), 1.0)
        errors = errors + (1.0 / max(left - 1.0, 1.0) + (law.rank_sd / left) ** 2) * df2 / law.rank
    more = float(np.clip((df2 / (law.D * (law.D - df2)) * of_S - own) / m.P, -MOST, MOST)[0])
    (every, of_seen), (error, other) = (found * (1.0 + more)).tolist(), (errors + abs(more)).tolist()
    return (every, of_seen), (error, other)


def _where_left(law: Any, wanted: float) -> float:
    """x with P = wanted near kappa -> 0, or as deep as the closure goes: Newton's method in log P."""
    lowest = float(law.floor)
    top = float(law._top)
    x = lowest + 0.5 * (top - lowest)
    for _ in range(60):
        P = float(law.at(np.array([x])).P[0])
        new = min(max(x + min(max(math.log(wanted / P) if P > 0.0 else 1.0, -2.0), 2.0), lowest), top)
        if abs(new - x) < 1e-9:
            break
        x = new
    return x
