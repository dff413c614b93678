"""The best N and D for budgets, and the least budget that reaches a loss: behind `sparselaw plan`.

From runs a loss is reached with a chance: the budget is the least at whose best N and D the forecast puts the
loss of a run below it with that probability. By a law or the theory the loss is a number, and so is the
budget. The interval of the cost comes from draws of the whole frontier, each with the budget at which it
passes the loss.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, get_args, overload

import numpy as np

from sparselaw.arrays import on_one_thread
from sparselaw.costs import Cost, with_serving
from sparselaw.errors import InputError, check_choice, check_finite, check_positive
from sparselaw.forecasting.predictive import check_probabilities
from sparselaw.inputs import Inputs
from sparselaw.interval import Interval
from sparselaw.planning.allocate import Valley
from sparselaw.planning.budget_curves import growth, isoflop, valley_of
from sparselaw.planning.from_law import limited_source
from sparselaw.planning.plan_record import Plan, Plans, Reach
from sparselaw.planning.source import Source, as_source, is_table
from sparselaw.search import passes

if TYPE_CHECKING:
    from sparselaw.theory.surface import Surface

FIT_DRAWS = 200  # of the law that runs are planned by where data are limited
SLOPE_STEP = 0.02  # in log C
FARTHEST = math.log(1e40)  # times the budget that is looked at first, either way
SAME_BUDGET = 1e-4  # of ln C
ALONG, REACH = 25, math.log(1e3)  # places of the frontier for the interval, and how far they go either way
AT_EDGE = "the best allocation is at the end of the budget curve: the loss still falls there"


@overload
def plan(source: Any, budget: float | None = None, cost: str | None = None, **settings: Any) -> Plan: ...


@overload
def plan(source: Any, budget: Iterable[float], cost: str | None = None, **settings: Any) -> Plans: ...


@on_one_thread
def plan(
    source: Any,
    budget: float | Iterable[float] | None = None,
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
) -> Plan | Plans:
    """The N and D with the least loss among all that a budget buys.

    Parameters
    ----------
    source
        A table of runs or its path: by the forecast of these runs. A fitted law, or a law: conditional on
        that law. Inputs: by the theory.
    budget
        What may be spent; or several budgets.
    cost
        What the budget pays for; 6nd for runs and laws, direct for the theory, unless named.
    loss
        In place of a budget: the cheapest N and D that reach this loss.
    probability
        The chance of a run to reach it, from a table of runs; even unless given. By a fitted law, the share
        of its draws.
    inference_tokens
        Tokens T that the model will serve: adds the cost 2 N T.
    unique_data
        No more than so many different samples; D counts repetitions. Runs are then planned by Chinchilla's
        law fitted to them.
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
    Plan or Plans
        N, D, tokens_per_parameter and loss with intervals; valley; warnings. For several budgets one plan
        each, in their order.

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
    if surface != "sharp":
        from sparselaw.theory.surface import Surface as Known  # the theory: only where it is asked for

        check_choice("surface", surface, get_args(Known))
    if train not in (None, "sgd"):
        raise InputError("train", train, "is not a way of training", "choose sgd")
    if train is not None and not isinstance(source, Inputs):
        condition = "needs the theory of some inputs"
        raise InputError("train", train, condition, "give alpha1 and alpha2 instead of runs")
    if train is not None or (unique_data is not None and isinstance(source, Inputs)):
        from sparselaw.planning.from_training import sgd_source

        known = sgd_source(source, step, batch, noise, unique_data)
    elif step is not None or batch != 1 or noise != 0.0:
        raise InputError("train", "", "is missing beside step, batch or noise", "add train sgd")
    elif unique_data is None:
        known = as_source(source, surface, level, **rows)
    else:
        if is_table(source):
            from sparselaw.fitting import fit

            source = fit(source, bootstrap=FIT_DRAWS, level=level, **rows)
        known = limited_source(source, unique_data)
    spending = known.cost(cost)
    if inference_tokens:
        spending = with_serving(spending, inference_tokens)

    asked = {"cost": cost, "loss": loss, "probability": probability, "unique_data": unique_data}
    settings = {name: value for name, value in asked.items() if value is not None}
    settings |= {"inference_tokens": inference_tokens} if inference_tokens else {}

    if loss is not None:
        least, reach = _budget_for(known, spending, loss, probability)
        return _plan(known, spending, least, settings, reach)
    if isinstance(budget, Iterable) and not isinstance(budget, str):
        found = tuple(_plan(known, spending, C, settings) for C in budget)
        if not found:
            raise InputError("budget", "", "has no budgets", "give at least one")
        return Plans(plans=found)
    return _plan(known, spending, budget or 0.0, settings)


