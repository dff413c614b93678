"""The theory of SGD to plan for: D counts the samples visited, and U of them may be all there are."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sparselaw.costs import Conditioning, Cost
from sparselaw.errors import InputError
from sparselaw.inputs import Inputs
from sparselaw.interval import Interval
from sparselaw.planning.allocate import Allocation, allocate
from sparselaw.planning.from_law import UniqueData
from sparselaw.planning.source import Source, no_width
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

GRID, STEPS = 45, 24
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SgdPlan:
    """What is planned: SGD on these inputs, one pass of ``descent``, perhaps with so many unique samples."""

    inputs: Inputs
    descent: Descent
    noise: float
    unique: float | None

    def source(self) -> Source:
        """SGD with this step and batch; the loss of a point is the quasi-static one."""
        inputs, descent, noise = self.inputs, self.descent, self.noise
        limit = math.inf if self.unique is None else self.unique
        highest = largest_sgd_step(inputs, descent.batch)
        if descent.step is not None and descent.step >= highest:
            condition = f"is not below the largest stable step {highest:.4g}"
            raise InputError("step", descent.step, condition, "choose a smaller step")

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

        alone = self.unique is None and noise == 0.0 and inputs.exponents is not None
        return Source(
            loss=loss,
            search=partial(allocate, loss, grid=GRID, steps=STEPS),
            exponents=(inputs.power_law().alpha_N, few_pass_exponent(inputs)) if alone else None,
            conditioning=Conditioning.of_inputs(inputs),
            intervals="none: the theory is not a measurement",
            ends=no_width,
            warnings=warnings,
            usual_cost="power:1",
        )

    def passes_over(self, N: float, D: float, loss: float) -> UniqueData | None:
        """Passes over the unique samples, and the fresh ones that would give the same loss."""
        if self.unique is None:
            return None
        start = min(self.unique, D)
        worth = min(D, effective_data(self.inputs, N, loss, self.descent, self.noise, start=start))
        passes = D / self.unique
        return UniqueData(
            unique=self.unique,
            passes=Interval(passes, passes, passes),
            effective_data=Interval(worth, worth, worth),
        )

    def advice(self, N: float) -> TrainingAdvice:
        """What to know beside the best N and D."""
        inputs, descent, unique = self.inputs, self.descent, self.unique
        samples = MANY_SAMPLES if unique is None else unique
        one = train(inputs, N, samples, descent, self.noise, "quasi-static")
        found = TrainingAdvice(
            step=one.step,
            batch=descent.batch,
            largest_stable_step=largest_sgd_step(inputs, descent.batch, N),
            critical_batch=critical_batch(inputs, one.step),
            kappa=one.kappa,
        )
        if unique is None:
            return found
        worth = [
            each
            for each in worth_of_passes(inputs, N, unique, descent, self.noise)
            if math.isfinite(each.epochs)
        ]
        powers = inputs.exponents is not None and inputs.exponents.seen_exponent < 1.0
        return replace(
            found,
            most_epochs=most_epochs(inputs, unique, one.step / descent.batch, one.kappa) if powers else None,
            decay=decay_of_worth(worth) if len(worth) > 2 else None,
            worth=tuple({"passes": each.passes, "loss": each.loss, "epochs": each.epochs} for each in worth),
        )
