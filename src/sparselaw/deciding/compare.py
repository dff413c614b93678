"""Which recipe is better: the difference in loss, how sure, and how much compute the better one saves.

At a budget each recipe has its own best N and D; at given sizes both have these. One draw gives both losses
and the whole frontier of the second recipe, so that the compute it needs for the loss of the first is read
off the same draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost, parse_cost
from sparselaw.deciding.recipes import Recipes, joined
from sparselaw.errors import InputError, check_positive
from sparselaw.forecasting import KnownRuns, Prepared
from sparselaw.forecasting.forecast_result import check_points
from sparselaw.forecasting.known_runs import FARTHEST, spans_ahead
from sparselaw.interval import Interval, check_level
from sparselaw.planning.forecast_budgets import prepare_forecast
from sparselaw.planning.plan import passes
from sparselaw.records import html_table

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 2000
REACH = 30.0  # the largest compute multiplier that is looked for, either way
STEPS = 41  # budgets along that range
ALONG = 25  # budgets at which a crossing is looked for, and a picture is drawn
SURE = 0.95
MOST_RECIPES = 12
NO_END = "the multiplier lies beyond a factor of 30"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestPoint:
    """Two recipes at one budget, or at one N and D.

    ``difference`` is the loss of A minus that of B, ``probability`` that of A being lower, ``multiplier`` the
    compute that B needs for the loss of A, over that of A.
    """

    budget: float
    sizes: tuple[tuple[float, float], tuple[float, float]]  # (N, D) of A and of B
    losses: tuple[Interval, Interval]
    difference: Interval
    probability: float
    multiplier: Interval
    at_sizes: bool  # asked by N and D, not by a budget

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        (N, D), other = self.sizes
        place = (
            {"N": N, "D": D}
            if self.at_sizes
            else {"budget": self.budget, "N": [N, other[0]], "D": [D, other[1]]}
        )
        return place | {
            "losses": [loss.as_dict() for loss in self.losses],
            "difference": self.difference.as_dict(),
            "probability": self.probability,
            "multiplier": self.multiplier.to_dict(NO_END),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Recipe A against recipe B.

    ``crossing`` is the compute at which the better one changes, with its interval among the draws in which it
    does; ``crossing_probability`` is the share of these draws. ``curve`` has budgets and quantiles for a
    picture.
    """

    names: tuple[str, str]
    points: tuple[ContestPoint, ...]
    crossing: Interval | None
    crossing_probability: float
    correlation: float
    shared_sizes: int
    status: str
    warnings: tuple[str, ...]
    curve: Mapping[str, FloatArray] = field(repr=False)
    recipes: Recipes = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "recipes": list(self.names),
            "points": [point.as_dict() for point in self.points],
            "crossing": None if self.crossing is None else self.crossing.as_dict(),
            "crossing_probability": self.crossing_probability,
            "correlation": self.correlation,
            "shared_sizes": self.shared_sizes,
            "status": self.status,
            "warnings": list(self.warnings),
        }

    def words(self) -> str:
        """The answer at the last point, in a sentence."""
        a, b = self.names
        point = self.points[-1]
        better, p = (a, point.probability) if point.probability >= 0.5 else (b, 1.0 - point.probability)
        if p < 0.75:
            return f"{a} and {b} cannot be told apart (P({a} lower) = {point.probability:.2f})"
        how = "surely" if p >= SURE else "probably"
        m = point.multiplier
        return (
            f"{better} is {how} better (probability {p:.2f}); {b} needs {m.best:.3g} {m.ends()} times "
            f"the compute of {a} for its loss"
        )

    def shared_words(self) -> str:
        """What both recipes have in common, and what was made of it."""
        return (
            f"{self.shared_sizes} pairs (N, D) in both tables; deviations from the laws correlate by "
            f"{self.correlation:.2f} and cancel to that extent"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Every further recipe against the first."""

    contests: tuple[Contest, ...]
    cost: str
    level: float

    @property
    def points(self) -> tuple[ContestPoint, ...]:
        """Of the first two recipes."""
        return self.contests[0].points

    @property
    def status(self) -> str:
        """``ok``, or what the first warning is about."""
        return next((c.status for c in self.contests if c.status != "ok"), "ok")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Of all contests, each once."""
        return tuple(dict.fromkeys(w for contest in self.contests for w in contest.warnings))

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON; with more than two recipes ``contests`` has the others too."""
        first = self.contests[0].as_dict()
        return first | {
            "cost": self.cost,
            "level": self.level,
            "status": self.status,
            "warnings": list(self.warnings),
            "contests": [contest.as_dict() for contest in self.contests],
        }

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows in words."""
        head = ["A", "B", "where", "loss A", "loss B", "A - B", "P(A lower)", "compute of B / A"]
        rows = [
            [
                *contest.names,
                _place(point),
                *(f"{loss.best:.4g}" for loss in point.losses),
                str(point.difference),
                f"{point.probability:.2f}",
                f"{point.multiplier.best:.3g} {point.multiplier.ends()}",
            ]
            for contest in self.contests
            for point in contest.points
        ]
        return head, rows

    def to_frame(self) -> pd.DataFrame:
        """One row for each contest and point."""
        import pandas as pd

        rows = [
            {"A": contest.names[0], "B": contest.names[1], "budget": point.budget}
            | {
                "N_A": point.sizes[0][0],
                "D_A": point.sizes[0][1],
                "N_B": point.sizes[1][0],
                "D_B": point.sizes[1][1],
            }
            | {f"difference_{end}": value for end, value in point.difference.as_dict().items()}
            | {"probability": point.probability}
            | {f"multiplier_{end}": value for end, value in point.multiplier.as_dict().items()}
            for contest in self.contests
            for point in contest.points
        ]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        return "\n".join(contest.words() for contest in self.contests)

    def _repr_html_(self) -> str:
        head, rows = self.table()
        notes = [contest.words() for contest in self.contests] + list(self.warnings)
        return html_table("Comparison of recipes", head, rows, notes)


def compare(
    a: pd.DataFrame | Mapping[str, Any] | str | Path,
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
    level, spent = check_level(level), parse_cost(cost, None)
    tables = _tables(a, b, others, by)
    labels = _labels(list(tables), names)
    budgets, points = _asked(budget, at)
    prepared = [prepare_forecast(table, columns=columns, where=where) for table in tables.values()]
    _not_twice([one.runs for one in prepared], labels)
    _not_too_small(budgets, points, spent, [one.runs for one in prepared])
    contests = tuple(
        contest((labels[0], labels[i]), (prepared[0], prepared[i]), budgets, points, spent, level, seed)
        for i in range(1, len(prepared))
    )
    return Comparison(contests=contests, cost=cost, level=level)


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


def _place(point: ContestPoint) -> str:
    if point.at_sizes:
        N, D = point.sizes[0]
        return f"N = {N:.3g}, D = {D:.3g}"
    return f"C = {point.budget:.3g}"
