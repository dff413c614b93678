"""The loss of nonlinear features of dense Gaussian inputs: N-limited, D-limited, and between.

Features and samples play the same part. With r = nu/(K + nu) of the kernel K, tr(1 - r) = D and
b = tr (1 - r)^2, D samples leave

    L_D = sum_j <x_j, r^2 x_j> / (1 - b/D),    N > D: loss = L_D + sum_j <x_j, r x_j> D/(N - D - 1).

Where the odd part of f is linear each x_j has one eigenvalue, v_j/4, and the sums over coordinates are in
closed form; the tables have the even part alone. Where it is not, the coordinates are vectors among others.
N features see types too (``width_limit``), which samples do as well but hardly matter there.

**N < D** (``excess``): what D samples cost N features, by the leverages and residuals of fresh samples. Given
the units, let S = E phi phi^T, e^2(x) the squared error of the best readout on endless data at a
sample, summed over the targets x_j, and q(x) = phi^T S^-1 phi/N the sample's leverage, one on average. A
readout that is fitted to D samples has, by leaving one of them out (phi^T (sum of the others)^-1 phi = q d,
d a number),

    loss = L_N + d E[e^2 q/(1 + q d)^2] / E[q/(1 + q d)^2],        D E[q d/(1 + q d)] = N.

Gaussian features have q = 1 and L_N D/(D - N), exactly L_N (1 + N/(D - N - 1)): so D - 1 stands for D here.
Samples of a large norm have both a large q and a large e, and far from the peak the excess is h N/(D - N) of
L_N with h = E[e^2 q]/E e^2. The law of (q, e^2) is drawn; S, and so q and e, are exact for the units drawn.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.nonlinear.gaussian_tables import (
    FINER,
    FURTHER,
    LEVELS,
    MAIN_NODES,
    NODES,
    dense_table,
    level_of,
)
from sparselaw.nonlinear.response import Response
from sparselaw.nonlinear.sector_tables import unit_types
from sparselaw.nonlinear.table_cache import cached_arrays
from sparselaw.nonlinear.width_limit import (
    NonlinearLimit,
    WidthLimit,
    between_nodes,
    degrees,
    total_variance,
    width_limit,
)
from sparselaw.search import solve_decreasing

MOST_DIRECTIONS = LEVELS[-1].most  # directions that the points resolve
MOST_TYPED = LEVELS[0].most  # and that they resolve with types
SHARED = 0.3  # of what further types change: how far off that may be
ALIKE = 0.15  # of what the points leave out
CURVED_ALIKE = 0.7  # the same for a curved odd part: large samples weigh much there, and are few
DATA_ERROR = 0.07

# The law of samples' leverages.
WIDTHS = (8, 16, 32, 64, 128, 256)  # numbers of units that are drawn; others lie between them
UNITS, FRESH = 8, 2000  # draws of units, and of samples for each
DRAWN_LENGTH = 300  # coordinates of a sample; the others are together one Gaussian number for each unit
JITTER = 1e-12  # of the mean eigenvalue of S


def gaussian_features_limit(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The loss of N features with all the data there are, between those of two nodes."""
    return between_nodes(lambda node: gaussian_limit_at(inputs, response, node), N)


