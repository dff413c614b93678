"""The loss surface of inputs with independent activations, in closed form.

Sparse data make the Gram matrix of the seen coordinates nearly diagonal, g_j = n_j c_j. For a diagonal
Gram the random embedding acts as a ridge: the effective cut-off k solves

    ridge = k (1 - (1/N) E sum_j g_j / (g_j + k)),

and the loss is  k^2 A N / (N - B)  plus the label noise's share, with A = E sum s_j/(g_j+k)^2 and B = E
sum g_j^2/(g_j+k)^2. Without ridge, k > 0 while N is below the number K of coordinates seen, and k = 0
above it, where the loss is the unseen variance times N/(N - K): the double-descent peak stands at N = K.
"""

from __future__ import annotations

import math

from sparselaw.sums.counts import CountSums
from sparselaw.sums.roots import solve_decreasing
from sparselaw.theory.surface_value import SurfaceValue

NOISE_DIVERGES = (
    "label noise is fitted through seen coordinates of vanishing amplitude: "
    "its mean diverges for infinite dimension when alpha2 >= alpha1 - 1"
)


def count_loss(sums: CountSums, N: float, seen: float, ridge: float, noise: float) -> SurfaceValue:
    """The loss of N features, given the sums for D samples and the expected number of coordinates seen."""
    if ridge == 0.0 and N == seen:
        return SurfaceValue(
            math.inf, -math.inf, "N equals the number of coordinates seen: the double-descent peak"
        )
    if ridge == 0.0 and N > seen:
        return _interpolating(sums, N, seen, noise)
    log_k = _cutoff(sums, N, ridge)
    s = sums.at(log_k)
    slack = s.partial + (math.exp(math.log(N * ridge) - log_k) if ridge > 0.0 else 0.0)  # N - B
    if slack <= 0.0:
        return SurfaceValue(math.inf, log_k, "sizes beyond the range of floating-point numbers")
    loss = s.lost * N / slack
    if noise > 0.0:
        log_fitted = math.log(s.lost * s.partial / slack) - log_k
        if log_fitted > 700.0:
            return SurfaceValue(math.inf, log_k, NOISE_DIVERGES)
        loss += noise * (s.noise + math.exp(log_fitted))
    return SurfaceValue(loss, log_k)


def _interpolating(sums: CountSums, N: float, seen: float, noise: float) -> SurfaceValue:
    """N > K without ridge: k = 0."""
    unseen = sums.unseen_variance()
    loss = unseen * N / (N - seen)
    if noise > 0.0:
        trace = sums.inverse_gram_trace()
        if math.isinf(trace):
            return SurfaceValue(math.inf, -math.inf, NOISE_DIVERGES)
        loss += noise * (sums.noise_ridgeless() + unseen * trace / (N - seen))
    return SurfaceValue(loss, -math.inf)


def _cutoff(sums: CountSums, N: float, ridge: float) -> float:
    """log k from  E sum g/(g+k) + N ridge/k = N."""
    pull = math.log(N * ridge) if ridge > 0.0 else -math.inf

    def degrees(log_k: float) -> tuple[float, float]:
        s = sums.at(log_k)
        shrinkage = math.exp(min(pull - log_k, 700.0))
        return s.degrees + shrinkage, -s.partial - shrinkage

    start = sums.first_cutoff(N)
    return solve_decreasing(degrees, N, max(start, math.log(ridge)) if ridge > 0.0 else start)
