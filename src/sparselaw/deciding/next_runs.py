"""Which runs to make now, so that the forecast at a target, or the plan for a budget, becomes as sure as the
money allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost, parse_cost
from sparselaw.deciding.designs import Target, best_set, variance_after
from sparselaw.errors import InputError, check_positive
from sparselaw.forecasting import KnownRuns, Predictive
from sparselaw.forecasting.forecast_result import check_points
from sparselaw.numbers import short_compute, short_size
from sparselaw.planning.allocate import log_sizes
from sparselaw.planning.forecast_budgets import prepare_forecast
from sparselaw.planning.from_runs import best_along
from sparselaw.records import Record, dropped_words, frame, html_table, to_dict

if TYPE_CHECKING:
    import pandas as pd

Purpose = Literal["forecast", "plan"]
MOST_RUNS = 8  # unless asked for
MODELS, RATIOS = 16, 9  # N and D / N of candidates that nobody has named
MOST_CANDIDATES = 2000
BESIDE = 0.7  # ln N to either side of the best one, for the slope and the curvature of the loss
NOTICED = 0.03  # of the width: a run that brings less is left out
LEFT = 0.1  # of what may be spent: said
HELPS = 0.95  # of the width before: nothing above it is worth a run
LARGER = (3.0, 10.0, 30.0, 100.0, 1e3, 1e4)  # times what may be spent, where that buys nothing that helps
MOST_WEIGHT = 0.98  # of the components of the posterior that count
PART = 0.5  # of the discrepancy, where the place of a minimum is asked for


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


def next_runs(
    runs: pd.DataFrame | Mapping[str, Any] | str | Path,
    *,
    spend: float,
    at: Sequence[tuple[float, float]] | None = None,
    budget: float | None = None,
    most: int | None = None,
    sizes: Sequence[float] | Sequence[tuple[float, float]] | None = None,
    purpose: Purpose = "forecast",
    cost: str = "6nd",
    columns: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
    group: str | None = None,
) -> NextRuns:
    """The runs to make now so that a forecast or a plan becomes as sure as ``spend`` allows.

    Parameters
    ----------
    runs
        A table of runs as ``fit`` takes it.
    spend
        What all new runs together may cost.
    at
        Pairs (N, D) whose loss is to be forecast.
    budget
        A budget in place of ``at``: its best N and D are the target.
    most
        Largest number of runs.
    sizes
        What can be run: N, with D chosen freely, or pairs (N, D). Otherwise a grid from the smallest N of the
        table to the largest that ``spend`` buys.
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
    spend = check_positive("spend", spend)
    if purpose not in get_args(Purpose):
        raise InputError("for", purpose, "is no purpose", f"choose one of {', '.join(get_args(Purpose))}")
    if (budget is None) == (at is None):
        raise InputError("at", at, "give sizes or a budget, and not both", "write at=[(N, D)] or budget=C")
    if purpose == "plan" and budget is None:
        raise InputError("for", "plan", "needs a budget to plan for", "give budget=C")
    prepared = prepare_forecast(runs, group=group, columns=columns, where=where)
    known, predictive = prepared.runs, _likely(prepared.predictive)
    posterior = predictive.posterior
    asked, target, curvature = _target(known, predictive, at, budget, purpose, paid)
    N, D, prices = candidates(known, sizes, paid, spend)

    def width(variance: FloatArray) -> float:
        """Of the 95 % interval, relative; the mean over the targets."""
        if curvature is None:
            sd = np.sqrt(variance + posterior.run_noise[0] ** 2)
        else:
            sd = np.sqrt(variance) / curvature
        half = predictive.calibration.half_width(0.95) * sd
        return float(np.mean(2.0 * np.sinh(half)))

    def with_runs(N: FloatArray, D: FloatArray) -> float:
        return width(variance_after(posterior, target, N, D))

    now = variance_after(posterior, target)
    before = width(now)
    chosen = best_set(posterior, target, N, D, prices, spend, most or MOST_RUNS)
    most_width = with_runs(N[chosen], D[chosen]) * (1.0 + NOTICED)
    for i in chosen[::-1]:  # without those whose absence nobody would notice, the last ones first
        without = chosen[chosen != i]
        if without.size and with_runs(N[without], D[without]) <= most_width:
            chosen = without
    made = tuple(
        NextRun(
            N=float(N[i]),
            D=float(D[i]),
            cost=float(prices[i]),
            width_alone=with_runs(N[[i]], D[[i]]),
            width_after=with_runs(N[chosen[: place + 1]], D[chosen[: place + 1]]),
        )
        for place, i in enumerate(chosen)
    )
    if not made or made[-1].width_after > HELPS * before:
        for factor in LARGER:
            n, d, paid_for = candidates(known, sizes, paid, factor * spend)
            one = best_set(posterior, target, n, d, paid_for, factor * spend, 1)
            if with_runs(n[one], d[one]) <= HELPS * before:
                size = f"(N = {short_size(n[one][0])}, D = {short_size(d[one][0])})"
                remedy = f"spend at least {float(paid_for[one].sum()):.3g} {size}"
                break
        else:
            remedy = "add sizes nearer the target"
        condition = "buys no run that narrows the interval by 5 %"
        raise InputError("spend", f"{spend:.3g}", condition, remedy)
    single = best_set(posterior, target, N, D, prices, spend, 1)
    repeated = _affordable(posterior.runs[0], paid, spend)
    spent = float(prices[chosen].sum())
    left: tuple[str, ...] = ()
    if spent <= (1.0 - LEFT) * spend and chosen.size < (most or MOST_RUNS):
        unspent = f"{short_compute(spend - spent)} of {short_compute(spend)} is left"
        left = (f"{unspent}: no further run narrows the interval by {percent(NOTICED)}",)
    regret: list[float | None] = [None, None]
    if curvature is not None:
        later = variance_after(posterior, target, N[chosen], D[chosen])
        regret = [float(np.mean(variance) / (2.0 * curvature)) for variance in (now, later)]
    return NextRuns(
        purpose=purpose,
        targets=tuple((float(n), float(d)) for n, d in asked),
        runs=made,
        width_before=before,
        width_after=made[-1].width_after,
        width_single=with_runs(N[single], D[single]),
        width_repeated=with_runs(repeated.N, repeated.D),
        spent=spent,
        spend=spend,
        cost=cost,
        regret_before=regret[0],
        regret_after=regret[1],
        warnings=(*dropped_words(prepared.dropped), *prepared.notes, *left),
        known=known,
    )


