"""How N and D are coupled in the theory's own surfaces: the coupled law fitted to them.

    L = [(A N^-alpha)^(1/g) + (B D^-beta)^(1/g)]^g

g = 1 is a sum of two terms, g -> 0 the larger of the two alone. Real runs have g between 0.2 and 0.8. Each
variant here is a way of training: to the end without a ridge (away from the peak), with the best ridge, SGD
with one pass or many, on sparse or dense inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import DenseInputs, Inputs, SparseInputs
from sparselaw.laws import CoupledLaw
from sparselaw.nonlinear.width_limit import total_variance
from sparselaw.theory.surface import loss_at, peak_of, ridge_losses
from sparselaw.theory.training.passes import loss_of_visits
from sparselaw.theory.training.schedule import Descent

STEP = 0.5  # times that of 1/E|phi|^2, at which SGD begins to be loud
MANY = 64.0
NEAR_PEAK = 2.0  # min-norm points with N within this factor of the peak are left out
SPARSE_SIZES = (np.geomspace(30.0, 3e3, 5), np.geomspace(1e3, 1e8, 6))
DENSE_SIZES = (np.geomspace(100.0, 3e4, 6), np.geomspace(100.0, 3e4, 6))

Loss = Callable[[float, float], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupling:
    """The coupled law of one surface; ``rms`` is what it leaves, in the logarithm."""

    variant: str
    law: CoupledLaw
    rms: float
    points: int


def _best_ridge(inputs: Inputs, N: float, D: float) -> float:
    loss = ridge_losses(inputs, N, D, 0.0)
    grid = np.linspace(math.log(1e-9), math.log(10.0), 12) + math.log(D)
    values = [loss(math.exp(x)) for x in grid]
    i = int(np.clip(np.argmin(values), 1, grid.size - 2))
    # The lowest point of the parabola through three.
    left, middle, right = (math.log(v) for v in values[i - 1 : i + 2])
    bend = left - 2.0 * middle + right
    shift = 0.5 * (left - right) / bend if bend > 0.0 else 0.0
    at = grid[i] + max(-1.0, min(1.0, shift)) * (grid[1] - grid[0])
    return min(*values, loss(math.exp(at)))


def _min_norm(inputs: Inputs, N: float, D: float) -> float:
    peak = peak_of(inputs)[1](D)
    if max(N / peak, peak / N) < NEAR_PEAK:
        return math.nan
    return loss_at(inputs, N, D)


def _sgd(inputs: Inputs, N: float, D: float, passes: float) -> float:
    if passes > 1.0 and inputs.power_law().seen_exponent == 1.0 and max(N / D, D / N) < NEAR_PEAK:
        return math.nan
    step = STEP / total_variance(inputs)
    return loss_of_visits(inputs, N, passes * D, D, Descent(step=step, passes=1, batch=1))


VARIANTS: dict[str, Callable[[Inputs, float, float], float]] = {
    "best ridge": _best_ridge,
    "minimum norm, away from the peak": _min_norm,
    "one pass": lambda inputs, N, D: _sgd(inputs, N, D, 1.0),
    f"{MANY:g} passes": lambda inputs, N, D: _sgd(inputs, N, D, MANY),
}


def inputs_for(alpha_N: float, alpha_D: float) -> Inputs:
    """Sparse inputs whose finished exponents are these; dense where alpha_D is as large as alpha_N."""
    if alpha_N <= 1.02 * alpha_D:
        return DenseInputs(alpha=alpha_N, dimension=math.inf)
    alpha1 = alpha_N / alpha_D - 1.0
    return SparseInputs(alpha1=alpha1, alpha2=alpha_N - alpha1 - 1.0)


def coupling_of(inputs: Inputs, variant: str) -> Coupling:
    """The coupled law fitted to the surface of one way of training these inputs."""
    sizes = DENSE_SIZES if inputs.power_law().seen_exponent == 1.0 else SPARSE_SIZES
    N, D = (x.ravel() for x in np.meshgrid(*sizes))
    loss = np.array([VARIANTS[variant](inputs, float(n), float(d)) for n, d in zip(N, D, strict=True)])
    kept = np.isfinite(loss) & (loss > 0.0)
    return fit_coupled(variant, N[kept], D[kept], loss[kept], inputs)


def fit_coupled(variant: str, N: FloatArray, D: FloatArray, loss: FloatArray, inputs: Inputs) -> Coupling:
    """Least squares in the logarithm, from several g; no floor."""
    from scipy.optimize import least_squares

    power = inputs.power_law()
    x, y, target = np.log(N), np.log(D), np.log(loss)

    def law(theta: FloatArray) -> CoupledLaw:
        A, B, alpha, beta, g = (float(np.exp(value)) for value in theta)
        return CoupledLaw(E=0.0, A=A, B=B, alpha=alpha, beta=beta, g=g)

    def misfit(theta: FloatArray) -> FloatArray:
        return np.asarray(np.log(law(theta).loss_of_logs(x, y)) - target)

    best = None
    for g in (0.3, 0.6, 1.2):
        middle = float(np.mean(target))
        start = np.array([
            middle + power.alpha_N * float(x.mean()), middle + power.alpha_D * float(y.mean()),
            math.log(power.alpha_N), math.log(power.alpha_D), math.log(g),
        ])  # fmt: skip
        found = least_squares(misfit, start)
        if best is None or found.cost < best.cost:
            best = found
    assert best is not None
    rms = math.sqrt(2.0 * float(best.cost) / target.size)
    return Coupling(variant=variant, law=law(best.x), rms=rms, points=int(target.size))
