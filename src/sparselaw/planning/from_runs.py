r"""Runs to plan for: the best place along a budget by the forecast's posterior.

N is the lowest place of the forecast's own curve along the budget, which has the least expected regret. Its
interval comes from the lowest places of draws of the whole curve, with half of the discrepancy in them: the
drift drawn in full makes them three to six times too wide. The loss is the forecast of a run made there: the
one loss that headline, table and pictures show. The curve is searched where D/N lies within 30 times that of
the runs: further away a forecast says nothing.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Conditioning, Cost
from sparselaw.errors import InputError
from sparselaw.forecasting import KnownRuns, Predictive, Prepared
from sparselaw.interval import Interval, drawn_interval
from sparselaw.planning.allocate import Allocation, Valley, log_sizes
from sparselaw.planning.from_law import far_words
from sparselaw.planning.source import Ends, Source
from sparselaw.records import dropped_words

BEYOND = 30.0  # times the D/N of the runs
PLACES, FINE = 121, 4001
DRAWS = 1000
PART = 0.5  # of the discrepancy in the draws of the curve
AT_THE_END = 0.025  # of the draws at an end of the curve: said
FORECAST = "forecast: the coupled law with a drifting discrepancy, for the loss of one more run"


def sizes_along(runs: KnownRuns, cost: Cost, budget: float) -> FloatArray:
    """N along the budget where D/N is near that of the runs, evenly spaced in its logarithm."""
    x = log_sizes(cost, budget, FINE)
    ratio = np.asarray(cost.data_for(np.exp(x), budget)) / np.exp(x)
    known = runs.D / runs.N
    near = x[(ratio >= known.min() / BEYOND) & (ratio <= known.max() * BEYOND)]
    if near.size < 2:
        raise InputError(
            "budget", budget, f"buys no D/N within {BEYOND:g} times that of the runs",
            "choose another budget or cost, or plan by a law with --law",
        )  # fmt: skip
    return np.exp(np.linspace(float(near[0]), float(near[-1]), PLACES))


def best_along(
    runs: KnownRuns, predictive: Predictive, cost: Cost, budget: float
) -> tuple[FloatArray, float]:
    """N along the budget, and where among them the forecast is lowest."""
    N = sizes_along(runs, cost, budget)
    curve, _ = predictive.centre_and_scale(N, cost.data_for(N, budget))
    return N, float(lowest(N, curve[None])[0])


def lowest(N: FloatArray, curves: FloatArray) -> FloatArray:
    """N of the lowest place of each curve (curves, places); N is evenly spaced in its logarithm.

    A parabola through the lowest place and its neighbours: the grid alone is coarser than good tables.

    >>> N = np.exp(np.linspace(0.0, 3.0, 31))
    >>> np.log(lowest(N, np.array([(np.log(N) - 1.234) ** 2]))).round(9)
    array([1.234])
    """
    i = np.clip(curves.argmin(axis=1), 1, len(N) - 2)
    row = np.arange(len(curves))
    left, middle, right = curves[row, i - 1], curves[row, i], curves[row, i + 1]
    curvature = left - 2.0 * middle + right
    inside = curvature > 0.0
    step = np.where(inside, 0.5 * (left - right) / np.where(inside, curvature, 1.0), np.sign(left - right))
    return np.asarray(N[i] * (N[1] / N[0]) ** np.clip(step, -1.0, 1.0))


def runs_source(prepared: Prepared, level: float = 0.95) -> Source:
    """What a plan needs of runs that allow a forecast."""
    from sparselaw.fitting.sparsity import invert

    runs, predictive = prepared.runs, prepared.predictive
    said = (*dropped_words(prepared.dropped), *prepared.said())
    law = predictive.posterior.law()

    @lru_cache(maxsize=1)  # intervals and warnings ask for it
    def drawn(cost: Cost, budget: float) -> tuple[FloatArray, FloatArray]:
        """N along the budget, and of the lowest places of draws of the curve."""
        N = sizes_along(runs, cost, budget)
        D = np.asarray(cost.data_for(N, budget))
        return N, lowest(N, predictive.log_draws(N, D, DRAWS, part=PART, noise=False))

    def loss(N: FloatArray, D: FloatArray) -> FloatArray:
        return np.asarray(np.exp(predictive.centre_and_scale(N, D)[0]).reshape(np.shape(N)))

    def search(cost: Cost, budget: float) -> Allocation:
        along, N = best_along(runs, predictive, cost, budget)
        D = float(cost.data_for(N, budget))
        best = float(loss(np.array([N]), np.array([D]))[0])
        at_end = not along[1] < N < along[-2]
        return Allocation(best=Valley(N=N, D=D, loss=best, side=None, at_edge=at_end), others=())

    def ends(cost: Cost, budget: float, best: Allocation) -> Ends:
        N = drawn_interval(best.best.N, drawn(cost, budget)[1], level)
        D = Interval(*(float(cost.data_for(n, budget)) for n in (N.high, N.best, N.low)))
        return N, D, predictive.intervals(np.array([best.best.N]), np.array([best.best.D]), level)[0]

    def frontier_draws(cost: Cost, budgets: FloatArray) -> FloatArray:
        N = np.array([best_along(runs, predictive, cost, float(C))[1] for C in budgets])
        D = np.array([float(cost.data_for(n, float(C))) for n, C in zip(N, budgets, strict=True)])
        return predictive.log_draws(N, D, DRAWS, noise=False)

    def warnings(cost: Cost, budget: float, best: Allocation) -> tuple[str, ...]:
        along, places = drawn(cost, budget)
        share = float(np.mean((places < along[1]) | (places > along[-2])))
        many = f"{100 * share:.0f} % of the draws are best at an end of the curve: the runs hardly tell N"
        return (
            *said,
            *([many] if share > AT_THE_END else []),
            *far_words(runs.N, runs.D, cost, budget, best),
        )

    return Source(
        loss=loss,
        search=search,
        exponents=law.exponents,
        drawn_exponents=_drawn_exponents(predictive),
        conditioning=Conditioning.of_sparsity(*invert(law.alpha, law.beta)),
        intervals=f"{DRAWS} draws of the forecast along the budget",
        ends=ends,
        warnings=warnings,
        loss_intervals=FORECAST,
        floor=law.E,
        level=level,
        by=f"the forecast of {len(runs)} runs",
        quantile=lambda N, D, p: float(predictive.quantiles(np.array([N]), np.array([D]), [p])[0, 0]),
        frontier_draws=frontier_draws,
        floor_low=predictive.posterior.parameters()["E"].low,
        sizes=(runs.N, runs.D),
        usual_budget=float(np.max(6.0 * runs.N * runs.D)),
        basis=prepared,
    )


def _drawn_exponents(predictive: Predictive) -> tuple[FloatArray, FloatArray]:
    """alpha and beta of draws of the law."""
    posterior = predictive.posterior
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(0, spawn_key=(4,))))
    chosen = generator.choice(len(posterior.components), DRAWS, p=posterior.weights)
    theta = np.array([posterior.components[i].theta[3:5] for i in chosen])
    roots = [np.linalg.cholesky(one.covariance[3:5, 3:5]) for one in posterior.components]
    steps = generator.standard_normal((DRAWS, 2))
    drawn = np.exp(theta + np.einsum("ijk,ik->ij", np.array([roots[i] for i in chosen]), steps))
    return drawn[:, 0], drawn[:, 1]
