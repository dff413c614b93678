"""The best N and D for a budget, for a law or for the theory of some inputs: behind `sparselaw plan`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from sparselaw.costs import Cost, parse_cost, with_serving
from sparselaw.errors import (
    InputError,
    check_choice,
    check_finite,
    check_not_negative,
    check_positive,
    check_size,
)
from sparselaw.inputs import Inputs
from sparselaw.laws import Law
from sparselaw.planning.allocate import Allocation, Valley
from sparselaw.planning.from_law import planned_fit, planned_law
from sparselaw.planning.from_theory import planned_theory
from sparselaw.planning.growth import growth
from sparselaw.planning.isoflop import isoflop, valley_of
from sparselaw.planning.plan_result import Plan
from sparselaw.planning.planned import Planned
from sparselaw.planning.plans import Plans
from sparselaw.planning.reach_loss import budget_for
from sparselaw.planning.unique_data import LimitedLaw, limited, on_unique, words

if TYPE_CHECKING:
    from sparselaw.planning.from_training import SgdPlan
    from sparselaw.theory import Surface

ROWS = ("columns", "group", "where", "best", "final", "count")
FIT_DRAWS = 200
SLOPE_STEP = 0.02  # in log C


def plan(
    source: Any,
    budget: float | None = None,
    cost: str | None = None,
    *,
    loss: float | None = None,
    probability: float | None = None,
    inference_tokens: float = 0.0,
    unique_data: float | None = None,
    train: str | None = None,
    step: float | None = None,
    batch: int = 1,
    noise: float = 0.0,
    surface: Surface = "sharp",
    level: float = 0.95,
    **rows: Any,
) -> Plan:
    """The N and D with the least loss among all that ``budget`` buys.

    Parameters
    ----------
    source
        A table of runs or its path: by the forecast of these runs. A fitted law, or a law: conditional on
        that law. Inputs: by the theory.
    budget
        What may be spent.
    cost
        What the budget pays for; 6nd for runs and laws, direct for the theory, unless named.
    loss
        In place of a budget: the cheapest N and D that reach this loss.
    probability
        The chance of a run to reach it, from a table of runs; even unless given.
    inference_tokens
        Tokens T that the model will serve: adds the cost 2 N T.
    unique_data
        No more than so many different samples; D counts repetitions. Runs are then planned by a law.
    train
        "sgd": by the theory of SGD. D counts samples visited, and the cost is N D unless named.
    step, batch, noise
        Of that SGD: its step, its batch, the variance of the label noise.
    surface
        Of the theory, "leading" leaves out the corrections for finite sizes, and is ten times as quick.
    level
        Share that the intervals of a plan from runs are meant to hold.
    **rows
        How a table is read: columns, group, where, best, final, count, as for ``forecast``.

    Returns
    -------
    Plan
        N, D, tokens_per_parameter and loss with intervals; valley; warnings.

    Raises
    ------
    InputError
        Where the budget buys nothing, or the source cannot be planned for.

    Examples
    --------
    >>> from sparselaw.laws import ChinchillaLaw
    >>> law = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.35)
    >>> found = plan(law, budget=6e20, cost="6nd")
    >>> round(found.alpha_C, 12), round(6 * found.N.best * found.D.best / 6e20, 9)
    (0.175, 1.0)
    """
    if (budget is None) == (loss is None):
        raise InputError(
            "budget", budget, "give a budget or a loss, and not both", "write budget=C or loss=L"
        )
    if loss is not None and unique_data is not None:
        raise InputError("loss", loss, "is not sought for limited data", "give a budget with unique data")
    if surface != "sharp":
        from sparselaw.theory.surface import Surface as Known  # the theory: only where it is asked for

        check_choice("surface", surface, get_args(Known))
    view, word = None, ""
    training = _training(source, train, step, batch, noise, unique_data)
    if training is not None:
        planned = training.planned()
    elif step is not None or batch != 1 or noise != 0.0:
        raise InputError("train", "", "is missing beside step, batch or noise", "add train sgd")
    elif unique_data is None:
        planned = planned_for(source, surface, level, **rows)
    else:
        planned, view, word = _on_unique(_fit_of(source, rows), unique_data)
    spending = parse_cost(planned.usual_cost if cost is None else cost, planned.conditioning)
    if inference_tokens:
        spending = with_serving(spending, inference_tokens)
    reach = None
    if loss is not None:
        budget, reach = budget_for(planned, spending, loss, probability, planned.level)
    budget = check_finite("budget", budget or 0.0)
    found = planned.allocation(spending, budget)
    N, D, law_loss = planned.ends(spending, budget, found)
    at_best, loss_intervals = law_loss, planned.intervals
    if planned.forecast is not None:
        at_best, loss_intervals = planned.forecast(found.best.N, found.best.D)
    unique = None if view is None else on_unique(D, view)
    if training is not None:
        unique = training.passes_over(N.best, D.best, at_best.best)
    slope = _slope(planned, spending, budget, found.best)
    return Plan(
        budget=budget,
        cost=spending.name,
        N=N,
        D=D,
        loss=at_best,
        law_loss=law_loss,
        intervals=planned.intervals,
        loss_intervals=loss_intervals,
        alpha_C=math.nan if planned.exponents is None else spending.compute_exponent(*planned.exponents),
        slope=slope,
        growth=growth(planned, spending),
        side=found.best.side,
        others=found.others,
        isoflop=isoflop(planned.loss, spending, budget, found.best, planned.floor, slope),
        level=planned.level,
        by=planned.by,
        valley=None
        if planned.peak or planned.dear
        else valley_of(planned.loss, spending, budget, found.best),
        warnings=(
            *_edge(found),
            *planned.warnings(spending, budget, found),
            *(() if unique is None else words(unique, word, own=training is not None)),
        ),
        unique=unique,
        training=None if training is None else training.advice(N.best),
        reach=reach,
    )


def _training(
    source: Any, train: str | None, step: float | None, batch: int, noise: float, unique: float | None
) -> SgdPlan | None:
    """The SGD that is planned; None where it is not SGD."""
    if train is None and (unique is None or not isinstance(source, Inputs)):
        return None
    if train not in (None, "sgd"):
        raise InputError("train", train, "is not a way of training", "choose sgd")
    if not isinstance(source, Inputs):
        condition = "needs the theory of some inputs"
        raise InputError("train", train, condition, "give alpha1 and alpha2 instead of runs")
    from sparselaw.planning.from_training import SgdPlan
    from sparselaw.theory.training.schedule import Descent

    step = None if step is None else check_positive("step", step)
    return SgdPlan(
        inputs=source,
        descent=Descent(step=step, batch=check_size("batch", batch), passes=1),
        noise=check_not_negative("noise", noise),
        unique=None if unique is None else check_positive("unique-data", unique),
    )


def plan_many(source: Any, budgets: Sequence[float], cost: str | None = None, **settings: Any) -> Plans:
    """One plan for each budget."""
    if is_table(source) and settings.get("unique_data") is None:
        rows = {name: settings.pop(name) for name in ROWS if name in settings}
        source = planned_for(source, level=settings.get("level", 0.95), **rows)  # read and fitted once
    return Plans(plans=tuple(plan(source, budget, cost, **settings) for budget in budgets))


def _on_unique(source: Any, unique: float) -> tuple[Planned, LimitedLaw, str]:
    """The law of a fit, or a bare one, at U unique samples."""
    fitted = not isinstance(source, Law)
    law = source.law if fitted and isinstance(getattr(source, "law", None), Law) else source
    if not isinstance(law, Law):
        raise InputError("unique-data", unique, "needs a law", "fit a table of runs")
    view, word = limited(law, unique)
    build = planned_fit if fitted else planned_law
    return build(source, lambda one: limited(one, unique)[0]), view, word


def planned_for(source: Any, surface: Surface = "sharp", level: float = 0.95, **rows: Any) -> Planned:
    """What ``plan`` needs of runs, a law, a fitted law or inputs, of these on that surface of the loss."""
    if isinstance(source, Planned):
        return source
    if is_table(source):
        from sparselaw.planning.forecast_budgets import planned_table

        return planned_table(source, level, **rows)
    if rows:
        raise InputError(next(iter(rows)), "", "is for a table of runs", "leave it out")
    if isinstance(source, Inputs):
        return planned_theory(source, surface)
    if isinstance(source, Law):
        return planned_law(source)
    if isinstance(getattr(source, "law", None), Law):  # a fitted law: only fits need the room of fitting
        return planned_fit(source)
    raise InputError("law", type(source).__name__, "is no law and no model", "fit a law or describe inputs")


def is_table(source: Any) -> bool:
    """A table of runs, or the path of one, by what it is like: only fits need the room of fitting."""
    return isinstance(source, (str, Path, Mapping)) or hasattr(source, "columns")


def _fit_of(source: Any, rows: Mapping[str, Any]) -> Any:
    """Where data are limited a law is needed: Chinchilla's, fitted to the table."""
    if not is_table(source):
        return source
    from sparselaw.fitting import fit

    return fit(source, bootstrap=FIT_DRAWS, **rows)


def _slope(planned: Planned, cost: Cost, budget: float, best: Valley) -> float:
    """-d log(loss* - E) / d log C. At the optimum N may stay put: a change of budget all goes into D."""
    budgets = budget * np.exp([-SLOPE_STEP, SLOPE_STEP])
    D = np.array([float(cost.data_for(best.N, b)) for b in budgets])
    below, above = np.asarray(planned.loss(np.full(2, best.N), D), dtype=np.float64) - planned.floor
    if not (below > above > 0.0 and np.isfinite(below)):
        return math.nan
    return float(np.log(below / above) / (2.0 * SLOPE_STEP))


def _edge(found: Allocation) -> tuple[str, ...]:
    if not found.best.at_edge:
        return ()
    return ("the best allocation is at the end of the budget curve, where N or D is 1",)
