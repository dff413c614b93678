"""What D samples cost N features of dense inputs, N < D: the leverages and residuals of fresh samples.

Given the units, let S = E phi phi^T, e^2(x) the squared error of the best readout on endless data at a
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
from typing import Any, NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.nonlinear.response import Response
from sparselaw.nonlinear.table_cache import cached_arrays
from sparselaw.nonlinear.variance_sums import variance_sums
from sparselaw.search import solve_decreasing

WIDTHS = (8, 16, 32, 64, 128, 256)  # numbers of units that are drawn; others lie between them
UNITS, FRESH = 8, 2000  # draws of units, and of samples for each
LONG = 300  # coordinates of a sample; the others are together one Gaussian number for each unit
JITTER = 1e-12  # of the mean eigenvalue of S


class Leverages(NamedTuple):
    """Drawn samples: the leverage q, one on average, and e^2 over its mean."""

    q: FloatArray
    residual: FloatArray


def excess(inputs: Inputs, response: Response, N: float, D: float) -> tuple[float, float]:
    """loss/L_N - 1 of N features trained on D samples, and how far off it may be.

    Parameters
    ----------
    inputs : Inputs
        Dense inputs.
    response : Response
        The activation.
    N, D : float
        Numbers of features and of samples, real numbers.

    Returns
    -------
    value : float
        Infinite for N >= D - 1. Between two numbers of units that are drawn it is linear in log N.
    unsure : float
        How far it is from h N/(D - N - 1). Residuals are no noise, which both forms leave out: where a few
        large samples hold most of what is left, the loss was seen on either side of them.
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
    """Drawn with a fixed seed and kept, since it takes some tenths of a second."""
    identity = {
        "leverages": [inputs.kind, {k: repr(v) for k, v in inputs.parameters().items()}],
        "drawn": [N, UNITS, FRESH, LONG],
        **response.identity,
    }
    found = cached_arrays(identity, lambda: _drawn(inputs, response, N))
    return Leverages(q=np.asarray(found["q"]), residual=np.asarray(found["residual"]))


def _drawn(inputs: Inputs, response: Response, N: int) -> dict[str, Any]:
    rng = np.random.default_rng(20261118)
    length = int(min(inputs.dimension, LONG))
    found = [of_units(inputs, response, rng.standard_normal((N, length)), rng) for _ in range(UNITS)]
    q, residual = np.concatenate([law.q for law in found]), np.concatenate([law.residual for law in found])
    return {"q": q / q.mean(), "residual": residual / residual.mean()}


def of_units(inputs: Inputs, response: Response, u: FloatArray, rng: np.random.Generator) -> Leverages:
    """q and e^2 of fresh samples for units u (N, coordinates), which look at further coordinates too."""
    N, length = u.shape
    v = inputs.variances(np.arange(1.0, length + 1.0))
    rest = max(variance_sums(inputs, 1.0).total() - float(v.sum()), 0.0) if inputs.dimension > length else 0.0
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
