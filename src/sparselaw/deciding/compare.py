"""Which recipe is better: the difference in loss, how sure, and how much compute the better one saves.

At a budget each recipe has its own best N and D; at given sizes both have these. One draw gives both losses
and the whole frontier of the second recipe, so that the compute it needs for the loss of the first is read
off the same draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost, parse_cost
from sparselaw.deciding.contest import Comparison, Contest, ContestPoint
from sparselaw.deciding.recipes import ROWS, Recipe, Recipes, joined
from sparselaw.errors import InputError, check_positive
from sparselaw.forecasting.forecast_result import check_points
from sparselaw.forecasting.known_runs import FARTHEST, check_runs, spans_ahead
from sparselaw.forecasting.saved import data_hash
from sparselaw.interval import Interval, check_level
from sparselaw.planning.forecast_budgets import known_of
from sparselaw.planning.plan import passes

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 2000
REACH = 30.0  # the largest compute multiplier that is looked for, either way
STEP = 0.25  # of ln C, between the budgets that are drawn
STEPS = 41  # sizes along that range, where sizes are asked for
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
        recipes = a.recipes
    else:
        tables = _tables(a, b, others, by)
        recipes = tuple(_read(name, table, columns, where) for name, table in tables.items())
    if names is not None and len(names) != len(recipes):
        raise InputError("names", len(names), f"there are {len(recipes)} recipes", "give one name for each")
    if names is not None:
        recipes = tuple(replace(one, name=str(name)) for name, one in zip(names, recipes, strict=True))
    return compare_recipes(recipes, budget=budget, at=at, cost=cost, level=level, seed=seed)


def compare_recipes(
    recipes: tuple[Recipe, ...],
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
    _not_twice(recipes)
    _not_too_small(budgets, points, spent, recipes)
    contests = tuple(
        contest(joined(recipes[0], other), budgets, points, spent, level, seed) for other in recipes[1:]
    )
    return Comparison(contests=contests, cost=cost, level=level, seed=seed, recipes=recipes)


def contest(
    recipes: Recipes, budgets: FloatArray, points: FloatArray, cost: Cost, level: float, seed: int
) -> Contest:
    """Of two recipes: at ``budgets``, or where there are none at ``points`` (n, 2).

    One set of draws of both frontiers serves the budgets, the picture and the place where they cross.
    """
    asked = budgets if budgets.size else np.asarray(cost.compute(points[:, 0], points[:, 1]), np.float64)
    spent = [np.asarray(cost.compute(runs.N, runs.D)) for runs in recipes.runs]
    low = min(max(float(spent[0].min()), float(spent[1].min())), float(asked.min()))
    high = 1.5 * max(float(spent[0].max()), float(spent[1].max()), float(asked.max()))
    count = 2 + int(np.log(high / low * REACH**2) / STEP)
    wide = np.unique(np.r_[np.geomspace(low / REACH, high * REACH, count), low, high, budgets])
    shown = np.flatnonzero((wide >= low) & (wide <= high))
    both = [recipes.frontier(r, wide, budgets, cost) for r in (0, 1)]
    A, B = both[0][0][shown], both[1][0]
    recipe = np.repeat([0, 1], [A.size, B.size])
    drawn = recipes.draws(np.r_[A, B], np.r_[both[0][1][shown], both[1][1]], recipe, DRAWS, seed)
    of_A, of_B = drawn[:, : A.size], drawn[:, A.size :]
    logs = np.array([passes(of_A[:, i], of_B, np.log(wide / wide[j])) for i, j in enumerate(shown)])

    def at_budget(C: float) -> ContestPoint:
        j = int(np.searchsorted(wide, C))
        i = int(np.searchsorted(shown, j))
        sizes = tuple((float(N[j]), float(D[j])) for N, D in both)
        return _point(C, sizes, of_A[:, i], of_B[:, j], logs[i], level, at_sizes=False)

    found = [at_budget(float(C)) for C in budgets]
    found += [_at_sizes(recipes, float(N), float(D), cost, level, seed) for N, D in points]
    ends = _ends(level)
    gap = of_A - of_B[:, shown]
    with np.errstate(invalid="ignore"):
        times = np.exp(np.quantile(logs, ends, axis=1, method="nearest"))
    crosses = np.flatnonzero(gap[:, 0] * gap[:, -1] < 0.0)
    crossing = None
    if crosses.size >= max(2, DRAWS // 20):
        places = np.array([_first_zero(gap[i], np.log(wide[shown])) for i in crosses])
        crossing = _interval(np.exp(places), level)
    said = _findings(recipes, found)
    return Contest(
        points=tuple(found),
        crossing=crossing,
        crossing_probability=crosses.size / DRAWS,
        status=said[0][0] if said else "ok",
        warnings=tuple(words for _, words in said),
        curve={
            "budget": wide[shown],
            "A": np.exp(np.quantile(of_A, ends, axis=0)),
            "B": np.exp(np.quantile(of_B[:, shown], ends, axis=0)),
            "multiplier": times,
            "probability": np.mean(gap < 0.0, axis=0),
        },
        recipes=recipes,
    )


def _at_sizes(recipes: Recipes, N: float, D: float, cost: Cost, level: float, seed: int) -> ContestPoint:
    """B is scaled up and down from (N, D) along a constant D / N until it has the loss of A."""
    factors = np.geomspace(1.0 / REACH, REACH, STEPS)
    C = float(cost.compute(N, D))
    along = N * np.sqrt(factors), D * np.sqrt(factors)
    recipe = np.r_[0, np.ones(STEPS, dtype=np.int64)]
    drawn = recipes.draws(np.r_[N, along[0]], np.r_[D, along[1]], recipe, DRAWS, seed)
    A, B = drawn[:, 0], drawn[:, 1:]
    logs = passes(A, B, np.log(np.asarray(cost.compute(*along)) / C))
    return _point(C, ((N, D), (N, D)), A, B[:, STEPS // 2], logs, level, at_sizes=True)


def _point(
    C: float, sizes: Any, A: FloatArray, B: FloatArray, logs: FloatArray, level: float, at_sizes: bool
) -> ContestPoint:
    """From draws of both log losses, and of the log of the multiplier."""
    gap = np.exp(A) - np.exp(B)
    return ContestPoint(
        budget=C,
        sizes=sizes,
        losses=(_interval(np.exp(A), level), _interval(np.exp(B), level)),
        difference=_interval(gap, level),
        probability=float(np.mean(gap < 0.0)),
        multiplier=_within_reach(logs, level),
        at_sizes=at_sizes,
    )


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


def _ends(level: float) -> list[float]:
    return [0.5 * (1.0 - level), 0.5, 0.5 * (1.0 + level)]


def _interval(values: FloatArray, level: float) -> Interval:
    return Interval(*map(float, np.quantile(values, _ends(level))))


def _within_reach(logs: FloatArray, level: float) -> Interval:
    """An end that lies beyond the reach is infinite (or zero): it is not known."""
    ends = np.quantile(logs, _ends(level), method="nearest")
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


def _read(name: str, table: Any, columns: Mapping[str, str] | None, where: str | Sequence[str]) -> Recipe:
    """A table that allows a forecast."""
    runs, clean = known_of(table, columns=columns, where=where)
    check_runs(runs)
    thin = f"{name}: {ROWS} of {len(runs)} rows used, evenly along compute"
    return Recipe(name=name, runs=runs, notes=(*clean.get("notes", ()), *([thin] * (len(runs) > ROWS))))


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


def _not_twice(recipes: Sequence[Recipe]) -> None:
    first = data_hash(recipes[0].runs)
    for other in recipes[1:]:
        if data_hash(other.runs) == first:
            raise InputError(
                "recipe", other.name, f"has the same runs as {recipes[0].name}", "give another table"
            )


def _not_too_small(budgets: FloatArray, points: FloatArray, cost: Cost, recipes: Sequence[Recipe]) -> None:
    """A budget below every run asks for nothing that a forecast knows."""
    cheapest = min(float(np.min(cost.compute(one.runs.N, one.runs.D))) for one in recipes)
    asked = budgets if budgets.size else np.array([float(cost.compute(N, D)) for N, D in points])
    for C in asked:
        if C < cheapest:
            raise InputError(
                "budget",
                f"{C:.3g}",
                "is below every run of the tables",
                f"choose at least {cheapest:.3g}",
            )
