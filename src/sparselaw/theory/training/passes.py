"""From few passes to many: the crossover along the number of passes, and what repeated samples are worth.

For N infinite the loss is one function of pi = eps P D^-x, x = (alpha2+1)/(alpha1+1):

    loss = D^-alpha_D Phi(pi),   Phi(pi) = int dz z^-a exp[-z^-(alpha1+1) (1 - exp(-2 pi z^-(alpha2+1)))],

a = alpha1+alpha2+2, as D grows. Few passes (pi small): loss ~ (eps V)^-(a-1)/a, V the samples visited; only
the variances matter, and alpha1 and alpha2 are not told apart. Trained to the end (pi large): the surface. In
between, over about three decades of pi, the exponent of D runs smoothly from (a-1)/a to (a-1)/(alpha1+1).

Repeated samples are worth the fresh ones of one pass that would give the same loss.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sparselaw.errors import check_positive
from sparselaw.gram.nodes import panels
from sparselaw.inputs import Inputs
from sparselaw.theory.training.schedule import Descent
from sparselaw.theory.training.unfinished import train

PASSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
_NEGLIGIBLE = 45.0  # e^-45 of the integrand


def crossover(inputs: Inputs, pi: float) -> float:
    """Phi(pi).

    >>> from sparselaw.inputs import SparseInputs
    >>> inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> round(crossover(inputs, 1e9) / inputs.power_law().data_constant, 6)
    1.0
    """
    return _crossover(inputs, pi)[0]


def local_exponent(inputs: Inputs, pi: float) -> float:
    """-dln loss/dln D at a fixed number of passes: alpha_D + x dln Phi/dln pi.

    >>> from sparselaw.inputs import SparseInputs
    >>> inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> [round(local_exponent(inputs, pi), 3) for pi in (0.001, 0.1, 10.0)]
    [0.701, 0.764, 1.15]
    """
    law = inputs.power_activations()
    return inputs.power_law().alpha_D - law.growth / law.decay * _crossover(inputs, pi)[1]


def _crossover(inputs: Inputs, pi: float) -> tuple[float, float]:
    """Phi and dln Phi/dln pi, by an integral over y = log z."""
    pi, law, a = check_positive("pi", pi), inputs.power_activations(), inputs.power_law().spectrum
    # Below ``low`` the exponential is nothing; beyond ``high`` nothing is learned and the rest is a power.
    low = min(-math.log(_NEGLIGIBLE) / law.decay, (math.log(2.0 * pi) - math.log(_NEGLIGIBLE)) / a) - 1.0
    high = _NEGLIGIBLE / (a - 1.0) + max(0.0, math.log(2.0 * pi) / a)
    y, w = panels(low, high, max(law.decay, abs(law.growth), a))
    worn = 2.0 * pi * np.exp(law.growth * y)
    value = w * np.exp((1.0 - a) * y + np.exp(-law.decay * y) * np.expm1(-worn))
    slope = -np.exp(-law.decay * y - worn) * worn
    return float(value.sum()), float(value @ slope) / float(value.sum())


def few_pass_exponent(inputs: Inputs) -> float:
    """(a-1)/a: the same for dense inputs with these variances."""
    return (inputs.power_law().spectrum - 1.0) / inputs.power_law().spectrum


def passes_to_finish(inputs: Inputs, D: float, sample_step: float) -> float:
    """P* = D^x/eps, where pi = 1."""
    law = inputs.power_activations()
    return math.pow(D, -law.growth / law.decay) / sample_step


def most_epochs(inputs: Inputs, D: float, sample_step: float, kappa: float = 0.0) -> float:
    """E_max: D samples repeated without end are worth E_max D fresh ones of one pass, N infinite.

    E_max = pi_p (1-kappa)^(-a/(a-1)) D^x/eps, pi_p = (1/2) [a Gamma(alpha_D) / ((alpha1+1)
    Gamma(1-1/a))]^(-a/(a-1)): it grows with D.

    >>> from sparselaw.inputs import SparseInputs
    >>> [round(most_epochs(SparseInputs(alpha1=p, alpha2=q), 1.0, 1.0), 3) for p, q in [(1, 0.3), (2, 0)]]
    [0.394, 0.447]
    """
    a, law = inputs.power_law().spectrum, inputs.power_activations()
    ends = a * math.gamma(inputs.power_law().alpha_D) / (law.decay * math.gamma(1.0 - 1.0 / a))
    plateau = 0.5 * math.pow(ends, -a / (a - 1.0))
    return plateau * math.pow(1.0 - kappa, -a / (a - 1.0)) * passes_to_finish(inputs, D, sample_step)


class Repeated(NamedTuple):
    """``epochs``: D samples passed over ``passes`` times are worth ``epochs`` D fresh ones."""

    passes: float
    loss: float
    epochs: float


def loss_of_visits(
    inputs: Inputs, N: float, visits: float, unique: float, descent: Descent, noise: float = 0.0
) -> float:
    """The loss after ``visits`` samples, of which ``unique`` are different: the quasi-static form."""
    D = min(unique, visits)
    return train(inputs, N, D, replace(descent, passes=visits / D), noise, "quasi-static", judged=False).loss


def effective_data(
    inputs: Inputs, N: float, loss: float, descent: Descent, noise: float = 0.0, *, start: float
) -> float:
    """The fresh samples of one pass that give this loss; infinite where no number of them does."""
    from scipy.optimize import brentq

    low, high = math.log(start) - 3.0, math.log(start) + 3.0

    def above(x: float) -> float:
        return math.log(loss_of_visits(inputs, N, math.exp(x), math.inf, descent, noise) / loss)

    while above(low) <= 0.0 and low > 0.0:
        low -= 3.0
    while above(high) > 0.0:
        high += 3.0
        if high > math.log(1e30):
            return math.inf
    return math.exp(brentq(above, low, high, xtol=1e-10)) if above(low) > 0.0 else math.exp(low)


def worth_of_passes(
    inputs: Inputs,
    N: float,
    D: float,
    descent: Descent,
    noise: float = 0.0,
    passes: tuple[float, ...] = PASSES,
) -> list[Repeated]:
    """Loss and worth after each number of passes over D samples."""
    found, start = [], D
    for many in passes:
        loss = loss_of_visits(inputs, N, many * D, D, descent, noise)
        worth = effective_data(inputs, N, loss, descent, noise, start=start)
        start = worth if math.isfinite(worth) else start
        found.append(Repeated(many, loss, worth / D))
    return found


def decay_of_worth(found: list[Repeated]) -> float:
    """R of the data-constrained law, epochs = 1 + R (1 - e^(-(P-1)/R)), by least squares in the logarithm."""
    passes, _, epochs = np.array(found).T
    R = np.exp(np.linspace(-3.0, 20.0, 461))[:, None]
    miss = np.sum((np.log(1.0 - R * np.expm1(-(passes - 1.0) / R)) - np.log(epochs)) ** 2, axis=1)
    return float(R[np.argmin(miss), 0])
