"""The loss of training that is stopped before it is finished, at one point (N, D).

    loss = descent + minibatch + label noise

``descent``: full-batch descent for the same time. ``minibatch``: the noise of SGD's own batches, label noise
in them included. ``label_noise``: what the descent itself has fitted of the label noise.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.sums.coordinates import coordinate_nodes, power_integral
from sparselaw.theory.coactivation import coactivation
from sparselaw.theory.count_setting import rank_setting
from sparselaw.theory.training.counted_descent import CountedDescent
from sparselaw.theory.training.gaussian_descent import GaussianDescent
from sparselaw.theory.training.modes import counted_modes, counts_of, fresh_modes
from sparselaw.theory.training.propagator import Propagator
from sparselaw.theory.training.schedule import Descent, Run
from sparselaw.theory.training.volterra import gain, quasi_static, with_memory

Form = Literal["full", "quasi-static"]

FEWER = 0.5  # features that fluctuations cost: C_N (N - 1/2)^-(a-1) is right to order 1/N
SMALL_N = 30  # below, corrections of order 1/N are several per cent
CROWDED_SHARE = 0.02  # co-activation: what rare coordinates that share samples add, trained to the end
PEAK_WIDTH = 4.0  # standard deviations of the rank
LOUD = 0.5  # kappa above which minibatches more than double the loss
UNRESOLVED = 1e-9  # of the energy: a loss further below zero is no rounding
SWINGING = 4.0  # -ln of what is left of the swings of momentum
FEWEST = 5.0  # times the memory of momentum: with fewer steps minibatches have no closed form
LONG = 10.0  # times the memory of momentum: a pass must be longer, or its own samples come back too soon
FAR = 1e-6  # variances below this share of 1/tau are not learned at all


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """What the theory says of one run."""

    loss: float
    parts: dict[str, float]
    kappa: float  # minibatches multiply the few-pass loss by 1/(1 - kappa)
    pi: float | None  # eps P D^-x: training is short of its end where it is below one
    step: float
    reason: str = ""
    cautions: tuple[str, ...] = ()


def train(
    inputs: Inputs,
    N: float,
    D: float,
    descent: Descent,
    noise: float = 0.0,
    form: Form = "full",
    *,
    sharp: bool = True,
) -> Unfinished:
    """The population loss of N features after ``descent`` on D samples; N may be infinite.

    ``sharp`` takes in the terms of order 1/N and 1/D: N - 1/2 features are counted (and D - 1/2 dense
    samples), which is right for a finished power law; before, columns of different length and coordinates
    that share samples add a little.
    """
    run = descent.among(D, 1.0)
    top = _top(inputs, N)
    if descent.step is None:
        usual = 1.0 / top if descent.steps is not None else (1.0 - descent.momentum) / _energy(inputs)
        run = descent.among(D, usual)
    propagator = propagate(inputs, N, run, sharp=sharp)
    kappa = gain(propagator)
    unstable = _unstable(inputs, run, kappa * max(run.louder, default=1.0), top)
    pi = scaled_passes(inputs, run)
    step = run.step * (1.0 - run.momentum)
    if unstable:
        return _no_number(math.inf, unstable, kappa, pi, step)
    if swinging := _swinging(run, N):
        return _no_number(math.nan, swinging, kappa, pi, step)
    descended, minibatch = propagator.population_loss(), 0.0
    if descended < -UNRESOLVED * _energy(inputs):
        return _no_number(math.nan, "the theory has no number for so few samples", kappa, pi, step)
    if run.random_share > 0.0 and run.time > 0.0:
        minibatch = (with_memory if form == "full" else quasi_static)(propagator, noise)
    parts = {
        "descent": max(descended, 0.0),
        "minibatch": minibatch,
        "label_noise": noise * propagator.label_noise() if noise > 0.0 else 0.0,
    }
    cautions = tuple(_cautions(inputs, N, run, kappa, pi, top))
    return Unfinished(loss=sum(parts.values()), parts=parts, kappa=kappa, pi=pi, step=step, cautions=cautions)


def _no_number(value: float, reason: str, kappa: float, pi: float | None, step: float) -> Unfinished:
    parts = dict.fromkeys(("descent", "minibatch", "label_noise"), value)
    return Unfinished(loss=value, parts=parts, kappa=kappa, pi=pi, step=step, reason=reason)


def propagate(inputs: Inputs, N: float, run: Run, *, sharp: bool = False) -> Propagator:
    """The descent of these inputs without its own noise."""
    whole, N = N if sharp else math.inf, max(N - FEWER, FEWER) if sharp else N
    if inputs.closed_form == "gaussian":
        return _gaussian(inputs, N, run, max(run.D - FEWER, FEWER) if sharp else run.D)
    activations = cast(ActivationInputs, inputs)
    if run.fresh:
        weight, p, c = activations.pair_nodes(run.D)
        return CountedDescent(fresh_modes(weight, p * c, p * c**2, run), run, N, whole)
    modes = counted_modes(counts_of(activations, run.D), run)
    return CountedDescent(modes, run, N, whole, run.D if sharp else math.inf)


def _gaussian(inputs: Inputs, N: float, run: Run, samples: float) -> Propagator:
    a = inputs.spectrum
    reach = math.log(max(run.time, 1.0) / FAR) / a
    nodes = coordinate_nodes(inputs.dimension, reach, a)
    v, weight = inputs.variances(nodes.j), nodes.weight
    fourth = inputs.fourth_moments(nodes.j)
    if nodes.log_end < math.log(inputs.dimension + 0.5):  # the rest: never learned
        far = power_integral(1.0 - a, nodes.log_end, math.log(inputs.dimension + 0.5))
        v, fourth = np.append(v, 1e-3 * v[-1]), np.append(fourth, 0.0)
        weight = np.append(weight, far / v[-1])
    if run.fresh:
        return CountedDescent(fresh_modes(weight, v, fourth, run), run, N)
    return GaussianDescent(v, weight * v, run, N, samples)


def scaled_passes(inputs: Inputs, run: Run) -> float | None:
    """pi = eps P D^-x, x = (alpha2+1)/(alpha1+1); None where there is no such power law."""
    if inputs.closed_form != "counts" or inputs.exponents is None:
        return None
    law = inputs.power_activations()
    return run.sample_step * run.passes * math.pow(run.D, law.growth / law.decay)


@functools.lru_cache(maxsize=8)
def _energy(inputs: Inputs) -> float:
    """E|phi|^2 = tr Sigma."""
    return inputs.variance_sums(1.0).total()


def _top(inputs: Inputs, N: float) -> float:
    """The largest curvature seen through N features: v_1 (1 + (1/N) sum_{j>1} v_j/(v_1 - v_j))."""
    j = np.arange(1.0, min(inputs.dimension, 1000.0) + 1.0)
    v = np.sort(inputs.variances(j))[::-1]
    spread = float(np.sum(v[1:] / np.maximum(v[0] - v[1:], 0.1 * v[0])))
    return float(v[0]) * (1.0 + spread / N)


def _unstable(inputs: Inputs, run: Run, kappa: float, top: float) -> str:
    step, largest = run.step * (1.0 - run.momentum), 2.0 * (1.0 + run.momentum) / top
    if step > largest:
        return f"step {step:g} is above the largest stable step {largest:.4g} of gradient descent"
    if not 0.0 <= kappa < 1.0:
        return f"step {step:g} is unstable in mean square (kappa = {kappa:.3g}, it must be below 1)"
    del inputs
    return ""


def _swinging(run: Run, N: float) -> str:
    """Why there is no number for momentum whose swings are many and have not died."""
    ball = run.heavy_ball
    if run.momentum > 0.0 and ball is None and 0.0 < run.updates * (1.0 - run.momentum) < FEWEST:
        return (
            f"momentum {run.momentum:g} remembers {1.0 / (1.0 - run.momentum):.3g} steps, too many for the "
            f"theory of {run.updates:g} steps of minibatches: take more steps or less momentum"
        )
    if ball is None or ball.covered or math.isinf(N):
        return ""
    return (
        f"momentum {run.momentum:g} still swings after {run.updates:g} steps, too many for the theory of "
        "finitely many features: take more steps or less momentum"
    )


def _cautions(inputs: Inputs, N: float, run: Run, kappa: float, pi: float | None, top: float) -> list[str]:
    cautions = [inputs.closed_form_caution] if inputs.closed_form_caution else []
    if N < SMALL_N:
        cautions.append(f"N < {SMALL_N}: corrections beyond order 1/N (some per cent) are left out")
    if inputs.closed_form == "counts" and not run.fresh:
        share = coactivation(cast(ActivationInputs, inputs), run.D).share
        if share > CROWDED_SHARE and (pi is None or pi > 0.1):
            cautions.append(
                f"co-activation: rare coordinates share samples, which adds up to {share:.0%} "
                "after many passes and is left out here"
            )
        rank = rank_setting(cast(ActivationInputs, inputs), run.D)
        if abs(N - rank.mean) <= max(PEAK_WIDTH * rank.spread, 1.0) and (pi is None or pi > 0.1):
            cautions.append("near the double-descent peak, which its own scatter makes lower and wider")
    if kappa > LOUD:
        cautions.append(
            f"kappa = {kappa:.2f}: minibatch noise more than doubles the loss, runs differ widely"
        )
    step, largest = run.step * (1.0 - run.momentum), 2.0 * (1.0 + run.momentum) / top
    if step > 0.75 * largest:
        cautions.append(f"step {step:g} is close to the largest stable step {largest:.3g}")
    if run.heavy_ball is not None and math.isfinite(N) and run.heavy_ball.dead < SWINGING:
        cautions.append("momentum: the largest modes still swing, each embedding at its own pace")
    if run.random_share > 0.0 and run.momentum > 0.0 and run.D < LONG * run.batch / (1.0 - run.momentum):
        cautions.append(
            f"momentum: a batch acts over {1.0 / (1.0 - run.momentum):.3g} steps, a pass has only "
            f"{run.D / run.batch:.3g}"
        )
    return cautions


def largest_sgd_step(inputs: Inputs, batch: int = 1, N: float = math.inf, D: float = 1e6) -> float:
    """The step at which kappa of fresh samples reaches one, or gradient descent itself turns unstable.

    >>> from sparselaw.inputs import SparseInputs
    >>> round(largest_sgd_step(SparseInputs(alpha1=1.0, alpha2=0.3)), 2)
    1.67
    """
    highest = 2.0 / _top(inputs, N)

    def kappa(step: float) -> float:
        run = Descent(step=step, passes=1, batch=batch).among(D, 1.0)
        found = gain(propagate(inputs, N, run))
        return found if found >= 0.0 else math.inf

    return _crossing(kappa, 1.0, highest)


def critical_batch(inputs: Inputs, step: float, N: float = math.inf, D: float = 1e9) -> float:
    """The batch size at which minibatches add as much as one tenth: kappa = 1/11 at this step.

    Below it a larger batch saves samples' noise; above it a larger batch only takes more samples a step.
    """

    def kappa(batch: float) -> float:
        return -gain(propagate(inputs, N, Descent(step=step, passes=1, batch=int(batch)).among(D, 1.0)))

    return _crossing(kappa, -1.0 / 11.0, D)


def _crossing(rises: Callable[[float], float], level: float, highest: float) -> float:
    """Where a rising function of (0, highest) passes the level; highest if it never does.

    By halving: it is infinite beyond some place and a staircase in the batch, where brentq gains nothing.
    """
    low, high = 0.0, highest
    if not rises(highest * (1.0 - 1e-9)) > level:
        return highest
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if rises(middle) > level else (middle, high)
    return 0.5 * (low + high)
