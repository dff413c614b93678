"""The theory of SGD to plan for: D counts the samples visited, and U of them may be all there are."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sparselaw.costs import Conditioning, Cost
from sparselaw.errors import InputError, check_not_negative, check_size, check_step
from sparselaw.inputs import Inputs
from sparselaw.interval import Interval
from sparselaw.planning.allocate import Allocation, allocate
from sparselaw.planning.from_law import UniqueData, check_unique
from sparselaw.planning.source import Ends, Source
from sparselaw.theory.training.modes import critical_batch, largest_sgd_step
from sparselaw.theory.training.passes import (
    decay_of_worth,
    effective_data,
    few_pass_exponent,
    loss_of_visits,
    most_epochs,
    worth_of_passes,
)
from sparselaw.theory.training.schedule import Descent
from sparselaw.theory.training.unfinished import train

GRID = 45
FEWEST = 2.0  # samples: one says nothing
MANY_SAMPLES = 1e6  # where their number is not limited, for what hardly depends on it


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingAdvice:
    """How to run the plan by SGD: the step, the batch, and what each pass over the samples is worth."""

    step: float
    batch: int
    largest_stable_step: float
    critical_batch: float  # smallest batch at which minibatches add no more than a tenth
    kappa: float
    most_epochs: float | None = None  # repeated without end, the samples are worth so many times themselves
    decay: float | None = None  # R of the data-constrained law, fitted to the worth of passes
    worth: tuple[dict[str, float], ...] = ()  # passes, loss and epochs' worth

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON; what only limited samples have is left out where they are not limited."""
        result = asdict(self) | {"worth": list(self.worth)}
        if not self.worth:
            del result["most_epochs"], result["decay"], result["worth"]
        return result


def sgd_source(inputs: Inputs, step: float | None, batch: int, noise: float, unique: float | None) -> Source:
    """SGD on these inputs with this step and batch, perhaps with so many unique samples.

    The loss of a point is the quasi-static one of one pass, or of passes over the unique samples.
    """
    step = None if step is None else check_step(step)
    descent = Descent(step=step, batch=check_size("batch", batch), passes=1)
    noise = check_not_negative("noise", noise)
    limit = math.inf if unique is None else check_unique(unique)
    highest = largest_sgd_step(inputs, descent.batch)
    if step is not None and step >= highest:
        condition = f"is not below the largest stable step {highest:.4g}"
        raise InputError("step", step, condition, "choose a smaller step")

    def loss(N: Any, D: Any) -> Any:
        N, D = np.broadcast_arrays(np.asarray(N, np.float64), np.asarray(D, np.float64))
        values = [
            loss_of_visits(inputs, float(n), float(d), limit, descent, noise) if d >= FEWEST else math.inf
            for n, d in zip(N.ravel(), D.ravel(), strict=True)
        ]
        return np.array(values).reshape(N.shape)

    def warnings(cost: Cost, budget: float, found: Allocation) -> tuple[str, ...]:
        del cost, budget
        said = train(inputs, found.best.N, min(found.best.D, limit), descent, noise)
        if math.isinf(said.loss):
            raise InputError("step", said.step, said.reason, "choose a smaller step or a larger batch")
        return said.cautions

    def beside(found: Ends) -> dict[str, Any]:
        """How to train; and the fresh samples that would give the loss of the passes over the unique ones."""
        N, D, best = (each.best for each in found)
        samples = MANY_SAMPLES if unique is None else unique
        one = train(inputs, N, samples, descent, noise, "quasi-static")
        advice = TrainingAdvice(
            step=one.step,
            batch=descent.batch,
            largest_stable_step=largest_sgd_step(inputs, descent.batch, N),
            critical_batch=critical_batch(inputs, one.step),
            kappa=one.kappa,
        )
        if unique is None:
            return {"training": advice}
        each = [p for p in worth_of_passes(inputs, N, unique, descent, noise) if math.isfinite(p.epochs)]
        powers = inputs.exponents is not None and inputs.exponents.seen_exponent < 1.0
        advice = replace(
            advice,
            most_epochs=most_epochs(inputs, unique, one.step / descent.batch, one.kappa) if powers else None,
            decay=decay_of_worth(each) if len(each) > 2 else None,
            worth=tuple({"passes": p.passes, "loss": p.loss, "epochs": p.epochs} for p in each),
        )
        passes = D / unique
        worth = min(D, effective_data(inputs, N, best, descent, noise, start=min(unique, D)))
        of_unique = UniqueData(
            unique=unique,
            passes=Interval(passes, passes, passes),
            effective_data=Interval(worth, worth, worth),
        )
        return {"training": advice, "unique": of_unique}

    alone = unique is None and noise == 0.0 and inputs.exponents is not None
    return Source(
        loss=loss,
        search=partial(allocate, loss, grid=GRID, rough=loss),
        exponents=(inputs.power_law().alpha_N, few_pass_exponent(inputs)) if alone else None,
        conditioning=Conditioning.of_inputs(inputs),
        intervals="none: the theory is not a measurement",
        exact=True,
        warnings=warnings,
        usual_cost="power:1",
        beside=beside,
    )
