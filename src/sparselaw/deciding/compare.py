"""Which recipe is better: the difference in loss, how sure, and how much compute the better one saves.

At a budget each recipe has its own best N and D; at given sizes both have these. One draw gives both losses
and the whole frontier of the second recipe, so that the compute it needs for the loss of the first is read
off the same draw.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray, on_one_thread
from sparselaw.costs import Cost, parse_cost
from sparselaw.deciding.contest import Comparison, Contest, ContestPoint
from sparselaw.deciding.recipes import REACH, ROWS, Recipe, Recipes, joined, prior_of
from sparselaw.errors import InputError, check_positive
from sparselaw.forecasting.forecast_result import check_points
from sparselaw.forecasting.known_runs import FARTHEST, check_runs, spans_ahead
from sparselaw.forecasting.saved import data_hash
from sparselaw.interval import Interval, check_level
from sparselaw.planning.forecast_budgets import known_of
from sparselaw.records import dropped_words
from sparselaw.search import passes

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 2000
STEP = 0.25  # of ln C, between the budgets that are drawn
STEPS = 41  # sizes along that range, where sizes are asked for
CROSSING_SAID = 0.05  # probability
MOST_RECIPES = 12
LONGEST_NAME = 24


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
        if b is not None or by or columns or where:
            condition = "are a comparison already"
            raise InputError("recipes", ", ".join(a.names), condition, "leave out what is for tables")
        recipes = a.recipes
    else:
        tables = _tables(a, b, others, by)
        recipes = tuple(_read(name, table, columns, where) for name, table in tables.items())
    if names is not None and len(names) != len(recipes):
        raise InputError("names", len(names), f"there are {len(recipes)} recipes", "give one name for each")
    if names is not None:
        recipes = tuple(replace(one, name=str(name)) for name, one in zip(names, recipes, strict=True))
    return compare_recipes(recipes, budget=budget, at=at, cost=cost, level=level, seed=seed)


@on_one_thread
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
    if (budget is None) == (at is None):
        raise InputError(
            "budget", budget, "give budgets or sizes, and not both", "write budget=C or at=[(N, D)]"
        )
    points = np.empty((0, 2)) if at is None else check_points(at)
    if at is None:
        given: Iterable[Any] = budget if isinstance(budget, Iterable) else [budget]
        asked = np.array([check_positive("budget", C) for C in given])
    else:
        asked = np.asarray(spent.compute(points[:, 0], points[:, 1]), dtype=np.float64)
    first = data_hash(recipes[0].runs)
    for other in recipes[1:]:
        if data_hash(other.runs) == first:
            same = f"has the same runs as {recipes[0].name}"
            raise InputError("recipe", other.name, same, "give another table")
    cheapest = min(float(np.min(spent.compute(one.runs.N, one.runs.D))) for one in recipes)
    for C in asked[asked < cheapest]:  # a forecast knows nothing of what is asked there
        remedy = f"choose at least {cheapest:.3g}"
        raise InputError("budget", f"{C:.3g}", "is below every run of the tables", remedy)
    contests = tuple(
        contest(joined(recipes[0], other), asked, points, spent, level, seed) for other in recipes[1:]
    )
    return Comparison(contests=contests, cost=cost, level=level, seed=seed, recipes=recipes)


def contest(
    recipes: Recipes, asked: FloatArray, points: FloatArray, cost: Cost, level: float, seed: int
) -> Contest:
    """Of two recipes: at the budgets ``asked``, or at ``points`` (n, 2), which cost so much.

    One set of draws of both frontiers serves the budgets, the picture and the place where they cross.
    """
    ends = [0.5 * (1.0 - level), 0.5, 0.5 * (1.0 + level)]
    spent = [np.asarray(cost.compute(runs.N, runs.D)) for runs in recipes.runs]
    low = min(max(float(spent[0].min()), float(spent[1].min())), float(asked.min()))
    high = 1.5 * max(float(spent[0].max()), float(spent[1].max()), float(asked.max()))
    count = 2 + int(np.log(high / low * REACH**2) / STEP)
    budgets = asked if not points.size else np.array([])
    wide = np.unique(np.r_[np.geomspace(low / REACH, high * REACH, count), low, high, budgets])
    shown = np.flatnonzero((wide >= low) & (wide <= high))
    both = [recipes.frontier(r, wide, budgets, cost) for r in (0, 1)]
    N, D = (np.r_[both[0][i][shown], both[1][i]] for i in (0, 1))
    drawn = recipes.draws(N, D, np.repeat([0, 1], [shown.size, wide.size]), DRAWS, seed)
    A, B = drawn[:, : shown.size], drawn[:, shown.size :]
    logs = np.array([passes(A[:, i], B, np.log(wide / wide[j])) for i, j in enumerate(shown)]).T
    curve = summary(ends, A, B[:, shown], logs) | {"budget": wide[shown]}
    sizes: list[Any]
    if points.size:
        sizes = [((n, d), (n, d)) for n, d in points.tolist()]
        there = [_at_sizes(recipes, n, d, cost, seed) for n, d in points.tolist()]
        at = summary(ends, *(np.column_stack(each) for each in zip(*there, strict=True)))
    else:
        i = np.searchsorted(curve["budget"], budgets)
        sizes = [tuple((float(N[j]), float(D[j])) for N, D in both) for j in shown[i]]
        at = {name: values[..., i] for name, values in curve.items()}
    found = [
        ContestPoint(
            budget=C,
            sizes=sizes[i],
            losses=(Interval(*at["A"][:, i].tolist()), Interval(*at["B"][:, i].tolist())),
            difference=Interval(*at["difference"][:, i].tolist()),
            probability=float(at["probability"][i]),
            multiplier=Interval(*at["multiplier"][:, i].tolist()),
            at_sizes=bool(points.size),
        )
        for i, C in enumerate(asked.tolist())
    ]
    gap, weights = A - B[:, shown], prior_of(logs[:, -1])
    crosses = gap[:, 0] * gap[:, -1] < 0.0
    chance = float(np.average(crosses, weights=weights))
    crossing = None
    if np.count_nonzero(crosses) >= 2 and chance >= CROSSING_SAID:
        falling = gap[crosses] * np.sign(gap[crosses, :1])
        zeros = passes(np.zeros(len(falling)), falling, np.log(wide[shown]))
        crossing = Interval(*np.exp(weighted_quantiles(zeros, weights[crosses], ends)).tolist())
    odd = [f"{name}: {w}" for r, name in enumerate(recipes.names) for w in recipes.posterior.odd_rows(r)]
    said = _findings(recipes, found)
    return Contest(
        points=tuple(found),
        crossing=crossing,
        crossing_probability=chance,
        status=said[0][0] if said else "ok",
        warnings=(*odd, *(words for _, words in said)),
        level=level,
        curve=curve,
        recipes=recipes,
    )


def summary(ends: Sequence[float], A: FloatArray, B: FloatArray, logs: FloatArray) -> dict[str, FloatArray]:
    """Of draws (draws, places) of both log losses and of the log of the multiplier, each as likely as it was
    before any run: quantiles (ends, places), and the probability that A is lower."""
    weights, gap = prior_of(logs), np.exp(A) - np.exp(B)
    named = {"A": np.exp(A), "B": np.exp(B), "difference": gap, "multiplier": np.exp(logs)}
    found = {name: weighted_quantiles(values, weights, ends) for name, values in named.items()}
    times = found["multiplier"]
    times[np.isinf(times) | (times == 0.0)] = np.nan  # beyond reach it is not known
    return found | {"probability": np.average(gap < 0.0, axis=0, weights=weights)}


def weighted_quantiles(values: FloatArray, weights: FloatArray, ends: Sequence[float]) -> FloatArray:
    """(ends, places) of draws (draws, places), which may be infinite."""
    return np.asarray(np.quantile(values, ends, axis=0, weights=weights, method="inverted_cdf"))


def _at_sizes(
    recipes: Recipes, N: float, D: float, cost: Cost, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draws of both log losses at (N, D) and of the log of the multiplier: B is scaled up and down from there
    along a constant D / N until it has the loss of A."""
    factors = np.sqrt(np.geomspace(1.0 / REACH, REACH, STEPS))
    recipe = np.r_[0, np.ones(STEPS, dtype=np.int64)]
    each = recipes.draws(np.r_[N, N * factors], np.r_[D, D * factors], recipe, DRAWS, seed)
    A, B = each[:, 0], each[:, 1:]
    compute = np.asarray(cost.compute(N * factors, D * factors)) / float(cost.compute(N, D))
    return A, B[:, STEPS // 2], passes(A, B, np.log(compute))


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


def _tables(a: Any, b: Any, others: Sequence[Any], by: str | None) -> dict[str, Any]:
    """Recipe by its name; of one table by the values of a column, in their order."""
    if by is None:
        if b is None:
            raise InputError("b", None, "there is one recipe only", "give a second table, or by=COLUMN")
        given = [a, b, *others]
        if all(isinstance(one, str | Path) for one in given):
            return dict(zip(short_names(given), given, strict=True))
        return {chr(ord("A") + i): one for i, one in enumerate(given)}
    if b is not None:
        raise InputError(
            "by", by, "splits one table, and several are given", "give one table or leave out by"
        )
    from sparselaw.fitting.clean_runs import as_table
    from sparselaw.fitting.tables import split

    parts = {str(value): part for value, part in split(as_table(a), by)}
    if not 2 <= len(parts) <= MOST_RECIPES:
        condition = f"has {len(parts)} values, and recipes are 2 to {MOST_RECIPES}"
        raise InputError("by", by, condition, "name another column, or take some rows with where")
    return parts


def short_names(paths: Sequence[str | Path]) -> list[str]:
    """What tells the files apart: words that all names have are left out, and the middle of long names.

    >>> short_names(["marin_opt_adamw_best.csv", "marin_opt_muon_best.csv"])
    ['adamw', 'muon']
    >>> short_names(["adamw/runs.csv", "muon/runs.csv"]), short_names(["runs.csv", "runs-new.csv.gz"])
    (['adamw', 'muon'], ['runs', 'new'])
    """
    stems = [Path(str(path).removesuffix(".gz")).stem for path in paths]
    if len(set(stems)) < len(stems):
        stems = [f"{Path(path).parent.name} {stem}".strip() for path, stem in zip(paths, stems, strict=True)]
    words = [re.split(r"[\s_-]+", stem) for stem in stems]
    common = set.intersection(*map(set, words))
    found = [
        "_".join(word for word in own if word not in common) or stem
        for own, stem in zip(words, stems, strict=True)
    ]
    found = [one if len(one) <= LONGEST_NAME else f"{one[:10]}…{one[-10:]}" for one in found]
    different = len(set(found)) == len(found)
    return found if different else [f"{stem} ({i})" for i, stem in enumerate(stems, start=1)]


def _read(name: str, table: Any, columns: Mapping[str, str] | None, where: str | Sequence[str]) -> Recipe:
    """A table that allows a forecast."""
    runs, clean = known_of(table, columns=columns, where=where)
    check_runs(runs)
    thin = f"{ROWS} of {len(runs)} rows used, evenly along compute"
    dropped = dropped_words(clean.get("dropped", {}))
    notes = (*dropped, *clean.get("notes", ()), *([thin] * (len(runs) > ROWS)))
    return Recipe(name=name, runs=runs, notes=notes)
