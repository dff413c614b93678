"""Dense Gaussian inputs with ridge and label noise to the next order, in 1/D and 1/N at once.

Given the data, X X^T = G, the embedding is random and what holds below the rank of sparse inputs holds: with
S(k) = tr G (G+k)^-1 and t(k) = tr Sigma k (G+k)^-1 along x = log k the loss has its terms of order 1/N
(``finite_width``) and those of the scatter of the data (``count_spread``). For Gaussian data both are known
to the next order in 1/D: with k = q (D - f1), f_m = sum v^m/(v+q)^m,

    E log det(1 + G/k) = leading + log(1 - f2/D)/2,
    Cov of two cut-offs = -2 log(1 - P/D),   P = sum f f' = (q f1 - q' f1')/(q - q'),

S is minus its slope along x, and 1 - v_j d/dv_j of it is the j-th diagonal entry of k (G+k)^-1. So

    S = f1 - (f2 - f3)(D - f1)/(D - f2)^2,
    t = q f1 + q/(D - f2) [f3 - f2 (f2 - f3)/(D - f2)],
    Cov(log det, t') = -2 q'/(D - P) [P2 - (P - P2) f2'/(D - f2')],   P2 = sum f f'^2.

Label noise of variance one adds (1 + ridge d/d ridge) tr Sigma Q, tr Sigma Q = t/k at S + N ridge/k = N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.spectrum import VarianceSums
from sparselaw.theory.closure import spectral_at
from sparselaw.theory.count_spread import noise_share, scatter_along, scatter_share
from sparselaw.theory.derivatives import derivative_weights
from sparselaw.theory.gaussian_surface import cutoff

STRIDE, PLACES = 0.5, 6
APART = 0.05  # in the logarithm of the ridge: the step of its derivative
BASE_ERROR = 0.002
UNFELT = 5e-3  # of the cut-off of the data


@dataclass(frozen=True, slots=True)
class RidgeTerms:
    """The loss without its next order, what is added to it, and tr Sigma Q with all orders."""

    leading: float
    finite_size: float
    trace: float
    error: float  # relative, of what is left out


def ridge_terms(spectrum: VarianceSums, N: float, D: float, ridge: float) -> RidgeTerms:
    """At one ridge, N and D anything."""
    places, rows = _places(spectrum, N, D, ridge)
    S, t = (np.array([getattr(row, name) for row in rows]) for name in ("S", "t"))
    x = _root(places, S, N, ridge)
    d = derivative_weights(places, x)
    held = N * ridge * math.exp(-x)
    sums, slopes = spectral_at(x, held, d @ S, d @ t)
    slopes = slopes.with_ridge(held)
    scatter = scatter_along(d, *covariances(rows, D))
    width = sums.width(N)
    share = width.correction / width.leading + scatter_share(scatter, slopes)
    plain = _plain(places, rows, N, ridge)
    loss = width.leading * (1.0 + share)
    k, free = math.exp(x), N - sums.B
    trace = (sums.t - (sums.A1 - sums.A0 * (sums.B - sums.C) / free) / free) / k
    trace += sums.t / k * noise_share(scatter, slopes, sums.t)
    return RidgeTerms(plain, loss - plain, trace, BASE_ERROR + 3.0 * (loss / plain - 1.0) ** 2)


def noise_of_ridge(spectrum: VarianceSums, N: float, D: float, ridge: float) -> float:
    """What label noise of variance one adds: d(ridge tr Sigma Q)/d ridge."""
    high, low = (
        math.exp(step) * ridge_terms(spectrum, N, D, ridge * math.exp(step)).trace for step in (APART, -APART)
    )
    return (high - low) / (2.0 * math.sinh(APART))


def noise_of_none(spectrum: VarianceSums, N: float, D: float) -> float:
    """The same without ridge for N > D + 1: on the line through two ridges that are hardly felt."""
    felt = math.exp(cutoff(spectrum, N, D, 0.0)) * D * (N - D) / N
    once, twice = (noise_of_ridge(spectrum, N, D, part * UNFELT * felt) for part in (1.0, 2.0))
    return 2.0 * once - twice


@dataclass(frozen=True, slots=True)
class Row:
    """The sums of one cut-off."""

    q: float
    f1: float
    f2: float
    f3: float
    S: float
    t: float


def _places(spectrum: VarianceSums, N: float, D: float, ridge: float) -> tuple[FloatArray, list[Row]]:
    """Cut-offs about that of the leading surface."""
    log_q = cutoff(spectrum, N, D, ridge)
    f1 = spectrum.degrees(log_q)[0]  # k = q (D - f1) = N ridge/(N - f1), and one of the two is no rounding
    if N < D:
        middle = log_q + math.log(max(D - f1, 1e-12 * D))
    else:
        middle = math.log(ridge * N / max(N - f1, 1e-12 * N))
    places: FloatArray = middle + STRIDE * (np.arange(PLACES, dtype=float) - 0.5 * (PLACES - 1))
    return places, [row_of(spectrum, D, float(x)) for x in places]


def row_of(spectrum: VarianceSums, D: float, x: float) -> Row:
    log_q = cutoff(spectrum, math.inf, D, math.exp(x))
    f1, spread = spectrum.degrees(log_q)
    q, f2, f3 = math.exp(log_q), f1 - spread, spectrum.cubes(log_q)
    free, open_ = math.exp(x - log_q), D - f2  # D - f1
    S = f1 - (f2 - f3) * free / open_**2
    t = q * f1 + q / open_ * (f3 - f2 * (f2 - f3) / open_)
    return Row(q, f1, f2, f3, S, t)


def covariances(rows: list[Row], D: float) -> tuple[FloatArray, FloatArray]:
    """Cov of log det with log det, and of log det (rows) with t (columns)."""
    q, f1, f2, f3 = (np.array([getattr(row, name) for row in rows]) for name in ("q", "f1", "f2", "f3"))
    gap = np.subtract.outer(q, q)
    np.fill_diagonal(gap, 1.0)
    weighed = q * f1
    P = np.subtract.outer(weighed, weighed) / gap
    np.fill_diagonal(P, f2)
    # P2 = P + q' dP/dq', with q' df1'/dq' = f2' - f1'
    P2 = P + (P - f2) * q / gap
    np.fill_diagonal(P2, f3)
    return -2.0 * np.log1p(-P / D), -2.0 * q / (D - P) * (P2 - (P - P2) * f2 / (D - f2))


def _root(places: FloatArray, S: FloatArray, N: float, ridge: float) -> float:
    x = float(places.mean())
    for _ in range(30):
        value, slope = derivative_weights(places, x, 2) @ S
        held = N * ridge * math.exp(-x)
        step = (value + held - N) / (slope - held)
        x -= max(-STRIDE, min(STRIDE, step))
        if abs(step) < 1e-12:
            break
    return x


def _plain(places: FloatArray, rows: list[Row], N: float, ridge: float) -> float:
    """The leading surface from the same places."""
    S, t = np.array([row.f1 for row in rows]), np.array([row.q * row.f1 for row in rows])
    x = _root(places, S, N, ridge)
    d = derivative_weights(places, x)
    return spectral_at(x, N * ridge * math.exp(-x), d @ S, d @ t)[0].width(N).leading