def _likely(predictive: Predictive) -> Predictive:
    """With the components that matter: sets of runs are judged in each of them, some forty times."""
    posterior = predictive.posterior
    order = np.argsort(-posterior.weights, kind="stable")
    kept = np.sort(order[: 1 + int(np.searchsorted(np.cumsum(posterior.weights[order]), MOST_WEIGHT))])
    weights = posterior.weights[kept] / posterior.weights[kept].sum()
    few = replace(posterior, components=tuple(posterior.components[i] for i in kept), weights=weights)
    return replace(predictive, posterior=few)


def _target(
    runs: KnownRuns, predictive: Predictive, at: Any, budget: float | None, purpose: Purpose, cost: Cost
) -> tuple[FloatArray, Target, float | None]:
    """The (N, D) asked for; what is to be known; for a plan the curvature of the loss along the budget."""
    if at is not None:
        pair = check_points(at)
    else:
        C = check_positive("budget", budget or 0.0)
        _, best = best_along(runs, predictive, cost, C)
        pair = np.array([[best, float(cost.data_for(best, C))]])
    if purpose == "forecast":
        return pair, Target(N=pair[:, 0], D=pair[:, 1], weights=np.eye(len(pair))), None
    beside = best * np.exp(BESIDE * np.array([-1.0, 0.0, 1.0]))
    data = np.asarray(cost.data_for(beside, C), dtype=np.float64)
    below, middle, above = predictive.posterior.log_losses(beside, data)[0]
    curvature = max(float(below - 2.0 * middle + above) / BESIDE**2, 1e-6)
    slope = np.array([[-0.5, 0.0, 0.5]]) / BESIDE
    return pair, Target(N=beside, D=data, weights=slope, part=PART), curvature


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
            budget = max(spend, float(cost.compute(1.0, 1.0)))
            tried = np.exp(log_sizes(cost, budget, 4001))
            bought = cost.data_for(tried, budget) >= ratio.min() * tried
            least = float(runs.N.min())
            models = np.geomspace(least, max(float(tried[bought].max(initial=1.0)), 1.01 * least), MODELS)
        else:
            models = np.array([check_positive("sizes", n) for n in given])
        N = np.repeat(models, RATIOS)
        D = N * np.tile(np.geomspace(ratio.min(), ratio.max(), RATIOS), models.size)
        near = D >= runs.D.min()  # a corner that no run is near teaches about itself
        N, D = N[near], D[near]
    prices = np.asarray(cost.compute(N, D), dtype=np.float64)
    keep = np.flatnonzero(prices <= spend * (1.0 + 1e-9))
    if not keep.size:
        least_price = f"spend at least {float(prices.min()):.3g}"
        raise InputError("spend", f"{spend:.3g}", "is below the cheapest candidate", least_price)
    if keep.size > MOST_CANDIDATES:
        raise InputError("sizes", keep.size, f"are more than {MOST_CANDIDATES} candidates", "name fewer")
    return N[keep], D[keep], prices[keep]


def _affordable(runs: KnownRuns, cost: Cost, spend: float) -> KnownRuns:
    """Present runs to make once more for this money, the most expensive first."""
    prices = np.asarray(cost.compute(runs.N, runs.D), dtype=np.float64)
    again, left = [], spend
    for i in np.argsort(-prices, kind="stable"):
        if prices[i] <= left:
            again.append(int(i))
            left -= float(prices[i])
    return runs.take(np.array(again, dtype=np.int64))


def percent(share: float) -> str:
    """As people read it.

    >>> percent(0.0312), percent(2.5)
    ('3.1 %', '250 %')
    """
    return f"{100.0 * share:.2g} %" if share < 1.0 else f"{100.0 * share:.0f} %"
