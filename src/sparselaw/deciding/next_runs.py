"""Which runs to make now, so that the forecast at a target, or the plan for a budget, becomes as sure as the
money allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from sparselaw.arrays import FloatArray, on_one_thread
from sparselaw.costs import Cost, parse_cost
from sparselaw.deciding.designs import Target, best_set, variance_after
from sparselaw.errors import InputError, check_positive
from sparselaw.forecasting import KnownRuns, Predictive
from sparselaw.forecasting.forecast_result import check_points
from sparselaw.numbers import short_compute, short_size
from sparselaw.planning.forecast_budgets import prepare_forecast
from sparselaw.planning.from_runs import best_along
from sparselaw.records import Record, dropped_words, frame, html_table, to_dict

if TYPE_CHECKING:
    import pandas as pd

Purpose = Literal["forecast", "plan"]
MOST_RUNS = 8  # unless asked for
STEP, RATIOS = 2.0**0.5, 9  # of N, and D / N, of candidates that nobody has named
MOST_CANDIDATES = 2000
MOST_STEPS = 60  # up to a billion times the smallest N
BESIDE = 0.7  # ln N to either side of the best one, for the slope and the curvature of the loss
WORTH = 0.05  # of the width: what is worth a run, and how far the shortest list may stay behind the best
ROUNDED_UP = 1.005  # three digits of it are enough
LEFT = 0.1  # of what may be spent: said
LARGER = (3.0, 10.0, 30.0, 100.0, 1e3, 1e4)  # times what may be spent, where that buys nothing that helps
MOST_WEIGHT = 0.98  # of the components of the posterior that count
PART = 0.5  # of the discrepancy, where the place of a minimum is asked for
NO_RUNS = np.empty((0, 3))


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRun(Record):
    """A run to make. ``width_alone`` is the width after this run and no other, ``width_after`` after it and
    those before it in the list."""

    N: float
    D: float
    cost: float
    width_alone: float
    width_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRuns(Record):
    """The runs to make, and what they are worth.

    Widths are those of the 95 % interval over its middle: of the loss at the target, or of the best N where
    the runs are chosen for a plan. ``width_single`` is the width after the best single run,
    ``width_repeated`` after repeating present runs for the same money. ``regret_*`` is the loss that a plan
    is expected to give away, as a share of the loss.
    """

    purpose: Purpose
    targets: tuple[tuple[float, float], ...]
    runs: tuple[NextRun, ...]
    width_before: float
    width_after: float
    width_single: float
    width_repeated: float
    spent: float
    spend: float
    cost: str
    regret_before: float | None = None
    regret_after: float | None = None
    warnings: tuple[str, ...] = ()
    known: KnownRuns = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        found = to_dict(self)
        return found | {"for": found.pop("purpose"), "targets": [{"N": N, "D": D} for N, D in self.targets]}

    def words(self) -> str:
        """What the runs bring, in a sentence."""
        of = "the forecast" if self.purpose == "forecast" else "the best N"
        many = "s" * (len(self.runs) != 1)
        return (
            f"{len(self.runs)} run{many} for {short_compute(self.spent)}: the 95 % interval of {of} "
            f"goes from {percent(self.width_before)} to {percent(self.width_after)} wide (best single run "
            f"{percent(self.width_single)}, present runs repeated {percent(self.width_repeated)})"
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows in words."""
        rows = []
        for run in self.runs:
            sizes = short_size(run.N), short_size(run.D), short_compute(run.cost)
            rows.append([*sizes, percent(run.width_alone), percent(run.width_after)])
        return ["N", "D", "cost", "width after it alone", "width after it and those above"], rows

    def to_frame(self) -> pd.DataFrame:
        """One row for each run."""
        return frame(self.runs, "N", "D", "cost", "width_after", "width_alone")

    def __str__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        head, rows = self.table()
        return html_table("Runs to make next", head, rows, [self.words(), *self.warnings])


