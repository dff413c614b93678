"""The best N and D for a budget, for a fitted law or a theoretical model: behind `sparselaw plan`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Conditioning, Cost, parse_cost
from sparselaw.errors import InputError, check_finite
from sparselaw.fitting.result import FittedLaw, interval
from sparselaw.fitting.sparsity import invert
from sparselaw.inputs import Inputs
from sparselaw.interval import Interval
from sparselaw.laws import ChinchillaLaw, PowerLaw, TwoPowerLaw
from sparselaw.planning.allocate import Allocation, Loss, Valley, allocate, golden, log_sizes
from sparselaw.planning.isoflop import IsoFlop, isoflop
from sparselaw.planning.theory_loss import model_surface

MODEL_GRID, MODEL_STEPS = 45, 24  # a point of the theory takes some 20 ms; N is good to six digits
SLOPE_STEP = 0.02  # in log C
EXHAUSTED = 0.5  # share of the dimension above which the spectrum's end decides
FAR_BUDGET = 100.0  # times the largest budget in the data
FAR_SIZE = 10.0  # times the largest N or D in the data


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to spend ``budget``. N and D are real numbers: round them to what can be built.

    ``alpha_C`` is the exponent of loss* - E against C for large budgets; ``slope`` is it at this budget.
    """

    budget: float
    cost: str
    N: Interval
    D: Interval
    loss: Interval
    intervals: str  # where they come from
    alpha_C: float
    slope: float
    side: str | None
    others: tuple[Valley, ...]
    isoflop: IsoFlop
    warnings: tuple[str, ...]


def plan(
    source: FittedLaw | TwoPowerLaw | ChinchillaLaw | Inputs, budget: float, cost: str = "direct"
) -> Plan:
    """Minimises the loss over every N and D that ``budget`` buys under the cost model.

    >>> law = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.35)
    >>> found = plan(law, budget=6e20, cost="6nd")
    >>> round(found.alpha_C, 12), round(6 * found.N.best * found.D.best / 6e20, 9)
    (0.175, 1.0)
    """
    budget = check_finite("budget", budget)
    if isinstance(source, PowerLaw) or (isinstance(source, FittedLaw) and source.name == "power"):
        raise InputError("law", "power", "has one size and no trade-off", "fit chinchilla or two-power")
    if isinstance(source, (FittedLaw, TwoPowerLaw, ChinchillaLaw)):
        return _plan_law(source, budget, cost)
    return _plan_model(source, budget, cost)


def _plan_law(source: FittedLaw | TwoPowerLaw | ChinchillaLaw, budget: float, cost_name: str) -> Plan:
    law = source.law if isinstance(source, FittedLaw) else source
    assert isinstance(law, (TwoPowerLaw, ChinchillaLaw))
    floor, alpha_N, alpha_D = _shape(law)
    cost = parse_cost(cost_name, Conditioning.of_sparsity(*invert(alpha_N, alpha_D)))
    found = allocate(law.loss, cost, budget)
    draws = source.draws if isinstance(source, FittedLaw) else np.empty((0, 0))
    N, D, loss = (interval(v, d) for v, d in zip(_values(found), _drawn(draws, cost, budget), strict=True))
    if not draws.size:
        N, D, loss = (Interval(math.nan, v, math.nan) for v in _values(found))  # nothing is known of the ends
    slope = _slope(law.loss, cost, budget, found.best, floor)
    return Plan(
        budget=budget,
        cost=cost.name,
        N=N,
        D=D,
        loss=loss,
        intervals=f"{len(draws)} draws of the fit" if draws.size else "none: the law came without draws",
        alpha_C=cost.compute_exponent(alpha_N, alpha_D),
        slope=slope,
        side=None,
        others=found.others,
        isoflop=isoflop(law.loss, cost, budget, found.best, floor, slope),
        warnings=(
            *_edge(found),
            *(_far(source, cost, budget, found) if isinstance(source, FittedLaw) else ()),
        ),
    )


