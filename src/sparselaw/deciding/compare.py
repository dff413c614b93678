"""Which recipe is better: the difference in loss, how sure, and how much compute the better one saves.

At a budget each recipe has its own best N and D; at given sizes both have these. One draw gives both losses
and the whole frontier of the second recipe, so that the compute it needs for the loss of the first is read
off the same draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost, parse_cost
from sparselaw.deciding.contest import Comparison, Contest, ContestPoint
from sparselaw.deciding.recipes import Recipes, joined
from sparselaw.errors import InputError, check_positive
from sparselaw.forecasting import KnownRuns, Prepared
from sparselaw.forecasting.forecast_result import check_points
from sparselaw.forecasting.known_runs import FARTHEST, spans_ahead
from sparselaw.interval import Interval, check_level
from sparselaw.planning.forecast_budgets import prepare_forecast
from sparselaw.planning.plan import passes

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 2000
REACH = 30.0  # the largest compute multiplier that is looked for, either way
STEPS = 41  # budgets along that range
ALONG = 25  # budgets at which a crossing is looked for, and a picture is drawn
MOST_RECIPES = 12


def compare(
    a: pd.DataFrame | Mapping[str, Any] | str | Path | Comparison,
    b: pd.DataFrame | Mapping[str, Any] | str | Path | None = None,
    *others: pd.DataFrame | Mapping[str, Any] | str | Path,
    budget: float | Sequence[float] | None = None,
    at: Sequence[tuple[float, float]] | None = None,
    by: str | None = None,
    names: Sequence[str] | None = None,
    cost: str = "6nd",
    level: float = 0.95,
    columns: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
    seed: int = 0,
) -> Comparison:
    """Which of several recipes is better, at budgets or at sizes not yet run.

    Parameters
    ----------
    a, b, *others
        Tables of runs, one for each recipe, as ``fit`` takes them. Every further one is compared with ``a``.
        Or one comparison, kept or not: the same runs are asked anew.
    budget
        One or more budgets: each recipe at its own best N and D.
    at
        Pairs (N, D) in place of budgets.
    by
        Column of ``a`` that tells the recipes apart, in place of further tables. The first value in their
        order is A.
    names
        What to call the recipes.
    cost
        What a budget pays for, and what the multiplier is measured in.
    level
        Share that the intervals are meant to hold.
    columns
        Which column is N, D or the loss, where the names do not say it.
    where
        Conditions on the rows, such as "lr=0.1".
    seed
        Of the draws: the same seed gives the same numbers.

    Returns
    -------
    Comparison
        ``points`` have the difference in loss, the probability that A is lower, and the compute multiplier.

    Raises
    ------
    InputError
        Where a table allows no forecast, is given twice, or where budgets make no sense.

    Examples
    --------
    >>> sizes = [(n, d) for n in (1e8, 2e8, 4e8, 8e8) for d in (2e9, 4e9, 8e9, 1.6e10)]
    >>> def table(scale):
    ...     loss = [2 + 500 / (scale * n) ** 0.35 + 900 / d**0.33 for n, d in sizes]
    ...     return {"N": [n for n, _ in sizes], "D": [d for _, d in sizes], "loss": loss}
    >>> found = compare(table(1.5), table(1.0), budget=1e21)
    >>> found.points[0].probability > 0.95
    True
    """
    if isinstance(a, Comparison):
        known = dict(zip(a.names, a.prepared, strict=True))
    else:
        tables = _tables(a, b, others, by)
        rows: dict[str, Any] = {"columns": columns, "where": where}
        known = {name: prepare_forecast(table, **rows) for name, table in tables.items()}
    asked: dict[str, Any] = {"budget": budget, "at": at, "cost": cost, "level": level, "seed": seed}
    return compare_prepared(_labels(list(known), names), tuple(known.values()), **asked)


def compare_prepared(
    labels: Sequence[str],
    prepared: tuple[Prepared, ...],
    *,
    budget: float | Sequence[float] | None = None,
    at: Sequence[tuple[float, float]] | None = None,
    cost: str = "6nd",
    level: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """``compare`` of runs that are read already."""
    level, spent = check_level(level), parse_cost(cost, None)
    budgets, points = _asked(budget, at)
    _not_twice([one.runs for one in prepared], labels)
    _not_too_small(budgets, points, spent, [one.runs for one in prepared])
    contests = tuple(
        contest((labels[0], labels[i]), (prepared[0], prepared[i]), budgets, points, spent, level, seed)
        for i in range(1, len(prepared))
    )
    return Comparison(contests=contests, cost=cost, level=level, seed=seed, prepared=prepared)


def contest(
    names: tuple[str, str],
    prepared: tuple[Prepared, Prepared],
    budgets: FloatArray,
    points: FloatArray,
    cost: Cost,
    level: float,
    seed: int,
) -> Contest:
    """Of two recipes: at ``budgets``, or where there are none at ``points`` (n, 2)."""
    recipes = joined(names, prepared)
    if budgets.size:
        found = [_at_budget(recipes, float(C), cost, level, seed) for C in budgets]
        reach = budgets
    else:
        found = [_at_sizes(recipes, float(N), float(D), cost, level, seed) for N, D in points]
        reach = np.array([float(cost.compute(N, D)) for N, D in points])
    curve, crossing, share = _along(recipes, reach, cost, level, seed)
    said = _findings(recipes, found)
    return Contest(
        names=names,
        points=tuple(found),
        crossing=crossing,
        crossing_probability=share,
        correlation=recipes.rho,
        shared_sizes=recipes.shared_sizes,
        status=said[0][0] if said else "ok",
        warnings=tuple(
            dict.fromkeys([*prepared[0].notes, *prepared[1].notes, *(words for _, words in said)])
        ),
        curve=curve,
        recipes=recipes,
    )


def _at_budget(recipes: Recipes, C: float, cost: Cost, level: float, seed: int) -> ContestPoint:
    fine = C * np.geomspace(1.0 / REACH, REACH, STEPS)
    own = recipes.frontier(0, np.array([C]), cost)
    other = recipes.frontier(1, fine, cost)
    return _point(recipes, own, other, fine, C, level, seed, at_sizes=False)


def _at_sizes(recipes: Recipes, N: float, D: float, cost: Cost, level: float, seed: int) -> ContestPoint:
    """B is scaled up and down from (N, D) along a constant D / N until it has the loss of A."""
    factors = np.geomspace(1.0 / REACH, REACH, STEPS)
    C = float(cost.compute(N, D))
    along = (N * np.sqrt(factors), D * np.sqrt(factors))
    own = (np.array([N]), np.array([D]))
    return _point(recipes, own, along, np.asarray(cost.compute(*along)), C, level, seed, at_sizes=True)


def _point(
    recipes: Recipes,
    own: tuple[FloatArray, FloatArray],
    other: tuple[FloatArray, FloatArray],
    spent: FloatArray,
    C: float,
    level: float,
    seed: int,
    at_sizes: bool,
) -> ContestPoint:
    recipe = np.r_[0, np.ones(STEPS, dtype=np.int64)]
    drawn = recipes.draws(np.r_[own[0], other[0]], np.r_[own[1], other[1]], recipe, DRAWS, seed)
    A, B = drawn[:, 0], drawn[:, 1:]
    middle = STEPS // 2
    gap = np.exp(A) - np.exp(B[:, middle])
    logs = passes(A, B, np.log(spent / C))
    return ContestPoint(
        budget=C,
        sizes=((float(own[0][0]), float(own[1][0])), (float(other[0][middle]), float(other[1][middle]))),
        losses=(_interval(np.exp(A), level), _interval(np.exp(B[:, middle]), level)),
        difference=_interval(gap, level),
        probability=float(np.mean(gap < 0.0)),
        multiplier=_within_reach(logs, level),
        at_sizes=at_sizes,
    )


def _along(
    recipes: Recipes, reach: FloatArray, cost: Cost, level: float, seed: int
) -> tuple[dict[str, FloatArray], Interval | None, float]:
    """Both frontiers and the multiplier from the runs to the largest budget asked; and where they cross."""
    spent = [np.asarray(cost.compute(runs.N, runs.D)) for runs in recipes.runs]
    low = min(max(float(spent[0].min()), float(spent[1].min())), float(reach.min()))
    high = max(float(spent[0].max()), float(spent[1].max()), float(reach.max()))
    budgets = np.geomspace(low, 1.5 * high, ALONG)
    A, B = (recipes.frontier(r, budgets, cost) for r in (0, 1))
    recipe = np.repeat([0, 1], ALONG)
    drawn = recipes.draws(np.r_[A[0], B[0]], np.r_[A[1], B[1]], recipe, DRAWS, seed)
    ends = [0.5 * (1.0 - level), 0.5, 0.5 * (1.0 + level)]
    gap = drawn[:, :ALONG] - drawn[:, ALONG:]
    logs = np.array(
        [passes(drawn[:, i], drawn[:, ALONG:], np.log(budgets / budgets[i])) for i in range(ALONG)]
    )
    with np.errstate(invalid="ignore"):
        times = np.exp(np.quantile(logs, ends, axis=1, method="nearest"))
    curve = {
        "budget": budgets,
        "A": np.exp(np.quantile(drawn[:, :ALONG], ends, axis=0)),
        "B": np.exp(np.quantile(drawn[:, ALONG:], ends, axis=0)),
        "multiplier": times,
        "probability": np.mean(gap < 0.0, axis=0),
    }
    crosses = np.flatnonzero(gap[:, 0] * gap[:, -1] < 0.0)
    if crosses.size < max(2, DRAWS // 20):
        return curve, None, crosses.size / DRAWS
    place = np.array([_first_zero(gap[i], np.log(budgets)) for i in crosses])
    return curve, _interval(np.exp(place), level), crosses.size / DRAWS


def _first_zero(gap: FloatArray, x: FloatArray) -> float:
    i = int(np.flatnonzero(gap[:-1] * gap[1:] <= 0.0)[0])
    share = 0.0 if gap[i] == gap[i + 1] else gap[i] / (gap[i] - gap[i + 1])
    return float(x[i] + share * (x[i + 1] - x[i]))


def _findings(recipes: Recipes, points: Sequence[ContestPoint]) -> list[tuple[str, str]]:
    """(status, words), the gravest first."""
    found = []
    if not recipes.posterior.converged:
        found.append(("not-converged", "the joint law did not converge: the intervals may be wrong"))
    for name, runs, side in zip(recipes.names, recipes.runs, (0, 1), strict=True):
        ahead = max(float(spans_ahead(runs, *map(np.asarray, p.sizes[side]))) for p in points)
        if ahead > FARTHEST:
            found.append(("far", f"{name}: a point lies {ahead:.1f} spans of log compute ahead of its runs"))
    spans = [(runs.log_compute.min(), runs.log_compute.max()) for runs in recipes.runs]
    if spans[0][0] > spans[1][1] or spans[1][0] > spans[0][1]:
        found.append(("no-overlap", "the tables have no compute in common: the difference is extrapolated"))
    if any(not np.isfinite(p.multiplier.low) or not np.isfinite(p.multiplier.high) for p in points):
        found.append(("wide", "the compute multiplier is not known within a factor of 30"))
    return found


def _interval(values: FloatArray, level: float) -> Interval:
    low, middle, high = np.quantile(values, [0.5 * (1.0 - level), 0.5, 0.5 * (1.0 + level)])
    return Interval(float(low), float(middle), float(high))


def _within_reach(logs: FloatArray, level: float) -> Interval:
    """An end that lies beyond the reach is infinite (or zero): it is not known."""
    ends = np.quantile(logs, [0.5 * (1.0 - level), 0.5, 0.5 * (1.0 + level)], method="nearest")
    with np.errstate(over="ignore"):
        low, middle, high = (float(v) for v in np.exp(ends))
    return Interval(low if low > 0.0 else float("nan"), middle, high if np.isfinite(high) else float("nan"))


def _tables(a: Any, b: Any, others: Sequence[Any], by: str | None) -> dict[str, Any]:
    """Recipe by its name."""
    if by is not None:
        if b is not None:
            raise InputError(
                "by", by, "splits one table, and several are given", "give one table or leave out by"
            )
        return split_by(a, by)
    if b is None:
        raise InputError("b", None, "there is one recipe only", "give a second table, or by=COLUMN")
    given = [a, b, *others]
    named = [
        Path(one).stem if isinstance(one, str | Path) else chr(ord("A") + i) for i, one in enumerate(given)
    ]
    if len(set(named)) < len(named):
        named = [f"{name} ({i + 1})" for i, name in enumerate(named)]
    return dict(zip(named, given, strict=True))


def split_by(source: Any, by: str) -> dict[str, Any]:
    """One table for each value of the column, in the order of the values."""
    from sparselaw.fitting.clean_runs import as_table
    from sparselaw.fitting.tables import split

    parts = {str(value): part for value, part in split(as_table(source), by)}
    if not 2 <= len(parts) <= MOST_RECIPES:
        raise InputError(
            "by",
            by,
            f"has {len(parts)} values, and recipes are 2 to {MOST_RECIPES}",
            "name another column, or take some rows with where",
        )
    return parts


def _labels(found: list[str], names: Sequence[str] | None) -> list[str]:
    if names is None:
        return found
    if len(names) != len(found):
        raise InputError("names", len(names), f"there are {len(found)} recipes", "give one name for each")
    return [str(name) for name in names]


def _asked(
    budget: float | Sequence[float] | None, at: Sequence[tuple[float, float]] | None
) -> tuple[FloatArray, FloatArray]:
    if (budget is None) == (at is None):
        raise InputError(
            "budget", budget, "give budgets or sizes, and not both", "write budget=C or at=[(N, D)]"
        )
    if at is not None:
        return np.array([]), check_points(at)
    given: Iterable[Any] = budget if isinstance(budget, Iterable) else [budget]
    return np.array([check_positive("budget", C) for C in given]), np.empty((0, 2))


def _not_twice(runs: Sequence[KnownRuns], names: Sequence[str]) -> None:
    first = runs[0].in_order()
    for name, other in zip(names[1:], runs[1:], strict=True):
        same = other.in_order()
        if len(first) == len(same) and all(
            np.array_equal(getattr(first, column), getattr(same, column)) for column in ("N", "D", "loss")
        ):
            raise InputError("recipe", name, f"has the same runs as {names[0]}", "give another table")


def _not_too_small(budgets: FloatArray, points: FloatArray, cost: Cost, runs: Sequence[KnownRuns]) -> None:
    """A budget below every run asks for nothing that a forecast knows."""
    cheapest = min(float(np.min(cost.compute(one.N, one.D))) for one in runs)
    asked = budgets if budgets.size else np.array([float(cost.compute(N, D)) for N, D in points])
    for C in asked:
        if C < cheapest:
            raise InputError(
                "budget", f"{C:.3g}", "is below every run of the tables", f"choose at least {cheapest:.3g}"
            )