def _plan(
    source: Source, cost: Cost, budget: float, settings: dict[str, Any], reach: Reach | None = None
) -> Plan:
    budget = check_finite("budget", budget)
    found = source.search(cost, budget)
    best = found.best
    if source.ends is None:
        ends = source.undrawn(best.N), source.undrawn(best.D), source.undrawn(best.loss)
    else:
        ends = source.ends(cost, budget, found)
    slope = _slope(source, cost, budget, best)
    return Plan(
        budget=budget,
        cost=cost.name,
        N=ends[0],
        D=ends[1],
        loss=ends[2],
        intervals=source.intervals,
        loss_intervals=source.loss_intervals or source.intervals,
        alpha_C=math.nan if source.exponents is None else cost.compute_exponent(*source.exponents),
        slope=slope,
        growth=growth(source, cost),
        side=best.side,
        others=found.others,
        isoflop=isoflop(source.loss, cost, budget, best, source.floor, slope),
        level=source.level,
        by=source.by,
        valley=None if source.peak else valley_of(source.loss, cost, budget, best),
        warnings=(*([AT_EDGE] if best.at_edge else []), *source.warnings(cost, budget, found)),
        reach=reach,
        basis=source.basis,
        settings=settings,
        **source.beside(ends),
    )


def _slope(source: Source, cost: Cost, budget: float, best: Valley) -> float:
    """-d log(loss* - E) / d log C. At the optimum N may stay put: a change of budget all goes into D."""
    budgets = budget * np.exp([-SLOPE_STEP, SLOPE_STEP])
    D = np.array([float(cost.data_for(best.N, b)) for b in budgets])
    below, above = np.asarray(source.loss(np.full(2, best.N), D), dtype=np.float64) - source.floor
    if not (below > above > 0.0 and np.isfinite(below)):
        return math.nan
    return float(np.log(below / above) / (2.0 * SLOPE_STEP))


def _budget_for(source: Source, cost: Cost, loss: float, probability: float | None) -> tuple[float, Reach]:
    """The least budget whose best N and D reach ``loss``, and what is to be said of it."""
    check_positive("loss", loss)
    if not loss > source.floor_low:
        raise InputError(
            "loss", loss, f"is below what the floor may be, {source.floor_low:.4g}", "ask for a larger loss"
        )
    chance = 0.5 if probability is None and source.by else probability
    if chance is not None:
        check_probabilities(chance)
        if source.quantile is None:
            remedy = "give a table, or leave it out"
            raise InputError("probability", chance, "needs a forecast of runs, or draws of a law", remedy)
    even = budget = _first(source, cost, loss, 0.5 if source.by else None)
    if probability not in (None, 0.5):
        budget = _first(source, cost, loss, probability)
    return budget, Reach(loss=loss, probability=chance, cost=_interval(source, cost, loss, even))


def _first(source: Source, cost: Cost, loss: float, chance: float | None) -> float:
    """Bisection in ln C of the loss at the best place, or of its quantile there: it falls with the budget."""
    tried: list[float] = []
    quantile = source.quantile

    def above(log_C: float) -> bool:
        try:
            best = source.search(cost, math.exp(log_C)).best
        except InputError:  # the budget buys nothing that can be judged: too small
            return True
        if chance is None or quantile is None:
            tried.append(float(source.loss(best.N, best.D)))
        else:
            tried.append(quantile(best.N, best.D, chance))
        return not tried[-1] <= loss

    start = math.log(source.usual_budget or float(cost.compute(1e3, 1e3)))
    low = high = start
    step = math.log(10.0)
    while above(high):
        low, high = high, high + step
        if high > start + FARTHEST:
            least = f"is reached by no budget: the least is {min(tried):.4g}"
            raise InputError("loss", loss, least, "ask for a larger loss")
    while low == high or not above(low):
        if low < start - FARTHEST:
            raise InputError("loss", loss, "is reached by the smallest budget", "ask for a smaller loss")
        high, low = min(high, low), low - step
    while high - low > SAME_BUDGET:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if above(middle) else (low, middle)
    return math.exp(high)


def _interval(source: Source, cost: Cost, loss: float, budget: float) -> Interval:
    """Of the budget: where draws of the frontier pass the loss."""
    if source.frontier_draws is None:
        return source.undrawn(budget)
    logs = []
    for log_C in np.linspace(math.log(budget) - REACH, math.log(budget) + REACH, ALONG):
        try:
            source.search(cost, math.exp(log_C))
        except InputError:
            continue
        logs.append(log_C)
    drawn = source.frontier_draws(cost, np.exp(logs))
    places = passes(np.full(len(drawn), math.log(loss)), drawn, np.array(logs))
    tail = 0.5 - 0.5 * source.level
    ends = np.quantile(places, [tail, 1.0 - tail], method="nearest")
    low, high = (math.exp(end) if math.isfinite(end) else math.nan for end in ends)
    return Interval(min(low, budget), budget, max(high, budget))
