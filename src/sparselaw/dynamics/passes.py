"""SGD with a given number of passes: how the loss falls with D, and how the exponent depends on the passes.

A coordinate seen n_j times has been moved through a curvature n_j c_j / D for passes * D steps of size eta,
so it is learned once eta * passes * n_j c_j > 1. With a fixed number of passes the coordinates learned are
those with passes * D s_j > 1, j < (passes D)^(1/a), a = alpha1 + alpha2 + 2, and the loss falls as
  D^-(a-1)/a,   slower than the D^-(a-1)/(alpha1+1) of training to the end whenever alpha2 > -1.
The passes needed to learn every coordinate seen grow as D^((alpha2+1)/(alpha1+1)): at a fixed number of
passes a D-sweep crosses over from the steeper law to the shallower one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.dynamics.curves import sgd_curve
from sparselaw.dynamics.seed_slopes import exponent
from sparselaw.dynamics.training import population_loss, prepare_training
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval
from sparselaw.log_slope import log_slope
from sparselaw.solvers import SGD
from sparselaw.theory import predict
from sparselaw.trials.task import Task, random_stream

PASSES = (1, 2, 4, 8, 16, 32, 64)
SAMPLES = (100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassesLaw:
    """Loss against D at one number of passes (None: trained to the end)."""

    passes: int | None
    samples: tuple[int, ...]
    loss: FloatArray  # (seeds, sizes)
    exponent: Interval  # -d log loss / d log D over the upper half of the sizes
    theory: FloatArray  # (sizes,) the loss in closed form
    predicted: float  # its exponent, over the same sizes


def few_passes_exponent(inputs: SparseInputs) -> float:
    """(a-1)/a: of the loss against D at a fixed number of passes."""
    return (inputs.spectrum - 1.0) / inputs.spectrum


def loss_after_passes(
    inputs: SparseInputs,
    width: int,
    passes: Sequence[int] = PASSES,
    samples: Sequence[int] = SAMPLES,
    seeds: int = 20,
    step: float | None = None,
    batch: int = 1,
) -> list[PassesLaw]:
    """SGD on ``seeds`` draws at each D, read off after each number of passes, and trained to the end."""
    losses = np.empty((len(passes) + 1, seeds, len(samples)))
    for seed in range(seeds):
        for k, D in enumerate(samples):
            task = Task(inputs=inputs, N=width, D=D, seed=seed)
            training = prepare_training(task)
            curve = sgd_curve(training, passes, random_stream(task, "order"), step, batch)
            losses[:-1, seed, k] = curve.population_loss
            losses[-1, seed, k] = population_loss(training, training.optimum[:, None])[0]
    return [
        _law(
            inputs, width, samples, loss, None if count is None else SGD(passes=count, step=step, batch=batch)
        )
        for count, loss in zip([*passes, None], losses, strict=True)
    ]


def _law(
    inputs: SparseInputs, width: int, samples: Sequence[int], loss: FloatArray, solver: SGD | None
) -> PassesLaw:
    """With the closed form of the same run; of the surface where it is trained to the end."""
    points = [predict(inputs, N=width, D=D, solver=solver, form="quasi-static").loss for D in samples]
    upper = len(samples) // 2
    return PassesLaw(
        passes=None if solver is None else solver.passes,
        samples=tuple(samples),
        loss=loss,
        exponent=_fall(samples[upper:], loss[:, upper:]),
        theory=np.array(points),
        predicted=-float(log_slope(samples[upper:], points[upper:])[0]),
    )


def _fall(samples: Sequence[int], loss: FloatArray) -> Interval:
    rise = exponent(samples, loss)
    return Interval(-rise.high, -rise.best, -rise.low)