@functools.lru_cache(maxsize=4096)
def gaussian_limit_at(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The same at N itself; beyond MOST_TYPED the exponent there goes on."""
    if N > MOST_TYPED:
        half, last = (gaussian_limit_at(inputs, response, size) for size in (MOST_TYPED / 2.0, MOST_TYPED))
        return last.continued(half, N)
    level, cutoff = level_of(N), _cutoff(inputs, response, N)
    n, q = level.main

    def limit(n: int, q: int, other: int, nodes: tuple[int, int], missing: float = 0.0) -> WidthLimit:
        table = dense_table(inputs, response.parts, n, q, unit_types(True, other, nodes))
        return width_limit(inputs, table, N, response.even_weight, missing, cutoff)

    others = (j for j in FURTHER if j <= inputs.dimension)
    first, *changed = (limit(*level.coarse, j, NODES).loss for j in (0, *others))
    further = sum(math.log(other / first) for other in changed)
    if response.slope is not None:
        coarse, fine = (_table_sums(inputs, response, k * n, q, cutoff).spent for k in (1, FINER))
        missing = (fine + (fine - coarse) / (FINER - 1.0)) / coarse - 1.0
        plain = limit(n, q, 0, MAIN_NODES, missing)
        loss, own = plain.loss, math.hypot(ALIKE * missing, 0.015)
    else:  # what the points leave out falls as 1/n
        main, plain = (limit(k * n, q, 0, MAIN_NODES) for k in (1, FINER))
        loss = _many_points(main.loss, plain.loss)
        own = math.hypot(CURVED_ALIKE * math.log(loss / main.loss), 0.03)
    error = math.hypot(own, SHARED * further, 0.5 * plain.correction)
    return NonlinearLimit(size=N, loss=loss * math.exp(further), error=error, linear=plain.linear)


@functools.lru_cache(maxsize=4096)
def gaussian_data_limit(inputs: Inputs, response: Response, D: float) -> NonlinearLimit:
    """The loss of infinitely many features on D samples."""
    if D > MOST_DIRECTIONS:
        half, last = (
            gaussian_data_limit(inputs, response, size) for size in (MOST_DIRECTIONS / 2.0, MOST_DIRECTIONS)
        )
        return last.continued(half, D)
    cutoff = _cutoff(inputs, response, D)
    found, error = _resolved(inputs, response, D, cutoff), DATA_ERROR
    if response.slope is None:
        points = math.log(found.twice / _table_sums(inputs, response, *level_of(D).main, cutoff).twice)
        error = math.hypot(CURVED_ALIKE * points, 0.05)
    loss = found.twice / (1.0 - found.squares / D)
    return NonlinearLimit(size=D, loss=loss, error=error, linear=found.spent)


def gaussian_variance_term(inputs: Inputs, response: Response, D: float) -> float:
    """sum_j <x_j, r x_j>: what finitely many features add above the peak, in units of D/(N - D - 1)."""
    size = min(D, MOST_DIRECTIONS)
    once = _resolved(inputs, response, size, _cutoff(inputs, response, size)).once
    if D <= MOST_DIRECTIONS:
        return once
    now, last = (gaussian_data_limit(inputs, response, at).loss for at in (D, MOST_DIRECTIONS))
    return now / last * once


@functools.lru_cache(maxsize=4096)
def _cutoff(inputs: Inputs, response: Response, size: float) -> float:
    """nu with tr f = size."""

    def spent(log_nu: float) -> tuple[float, float]:
        found = _resolved(inputs, response, size, math.exp(log_nu))
        return found.spent, found.squares - found.spent

    return math.exp(solve_decreasing(spent, size, -1.5 * math.log(size) - math.log(4.0)))


class Resolved(NamedTuple):
    """Sums at one cut-off: tr f, tr f^2, what r and what r^2 leave of the coordinates; f = 1 - r."""

    spent: float
    squares: float
    once: float
    twice: float


def _resolved(inputs: Inputs, response: Response, size: float, cutoff: float) -> Resolved:
    """In the limit of many points; the error goes as 1/n."""
    n, q = level_of(size).main
    pairs = zip(*(_table_sums(inputs, response, k * n, q, cutoff) for k in (1, FINER)), strict=True)
    found = Resolved(*(_many_points(*pair) for pair in pairs))
    if response.slope is None:
        return found
    k = 4.0 * cutoff  # the slope is 1/2
    one, two, _ = degrees(inputs, size, k).tolist()
    return Resolved(found.spent + one, found.squares + two, k * one, k * (one - two))


def _many_points(coarse: float, fine: float) -> float:
    return max(fine + (fine - coarse) / (FINER - 1.0), 0.3 * fine)


def _table_sums(inputs: Inputs, response: Response, n: int, q: int, cutoff: float) -> Resolved:
    """Of the table on n points: of the even part alone where the odd one is linear."""
    values, often, weights = _eigen(inputs, response, n, q)
    total, r = total_variance(inputs), cutoff / (np.maximum(values, 0.0) + cutoff)
    once, twice = total - weights @ (1.0 - r), total - weights @ (1.0 - r**2)
    return Resolved(float(often @ (1.0 - r)), float(often @ (1.0 - r) ** 2), float(once), float(twice))


@functools.lru_cache(maxsize=32)
def _eigen(inputs: Inputs, response: Response, n: int, q: int) -> list[FloatArray]:
    """Without types: eigenvalues, how often each occurs, what of the coordinates' variance lies along it."""
    table = dense_table(inputs, response.parts, n, q, unit_types(False))
    rows = []
    for group in table.groups:
        found, vectors = np.linalg.eigh(group.mean(table.types.weights))
        along = np.zeros_like(found)
        if group.target is not None:
            along = group.alike[:, None] * np.einsum("cij,ci->cj", vectors, group.target) ** 2
        often = np.repeat(group.alike, found.shape[1])
        rows.append((response.even_weight * found.ravel(), often, along.ravel()))
    return [np.concatenate(column) for column in zip(*rows, strict=True)]


def excess(inputs: Inputs, response: Response, N: float, D: float) -> tuple[float, float]:
    """loss/L_N - 1 of N features trained on D samples, and how far off it may be.

    Infinite for N >= D - 1. Between two numbers of units that are drawn it is linear in log N. The second is
    how far it is from h N/(D - N - 1): residuals are no noise, which both forms leave out; where a few large
    samples hold most of what is left, the loss was seen on either side of them.
    """
    if N >= D - 1.0:
        return math.inf, math.inf
    place = float(np.interp(math.log(N), np.log(WIDTHS), np.arange(len(WIDTHS))))
    low = min(int(place), len(WIDTHS) - 2)
    laws = [leverages(inputs, response, WIDTHS[i]) for i in (low, low + 1)]
    one, two = (_excess(law, N, D - 1.0) for law in laws)
    h_one, h_two = (float(law.q @ law.residual) / law.q.size for law in laws)
    value, h = one + (place - low) * (two - one), h_one + (place - low) * (h_two - h_one)
    return value, abs(value - h * N / (D - N - 1.0))


class Leverages(NamedTuple):
    """Drawn samples: the leverage q and e^2; of ``leverages`` both are one on average."""

    q: FloatArray
    residual: FloatArray


def _excess(of: Leverages, N: float, D: float) -> float:
    q = of.q

    def unresolved(log_d: float) -> tuple[float, float]:
        """D - N: a decreasing function of d."""
        part = 1.0 / (1.0 + q * math.exp(log_d))
        return D * float(part.mean()), -D * float(np.mean(part * (1.0 - part)))

    d = math.exp(solve_decreasing(unresolved, D - N, math.log(N / (D - N))))
    weight = q / (1.0 + q * d) ** 2
    return d * float(weight @ of.residual) / float(weight.sum())


@functools.lru_cache(maxsize=64)
def leverages(inputs: Inputs, response: Response, N: int) -> Leverages:
    """Drawn with a fixed seed."""

    def draw() -> dict[str, FloatArray]:
        rng, length = np.random.default_rng(20261118), int(min(inputs.dimension, DRAWN_LENGTH))
        laws = [of_units(inputs, response, rng.standard_normal((N, length)), rng) for _ in range(UNITS)]
        q, residual = (np.concatenate(column) for column in zip(*laws, strict=True))
        return {"q": q / q.mean(), "residual": residual / residual.mean()}

    kept = cached_arrays("leverages", inputs, [response.digest], [N, UNITS, FRESH, DRAWN_LENGTH], draw)
    return Leverages(kept["q"], kept["residual"])


def of_units(inputs: Inputs, response: Response, u: FloatArray, rng: np.random.Generator) -> Leverages:
    """q and e^2 of fresh samples for units u (N, coordinates), which look at further coordinates too."""
    N, length = u.shape
    v = inputs.variances(np.arange(1.0, length + 1.0))
    rest = max(total_variance(inputs) - float(v.sum()), 0.0) if inputs.dimension > length else 0.0
    covariance = (u * v) @ u.T + rest * np.eye(N)  # of u x
    variance = np.diag(covariance)
    moments = response.kernel(variance[:, None], variance[None, :], covariance)
    factor = np.linalg.cholesky(moments + JITTER * np.trace(moments) / N * np.eye(N))
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    deviations = np.sqrt(variance)
    slopes = (response.apply(deviations[:, None] * nodes) * nodes) @ (weights / weights.sum()) / deviations
    readout = np.linalg.solve(factor, slopes[:, None] * u * v)  # E phi_i x_j = E f'(u_i x) u_ij v_j (Stein)
    x = rng.standard_normal((FRESH, length)) * np.sqrt(v)
    z = x @ u.T + math.sqrt(rest) * rng.standard_normal((FRESH, N))
    white = np.linalg.solve(factor, response.apply(z).T)
    residual = np.sum((x - white.T @ readout) ** 2, axis=1) + rest
    return Leverages(q=np.sum(white**2, axis=0) / N, residual=residual)
