"""What holds at one cut-off, below the rank or with a ridge: leading surface, closure, and the next terms."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from sparselaw.theory.closure import DEEPEST, STRIDE, closure
from sparselaw.theory.count_setting import CountSetting
from sparselaw.theory.count_spread import independent_scatter, noise_share, scatter_share
from sparselaw.theory.finite_width import diagonal_sums
from sparselaw.theory.surface_value import SurfaceValue

ALMOST_APART = 0.03  # share of co-activation up to which coordinates scatter on their own


@dataclass(frozen=True, slots=True)
class Below:
    """The surface below the rank or with a ridge, and the relative size of its next terms."""

    leading: float
    loss: float  # with co-activation
    width_share: float  # of order 1/N
    scatter: float
    near: float  # Var S/(rank - N)^2: what the scatter does near the peak
    noise: float  # what label noise of variance one adds, with co-activation
    noise_width: float
    noise_scatter: float
    luck: float | None = None  # variance of the log of the loss at one S over data
    found: bool = True


@functools.lru_cache(maxsize=512)
def below_rank(setting: CountSetting, N: float, ridge: float = 0.0) -> Below:
    """Leading surface, and closure where rare coordinates share samples."""
    value, noise = setting.leading(N, ridge), setting.leading.noise(N, ridge)
    found = None
    if setting.crowded:
        start = value.log_cutoff if math.isfinite(value.log_cutoff) else setting.cavity.cells.top
        found = closure(setting.cavity, setting.scatter, N, start, ridge)
    if found is None or setting.share < ALMOST_APART:
        apart = _coordinates_apart(setting, N, ridge, value, noise)
        if found is None:
            return apart
    width, of_noise = found.sums.width(N), found.sums.noise(N)
    gap = N - found.sums.B if ridge > 0.0 else setting.rank.mean - N
    return Below(
        leading=value.loss,
        loss=value.loss * found.over_plain,
        width_share=float(width.correction / width.leading),
        scatter=found.scatter,
        near=found.variance / gap**2,
        noise=noise * found.noise_over_plain,
        noise_width=float(of_noise.correction / of_noise.leading),
        noise_scatter=found.noise_scatter,
        luck=apart.luck if setting.share < ALMOST_APART else None,
        found=found.sound and found.over_plain > 0.0,
    )


def _coordinates_apart(
    setting: CountSetting, N: float, ridge: float, value: SurfaceValue, noise: float
) -> Below:
    """Without closure: the Gram matrix is diagonal."""
    points = setting.points
    g = points.c[points.coordinate] * points.n
    f = np.asarray(g / (g + math.exp(value.log_cutoff)))
    s = (points.p * points.c)[points.coordinate]
    held = N * ridge * math.exp(-value.log_cutoff) if ridge > 0.0 else 0.0
    sums = diagonal_sums(points.point_weight, s, f, value.log_cutoff, held)
    width, of_noise = sums.width(N), sums.noise(N)
    scatter, slopes = independent_scatter(points.coordinate, points.weight, points.probability, s, f)
    slopes = slopes.with_ridge(held)
    gap = N - sums.B if ridge > 0.0 else setting.rank.mean - N
    return Below(
        leading=value.loss,
        loss=value.loss,
        width_share=width.correction / width.leading,
        scatter=scatter_share(scatter, slopes),
        near=scatter.V / gap**2,
        noise=noise,
        noise_width=of_noise.correction / of_noise.leading,
        noise_scatter=noise_share(scatter, slopes, sums.t),
        luck=max(scatter.U - scatter.c0**2 / max(scatter.V, 1e-300), 0.0) / slopes.M**2,
        found=not setting.crowded,
    )


@functools.lru_cache(maxsize=128)
def seen_traces(setting: CountSetting) -> tuple[float, float]:
    """tr Sigma G^+ and tr G^+ of the coordinates seen: t and S at a vanishing cut-off, along k."""
    of_seen, of_all = setting.sums.noise_ridgeless(), setting.sums.inverse_gram_trace()
    if not setting.crowded or not math.isfinite(of_all):
        return of_seen, of_all
    x = setting.cavity.cells.top - 0.6 * DEEPEST
    shared = [setting.cavity.at(x + STRIDE * i) for i in (0, 1)]
    plain = [setting.cavity.plain(x + STRIDE * i) for i in (0, 1)]
    ratios = (
        (shared[1].t - shared[0].t) / (plain[1][1] - plain[0][1]),
        (shared[1].S - shared[0].S) / (plain[1][0] - plain[0][0]),
    )
    return of_seen * ratios[0], of_all * ratios[1]
