"""The loss of N features by the cavity closure: its sums S and t along x = log k, and what derives from them.

S and t are found at places STRIDE apart and interpolated; a ridge adds N ridge/k to S (``finite_width``). All
spectral sums follow from derivatives along x, because f = g/(g+k) has df/dx = -f (1-f): of the whole Gram
matrix, not only of its diagonal,

    B = S + S', C = B + B'/2, F = C + C'/3;   A0 = t - t', A1 = A0'/2, A2 = (A1 + A1')/3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.cavity import Cavity, CavityState
from sparselaw.theory.cavity_scatter import CavityScatter
from sparselaw.theory.count_spread import Slopes, noise_share, scatter_share
from sparselaw.theory.derivatives import derivative_weights
from sparselaw.theory.finite_width import Spectral

STRIDE = 0.5
DEEPEST = 21.0  # in log k below the largest c r: deeper, rounding errors take over
RUNG = 6  # strides between the places at which the search for a cut-off looks first


@dataclass(frozen=True, slots=True)
class Closure:
    """The closure at S + N ridge/k = N.

    ``over_plain`` is its loss relative to the leading surface of the same cells, ``noise_over_plain`` the
    same of what label noise adds.
    """

    over_plain: float
    noise_over_plain: float
    sums: Spectral
    scatter: float
    noise_scatter: float
    variance: float  # Var S at the same cut-off
    sound: bool  # whether the closure's two ways to S agree


def closure(
    cavity: Cavity, scatters: CavityScatter, N: float, log_k: float, ridge: float = 0.0
) -> Closure | None:
    """Sought from log k; None where N is not below what the closure can resolve."""
    index = _bracket(cavity, N, log_k, ridge)
    if index is None:
        return None
    states = [cavity.at(STRIDE * (index + i)) for i in range(-2, 4)]
    x = _root(states, N, ridge)
    held = N * ridge * math.exp(-x)
    places = np.array([s.log_k for s in states])
    d = derivative_weights(places, x)
    S, t = d @ np.array([s.S for s in states]), d @ np.array([s.t for s in states])
    sums, slopes = spectral_at(x, held, S, t)
    slopes = slopes.with_ridge(held)
    scatter = scatters.at(x)
    plain, plain_noise = _plain(cavity, N, log_k, ridge)
    return Closure(
        over_plain=float(sums.width(N).leading / plain),
        noise_over_plain=float(sums.noise(N).leading / plain_noise),
        sums=sums,
        scatter=float(scatter_share(scatter, slopes)),
        noise_scatter=float(noise_share(scatter, slopes, sums.t)),
        variance=max(scatter.V, 0.0),
        # Where a ridge leaves less than one direction, its error counts as one of N: as a whole direction's.
        sound=all(abs(s.checked - 1.0) * min(s.S, 1.0) < 5e-3 for s in states),
    )


def spectral_at(x: float, held: float, S: FloatArray, t: FloatArray) -> tuple[Spectral, Slopes]:
    """All sums of one cut-off from S, t and their derivatives along x."""
    sums = Spectral(x, held, *_powers(S, t), float(t[0]))
    return sums, Slopes(S[1], S[2], S[3], t[1] - t[0], t[2] - t[1], t[3] - t[2])


def _powers(S: FloatArray, t: FloatArray) -> tuple[float, float, float, float, float, float]:
    """B, C, F and A0, A1, A2 from S, S', S'', S''' and t, t', t'', t'''."""
    B, B1, B2 = (S[m] + S[m + 1] for m in range(3))
    C, C1 = B + 0.5 * B1, B1 + 0.5 * B2
    A0, A0_1, A0_2 = (t[m] - t[m + 1] for m in range(3))
    A1, A1_1 = 0.5 * A0_1, 0.5 * A0_2
    return B, C, C + C1 / 3.0, A0, A1, (A1 + A1_1) / 3.0


def _plain(cavity: Cavity, N: float, log_k: float, ridge: float) -> tuple[float, float]:
    """The leading surface of the same cells, and what label noise adds to it."""
    states = [cavity.plain(log_k + STRIDE * i) for i in (-1.5, -0.5, 0.5, 1.5)]
    places = log_k + STRIDE * np.array([-1.5, -0.5, 0.5, 1.5])
    S, t = (np.array([s[i] for s in states]) for i in (0, 1))
    x = log_k
    for _ in range(4):
        value, slope = derivative_weights(places, x, 2) @ S
        held = N * ridge * math.exp(-x)
        x -= max(-0.5, min(0.5, (value + held - N) / (slope - held)))
    d = derivative_weights(places, x, 2)
    held = N * ridge * math.exp(-x)
    lost, free = float((d[0] - d[1]) @ t), held - float(d[1] @ S)
    return N * lost / free, (float(d[0] @ t) - held / free * lost) * math.exp(-x)


def _bracket(cavity: Cavity, N: float, log_k: float, ridge: float) -> int | None:
    """The index i with S + N ridge/k at STRIDE i no less than N and at STRIDE (i+1) below it.

    From log k along rungs, which every N shares, until it lies between two; then where S there suggests.
    """

    def resolved(index: int) -> float:
        held = N * ridge * math.exp(-STRIDE * index)
        return held if held >= N else cavity.at(STRIDE * index).S + held

    lowest = math.ceil((min(cavity.cells.top, log_k) - DEEPEST) / STRIDE) + 2
    inside = outside = max(RUNG * math.floor(log_k / STRIDE / RUNG), lowest)  # S >= N, S < N
    while resolved(outside) >= N:
        inside, outside = outside, outside + RUNG
    while resolved(inside) < N:
        if inside == lowest:
            return None
        inside, outside = max(inside - RUNG, lowest), inside
    while outside - inside > 1:
        low, high = resolved(outside), resolved(inside)
        guess = outside - math.floor((outside - inside) * (N - low) / (high - low))
        guess = min(max(guess, inside + 1), outside - 1)
        inside, outside = (guess, outside) if resolved(guess) >= N else (inside, guess)
    return inside


def _root(states: list[CavityState], N: float, ridge: float) -> float:
    places = np.array([s.log_k for s in states])
    values = np.array([s.S for s in states])
    low, high = places[2], places[3]
    for _ in range(40):
        middle = 0.5 * (low + high)
        held = N * ridge * math.exp(-middle)
        if float(derivative_weights(places, middle, 1)[0] @ values) + held >= N:
            low = middle
        else:
            high = middle
    return float(0.5 * (low + high))
