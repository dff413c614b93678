"""The theory of SGD to plan for: D counts the samples visited, and U of them may be all there are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.costs import Conditioning, Cost
from sparselaw.errors import InputError
from sparselaw.inputs import Inputs
from sparselaw.interval import Interval
from sparselaw.planning.allocate import Allocation
from sparselaw.planning.planned import Ends, Planned
from sparselaw.planning.unique_data import UniqueData
from sparselaw.theory.training.crossover import few_pass_exponent, most_epochs
from sparselaw.theory.training.repeated import decay_of_worth, effective_data, loss_of_visits, worth_of_passes
from sparselaw.theory.training.schedule import Descent
from sparselaw.theory.training.stability import critical_batch, largest_sgd_step
from sparselaw.theory.training.unfinished import train

GRID, STEPS = 45, 24
FEWEST = 2.0  # samples: one says nothing


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
        names = ("step", "batch", "largest_stable_step", "critical_batch", "kappa")
        plain: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.worth:
            plain |= {"most_epochs": self.most_epochs, "decay": self.decay, "worth": list(self.worth)}
        return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class SgdPlan:
    """What is planned: SGD on these inputs, perhaps with so many unique samples."""

    inputs: Inputs
    descent: Descent
    noise: float
    unique: float | None

    def planned(self) -> Planned:
        return _planned(self.inputs, self.descent, self.noise, self.unique)

    def passes_over(self, N: float, D: float, loss: float) -> UniqueData | None:
        if self.unique is None:
            return None
        return _passes_over(self.inputs, N, D, loss, self.unique, self.descent, self.noise)

    def advice(self, N: float) -> TrainingAdvice:
        return _advice(self.inputs, N, self.descent, self.noise, self.unique)


def _planned(inputs: Inputs, descent: Descent, noise: float, unique: float | None) -> Planned:
    """SGD with this step and batch; the loss of a point is the quasi-static one."""
    limit = math.inf if unique is None else unique
    highest = largest_sgd_step(inputs, descent.batch)
    if descent.step is not None and descent.step >= highest:
        raise InputError(
            "step",
            descent.step,
            f"is not below the largest stable step {highest:.4g}",
            "choose a smaller step",
        )

    def loss(N: Any, D: Any) -> Any:
        N, D = np.broadcast_arrays(np.asarray(N, np.float64), np.asarray(D, np.float64))
        values = [
            loss_of_visits(inputs, float(n), float(d), limit, descent, noise) if d >= FEWEST else math.inf
            for n, d in zip(N.ravel(), D.ravel(), strict=True)
        ]
        return np.array(values).reshape(N.shape)

    def warnings(cost: Cost, budget: float, found: Allocation) -> tuple[str, ...]:
        del cost, budget
        N, D = found.best.N, min(found.best.D, limit)
        said = train(inputs, N, D, Descent(step=descent.step, batch=descent.batch, passes=1), noise)
        if math.isinf(said.loss):
            raise InputError("step", said.step, said.reason, "choose a smaller step or a larger batch")
        return said.cautions

    alone = unique is None and noise == 0.0 and inputs.exponents is not None
    return Planned(
        loss=loss,
        exponents=(inputs.power_law().alpha_N, few_pass_exponent(inputs)) if alone else None,
        conditioning=Conditioning.of_inputs(inputs),
        intervals="none: the theory is not a measurement",
        ends=_no_width,
        warnings=warnings,
        usual_cost="power:1",
        grid=GRID,
        steps=STEPS,
    )


def _no_width(cost: Cost, budget: float, found: Allocation) -> Ends:
    del cost, budget
    N, D, loss = (Interval(value, value, value) for value in (found.best.N, found.best.D, found.best.loss))
    return N, D, loss


def _passes_over(
    inputs: Inputs, N: float, D: float, loss: float, unique: float, descent: Descent, noise: float
) -> UniqueData:
    """Passes over the unique samples, and the fresh ones that would give the same loss."""
    worth = min(D, effective_data(inputs, N, loss, descent, noise, start=min(unique, D)))
    passes = D / unique
    return UniqueData(
        unique=unique, passes=Interval(passes, passes, passes), effective_data=Interval(worth, worth, worth)
    )


def _advice(inputs: Inputs, N: float, descent: Descent, noise: float, unique: float | None) -> TrainingAdvice:
    """What to know beside the best N and D."""
    one = train(inputs, N, 1e6 if unique is None else unique, Descent(
        step=descent.step, batch=descent.batch, passes=1), noise, "quasi-static")  # fmt: skip
    shared: dict[str, Any] = {
        "step": one.step,
        "batch": descent.batch,
        "largest_stable_step": largest_sgd_step(inputs, descent.batch, N),
        "critical_batch": critical_batch(inputs, one.step),
        "kappa": one.kappa,
    }
    if unique is None:
        return TrainingAdvice(**shared)
    found = [
        each for each in worth_of_passes(inputs, N, unique, descent, noise) if math.isfinite(each.epochs)
    ]
    powers = inputs.exponents is not None and inputs.closed_form == "counts"
    return TrainingAdvice(
        **shared,
        most_epochs=most_epochs(inputs, unique, one.step / descent.batch, one.kappa) if powers else None,
        decay=decay_of_worth(found) if len(found) > 2 else None,
        worth=tuple({"passes": each.passes, "loss": each.loss, "epochs": each.epochs} for each in found),
    )
