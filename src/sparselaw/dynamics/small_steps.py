"""SGD against full-batch descent at a small step: the same path, up to terms of first order in the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparselaw.dynamics.curves import Curve, gradient_descent_curve, sgd_curve
from sparselaw.dynamics.training import Training


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallSteps:
    """The two descents after the same number of updates of the same step."""

    sgd: Curve  # steps are passes
    full_batch: Curve  # steps are updates: passes * batches in a pass
    gap: float  # the largest |log(population loss of one / of the other)| along the way


def compare_small_steps(
    training: Training, passes: Sequence[int], rng: np.random.Generator, step: float, batch: int = 1
) -> SmallSteps:
    """Both from zero; a batch gradient has the mean of the full one, so updates are matched one to one."""
    updates = -(-training.equations.samples // batch)
    sgd = sgd_curve(training, passes, rng, step, batch)
    full = gradient_descent_curve(training, [count * updates for count in passes], step)
    with np.errstate(invalid="ignore"):
        gap = np.abs(np.log(sgd.population_loss) - np.log(full.population_loss))
    return SmallSteps(sgd=sgd, full_batch=full, gap=float(np.max(gap)))