@on_one_thread
def next_runs(
    runs: pd.DataFrame | Mapping[str, Any] | str | Path,
    *,
    spend: float | None = None,
    at: Sequence[tuple[float, float]] | None = None,
    budget: float | None = None,
    most: int | None = None,
    sizes: Sequence[float] | Sequence[tuple[float, float]] | None = None,
    purpose: Purpose = "forecast",
    cost: str = "6nd",
    columns: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
    group: str | None = None,
    best: bool = False,
    final: bool = False,
    count: str = "as-given",
) -> NextRuns:
    """The runs to make now so that a forecast or a plan becomes as sure as ``spend`` allows.

    Parameters
    ----------
    runs
        A table of runs as ``fit`` takes it.
    spend
        What all new runs together may cost. By default a tenth of what is asked about, or the least that
        helps.
    at
        Pairs (N, D) whose loss is to be forecast.
    budget
        A budget in place of ``at``: its best N and D are the target.
    most
        Largest number of runs.
    sizes
        What can be run: N, with D chosen freely, or pairs (N, D). Otherwise a grid from the smallest N of the
        table on.
    purpose
        ``forecast`` narrows the interval of the loss; ``plan``, which needs a budget, that of the best N: it
        lowers the loss that the plan is expected to give away.
    cost
        What runs and budgets are paid in.
    columns
        Which column is N, D or the loss, where the names do not say it.
    where
        Conditions on the rows, such as "lr=0.1".
    group
        Column that names the run of each row, where rows are checkpoints.
    best, final, count
        Which rows are used, and what N counts, as for ``fit``.

    Returns
    -------
    NextRuns
        ``runs`` in the order in which to make them, and how wide the interval is before and after.

    Raises
    ------
    InputError
        Where the runs allow no forecast, nothing is affordable, or nothing affordable would help.

    Examples
    --------
    >>> sizes = [(n, d) for n in (1e8, 2e8, 4e8) for d in (2e9, 4e9, 8e9, 1.6e10)]
    >>> loss = [2 + 500 / n**0.35 + 900 / d**0.33 for n, d in sizes]
    >>> table = {"N": [n for n, _ in sizes], "D": [d for _, d in sizes], "loss": loss}
    >>> found = next_runs(table, at=[(7e9, 1.4e11)], spend=1e21, most=2)
    >>> len(found.runs), found.width_after < found.width_before
    (2, True)
    """
    paid = parse_cost(cost, None)
    if purpose not in get_args(Purpose):
        raise InputError("for", purpose, "is no purpose", f"choose one of {', '.join(get_args(Purpose))}")
    if (budget is None) == (at is None):
        raise InputError("at", at, "give sizes or a budget, and not both", "write at=[(N, D)] or budget=C")
    if purpose == "plan" and budget is None:
        raise InputError("for", "plan", "needs a budget to plan for", "give budget=C")
    if spend is not None:
        check_positive("spend", spend)
    rows = {"group": group, "columns": columns, "where": where, "best": best, "final": final, "count": count}
    prepared = prepare_forecast(runs, **rows)
    question = _question(prepared.runs, _likely(prepared.predictive), at, budget, purpose, paid, sizes)
    most = most or MOST_RUNS
    before = question.width()
    helps = (1.0 - WORTH) * before
    if spend is None:
        spend = question.usual_spend(helps)
    single, ordered = question.best(spend, 1), question.best(spend, most)
    lists = [single, *(ordered[: count + 1] for count in range(len(ordered)))]
    widths = [question.width(one) for one in lists]
    least = min(widths[0], widths[-1])
    if least > helps:
        price, size = question.least_that_helps(spend, helps)
        condition = "buys no run that narrows the interval by 5 %"
        raise InputError(
            "spend", f"{spend:.3g}", condition, f"spend at least {ROUNDED_UP * price:.3g} ({size})"
        )
    enough = min(least / (1.0 - WORTH), helps)
    chosen = lists[next(i for i, after in enumerate(widths) if after <= enough)]
    for i in range(len(chosen) - 1, -1, -1):  # without those that nobody would miss
        others = np.delete(chosen, i, axis=0)
        if len(others) and question.width(others) <= enough:
            chosen = others
    after = [question.width(chosen[: count + 1]) for count in range(len(chosen))]
    spent = float(chosen[:, 2].sum())
    left: tuple[str, ...] = ()
    if spent <= (1.0 - LEFT) * spend and len(chosen) < most:
        unspent = f"{short_compute(spend - spent)} of {short_compute(spend)} is left"
        left = (f"{unspent}: further runs narrow the interval by less than {percent(WORTH)}",)
    return NextRuns(
        purpose=purpose,
        targets=tuple((float(n), float(d)) for n, d in question.asked),
        runs=tuple(
            NextRun(N=N, D=D, cost=price, width_alone=question.width(chosen[[i]]), width_after=after[i])
            for i, (N, D, price) in enumerate(chosen.tolist())
        ),
        width_before=before,
        width_after=after[-1],
        width_single=widths[0],
        width_repeated=question.width(question.repeated(spend)),
        spent=spent,
        spend=spend,
        cost=cost,
        regret_before=question.regret(),
        regret_after=question.regret(chosen),
        warnings=(*dropped_words(prepared.dropped), *prepared.notes, *left),
        known=prepared.runs,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What is to be known, and what can be run for it. Runs are rows of N, D and price."""

    known: KnownRuns
    predictive: Predictive
    asked: FloatArray  # (targets, 2)
    target: Target
    curvature: float | None  # of the loss along the budget of a plan
    cost: Cost
    sizes: Any

    def variance(self, runs: FloatArray = NO_RUNS) -> FloatArray:
        return variance_after(self.predictive.posterior, self.target, runs[:, 0], runs[:, 1])

    def width(self, runs: FloatArray = NO_RUNS) -> float:
        """Of the 95 % interval, relative, with these runs; the mean over the targets."""
        if self.curvature is None:
            sd = np.sqrt(self.variance(runs) + self.predictive.posterior.run_noise[0] ** 2)
        else:
            sd = np.sqrt(self.variance(runs)) / self.curvature
        return float(np.mean(2.0 * np.sinh(self.predictive.calibration.half_width(0.95) * sd)))

    def regret(self, runs: FloatArray = NO_RUNS) -> float | None:
        if self.curvature is None:
            return None
        return float(np.mean(self.variance(runs)) / (2.0 * self.curvature))

    def best(self, spend: float, most: int) -> FloatArray:
        """At most so many runs for this money, the most telling one first."""
        N, D, prices = candidates(self.known, self.sizes, self.cost, spend)
        chosen = best_set(self.predictive.posterior, self.target, N, D, prices, spend, most)
        return np.column_stack([N, D, prices])[chosen]

    def one(self, spend: float) -> FloatArray:
        """The most telling run; none where the money buys none of the sizes."""
        try:
            return self.best(spend, 1)
        except InputError:
            return NO_RUNS

    def least_that_helps(self, spend: float, helps: float) -> tuple[float, str]:
        """The price and the size of a run that brings the width down to ``helps``, beyond this money."""
        for factor in LARGER:
            one = self.one(factor * spend)
            if self.width(one) <= helps:
                return float(one[0, 2]), f"N = {short_size(one[0, 0])}, D = {short_size(one[0, 1])}"
        if self.sizes is not None:
            largest = (
                f"up to N = {short_size(np.max(candidates(self.known, self.sizes, self.cost, np.inf)[0]))}"
            )
            raise InputError("sizes", largest, "have no run that narrows the interval by 5 %", "add others")
        scatter = "is hardly more than what single runs scatter by: no run narrows it by 5 %"
        raise InputError("interval", percent(helps / (1.0 - WORTH)), scatter, "ask about a larger run")

    def usual_spend(self, helps: float) -> float:
        """A tenth of what the targets cost, or the least that helps."""
        tenth = 0.1 * float(np.sum(self.cost.compute(*self.asked.T)))
        return tenth if self.width(self.one(tenth)) <= helps else self.least_that_helps(tenth, helps)[0]

    def repeated(self, spend: float) -> FloatArray:
        """Present runs to make once more for this money, the most expensive first."""
        runs = self.predictive.posterior.runs[0]
        prices = np.asarray(self.cost.compute(runs.N, runs.D), dtype=np.float64)
        again, left = [], spend
        for i in np.argsort(-prices, kind="stable"):
            if prices[i] <= left:
                again.append(int(i))
                left -= float(prices[i])
        return np.column_stack([runs.N, runs.D, prices])[again]


def _likely(predictive: Predictive) -> Predictive:
    """With the components that matter: sets of runs are judged in each of them, some forty times."""
    posterior = predictive.posterior
    order = np.argsort(-posterior.weights, kind="stable")
    kept = np.sort(order[: 1 + int(np.searchsorted(np.cumsum(posterior.weights[order]), MOST_WEIGHT))])
    weights = posterior.weights[kept] / posterior.weights[kept].sum()
    few = replace(posterior, components=tuple(posterior.components[i] for i in kept), weights=weights)
    return replace(predictive, posterior=few)


def _question(
    runs: KnownRuns,
    predictive: Predictive,
    at: Any,
    budget: float | None,
    purpose: Purpose,
    cost: Cost,
    sizes: Any,
) -> _Question:
    """Of the loss at sizes or at the best place of a budget; for a plan, of the slope of the loss there."""
    curvature = None
    if at is not None:
        pair = check_points(at)
    else:
        C = check_positive("budget", budget or 0.0)
        _, best = best_along(runs, predictive, cost, C)
        pair = np.array([[best, float(cost.data_for(best, C))]])
    target = Target(N=pair[:, 0], D=pair[:, 1], weights=np.eye(len(pair)))
    if purpose == "plan":
        beside = best * np.exp(BESIDE * np.array([-1.0, 0.0, 1.0]))
        data = np.asarray(cost.data_for(beside, C), dtype=np.float64)
        below, middle, above = predictive.posterior.log_losses(beside, data)[0]
        curvature = max(float(below - 2.0 * middle + above) / BESIDE**2, 1e-6)
        slope = np.array([[-0.5, 0.0, 0.5]]) / BESIDE
        target = Target(N=beside, D=data, weights=slope, part=PART)
    return _Question(
        known=runs,
        predictive=predictive,
        asked=pair,
        target=target,
        curvature=curvature,
        cost=cost,
        sizes=sizes,
    )


def candidates(
    runs: KnownRuns, sizes: Any, cost: Cost, spend: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """N, D and price of every run that ``spend`` buys."""
    ratio = runs.D / runs.N
    given = None if sizes is None else np.asarray(list(sizes), dtype=np.float64)
    if given is not None and given.ndim == 2:
        N, D = check_points([tuple(pair) for pair in given]).T
    else:
        if given is None:
            # The same steps whatever is spent: a run that a larger sum buys is there when it is given.
            models = float(runs.N.min()) * STEP ** np.arange(MOST_STEPS)
        else:
            models = np.array([check_positive("sizes", n) for n in given])
        N = np.repeat(models, RATIOS)
        D = N * np.tile(np.geomspace(ratio.min(), ratio.max(), RATIOS), models.size)
        near = D >= runs.D.min()  # a corner that no run is near teaches about itself
        N, D = N[near], D[near]
    prices = np.asarray(cost.compute(N, D), dtype=np.float64)
    keep = np.flatnonzero(prices <= spend * (1.0 + 1e-9))
    if not keep.size:
        least_price = f"spend at least {ROUNDED_UP * float(prices.min()):.3g}"
        raise InputError("spend", f"{spend:.3g}", "is below the cheapest candidate", least_price)
    if keep.size > MOST_CANDIDATES:
        raise InputError("sizes", keep.size, f"are more than {MOST_CANDIDATES} candidates", "name fewer")
    return N[keep], D[keep], prices[keep]


def percent(share: float) -> str:
    """As people read it.

    >>> percent(0.0312), percent(2.5)
    ('3.1 %', '250 %')
    """
    return f"{100.0 * share:.2g} %" if share < 1.0 else f"{100.0 * share:.0f} %"
