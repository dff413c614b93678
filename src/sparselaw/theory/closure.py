"""The loss of N features by the cavity closure: its sums S and t along x = log k, and what derives from them.

S and t are found at places STRIDE apart and interpolated. All spectral sums follow from derivatives along x,
because f = g/(g+k) has df/dx = -f (1-f): of the whole Gram matrix, not only of its diagonal,

    B = S + S', C = B + B'/2, F = C + C'/3;   A0 = t - t', A1 = A0'/2, A2 = (A1 + A1')/3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.cavity import Cavity, CavityState
from sparselaw.theory.cavity_scatter import CavityScatter, derivative_weights
from sparselaw.theory.count_spread import Slopes, scatter_share
from sparselaw.theory.finite_width import FiniteWidth, finite_width

STRIDE = 0.5
DEEPEST = 21.0  # in log k below the largest c r: deeper, rounding errors take over
SEARCH = 60


@dataclass(frozen=True, slots=True)
class Closure:
    """The closure at S = N; ``over_plain`` is its loss relative to the leading surface of the same cells."""

    over_plain: float
    width: FiniteWidth
    scatter: float
    variance: float  # Var S at the same cut-off
    sound: bool  # whether the closure's two ways to S agree


def closure(cavity: Cavity, scatters: CavityScatter, N: float, log_k: float) -> Closure | None:
    """Sought from log k; None where N is not below what the closure can resolve."""
    index = _bracket(cavity, N, log_k)
    if index is None:
        return None
    states = [cavity.at(STRIDE * (index + i)) for i in range(-2, 4)]
    x = _root(states, N)
    places = np.array([s.log_k for s in states])
    d = derivative_weights(places, x)
    S, t = d @ np.array([s.S for s in states]), d @ np.array([s.t for s in states])
    width = finite_width(N, *_powers(S, t))
    slopes = Slopes(S[1], S[2], S[3], t[1] - t[0], t[2] - t[1], t[3] - t[2])
    scatter = scatters.at(x)
    plain = _plain_loss(cavity, N, log_k)
    sound = all(abs(s.checked - 1.0) < 5e-3 for s in states)
    share = float(scatter_share(scatter, slopes))
    return Closure(float(width.leading / plain), width, share, max(scatter.V, 0.0), sound)


def _powers(S: FloatArray, t: FloatArray) -> tuple[float, float, float, float, float, float]:
    """B, C, F and A0, A1, A2 from S, S', S'', S''' and t, t', t'', t'''."""
    B, B1, B2 = (S[m] + S[m + 1] for m in range(3))
    C, C1 = B + 0.5 * B1, B1 + 0.5 * B2
    A0, A0_1, A0_2 = (t[m] - t[m + 1] for m in range(3))
    A1, A1_1 = 0.5 * A0_1, 0.5 * A0_2
    return B, C, C + C1 / 3.0, A0, A1, (A1 + A1_1) / 3.0


def _plain_loss(cavity: Cavity, N: float, log_k: float) -> float:
    """The leading surface of the same cells."""
    states = [cavity.plain(log_k + STRIDE * i) for i in (-1.5, -0.5, 0.5, 1.5)]
    places = log_k + STRIDE * np.array([-1.5, -0.5, 0.5, 1.5])
    S, t = (np.array([s[i] for s in states]) for i in (0, 1))
    x = log_k
    for _ in range(4):
        value, slope = derivative_weights(places, x, 2) @ S
        x -= max(-0.5, min(0.5, (value - N) / slope))
    d = derivative_weights(places, x, 2)
    return N * float((d[1] - d[0]) @ t) / float(d[1] @ S)


def _bracket(cavity: Cavity, N: float, log_k: float) -> int | None:
    """The index i with S at STRIDE i no less than N and at STRIDE (i+1) below it."""
    lowest = math.ceil((min(cavity.cells.top, log_k) - DEEPEST) / STRIDE) + 2
    index, step = max(round(log_k / STRIDE), lowest), 1
    enough = cavity.at(STRIDE * index).S >= N
    inside = outside = index  # S >= N, S < N
    while enough == (cavity.at(STRIDE * index).S >= N):
        if index == lowest and not enough:
            return None
        inside, outside = (index, outside) if enough else (inside, index)
        index = index + step if enough else max(index - step, lowest)
        step = min(2 * step, 4)
    inside, outside = (inside, index) if enough else (index, outside)
    while outside - inside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if cavity.at(STRIDE * middle).S >= N else (inside, middle)
    return inside


def _root(states: list[CavityState], N: float) -> float:
    places = np.array([s.log_k for s in states])
    values = np.array([s.S for s in states])
    low, high = places[2], places[3]
    for _ in range(40):
        middle = 0.5 * (low + high)
        if float(derivative_weights(places, middle, 1)[0] @ values) >= N:
            low = middle
        else:
            high = middle
    return float(0.5 * (low + high))