def _plan_model(model: Inputs, budget: float, cost_name: str) -> Plan:
    from sparselaw.theory import predict

    if not hasattr(model, "exponents"):
        raise InputError(
            "law", type(model).__name__, "is no law and no model", "fit a law or describe inputs"
        )
    cost = parse_cost(cost_name, Conditioning.of_inputs(model))
    loss, peak = model_surface(model)
    found = allocate(loss, cost, budget, peak=peak, grid=MODEL_GRID, steps=MODEL_STEPS)
    slope = _slope(loss, cost, budget, found.best, 0.0)
    caution = predict(model, N=max(round(found.best.N), 1), D=max(round(found.best.D), 1)).caution
    N, D, best = (Interval(v, v, v) for v in _values(found))
    return Plan(
        budget=budget,
        cost=cost.name,
        N=N,
        D=D,
        loss=best,
        intervals="none: the theory is not a measurement",
        alpha_C=cost.compute_exponent(model.power_law().alpha_N, model.power_law().alpha_D),
        slope=slope,
        side=found.best.side,
        others=found.others,
        isoflop=isoflop(loss, cost, budget, found.best, 0.0, slope),
        warnings=(*_edge(found), *_exhausted(found, model), *((caution,) if caution else ())),
    )


def _shape(law: TwoPowerLaw | ChinchillaLaw) -> tuple[float, float, float]:
    """E and the exponents of N and D."""
    if isinstance(law, ChinchillaLaw):
        return law.E, law.alpha, law.beta
    return 0.0, law.alpha_N, law.alpha_D


def _values(found: Allocation) -> tuple[float, float, float]:
    return found.best.N, found.best.D, found.best.loss


def _drawn(draws: FloatArray, cost: Cost, budget: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The best N, D and loss of every draw, all at once: a scan, then golden section."""
    if not draws.size:
        return (np.empty(0),) * 3
    E = draws[:, :1] if draws.shape[1] == 5 else np.zeros((len(draws), 1))
    A, B, first, second = (draws[:, i : i + 1] for i in range(draws.shape[1] - 4, draws.shape[1]))

    def along(x: FloatArray) -> FloatArray:
        log_N = np.atleast_2d(x) if x.ndim == 1 else x
        log_D = np.log(cost.data_for(np.exp(log_N), budget))
        loss: FloatArray = E + A * np.exp(-first * log_N) + B * np.exp(-second * log_D)
        return loss

    grid = log_sizes(cost, budget, 121)
    lowest = np.argmin(along(grid), axis=1)
    low, high = grid[np.maximum(lowest - 1, 0)], grid[np.minimum(lowest + 1, grid.size - 1)]
    x, loss = golden(along, low[:, None], high[:, None])
    N = np.exp(x[:, 0])
    return N, np.asarray(cost.data_for(N, budget)), loss[:, 0]


def _slope(loss: Loss, cost: Cost, budget: float, best: Valley, floor: float) -> float:
    """-d log(loss* - E) / d log C. At the optimum N may stay put: a change of budget all goes into D."""
    budgets = budget * np.exp([-SLOPE_STEP, SLOPE_STEP])
    D = np.array([float(cost.data_for(best.N, b)) for b in budgets])
    below, above = np.asarray(loss(np.full(2, best.N), D), dtype=np.float64) - floor
    if not (below > above > 0.0 and np.isfinite(below)):
        return float("nan")
    return float(np.log(below / above) / (2.0 * SLOPE_STEP))


def _edge(found: Allocation) -> tuple[str, ...]:
    if not found.best.at_edge:
        return ()
    return ("the best allocation is at the end of the budget curve, where N or D is 1",)


def _exhausted(found: Allocation, model: Inputs) -> tuple[str, ...]:
    if found.best.loss > 0.0 and min(found.best.N, found.best.D) < EXHAUSTED * model.dimension:
        return ()
    return (f"N and D reach the dimension {model.dimension:g}: an artefact of it; raise it for this budget",)


def _far(fitted: FittedLaw, cost: Cost, budget: float, found: Allocation) -> tuple[str, ...]:
    """Said when the budget or the answer lies far beyond the runs."""
    words = []
    largest = float(np.max(cost.compute(fitted.runs.N, fitted.runs.D)))
    if budget > FAR_BUDGET * largest:
        words.append(f"the budget is {budget / largest:.3g} times the largest in the data: far extrapolation")
    for name, value, known in (("N", found.best.N, fitted.runs.N), ("D", found.best.D, fitted.runs.D)):
        ratio = max(value / float(known.max()), float(known.min()) / value)
        if ratio > FAR_SIZE:
            words.append(f"{name} = {value:.3g} is {ratio:.3g} times outside the data: far extrapolation")
    return tuple(words)
