"""What a comparison hands out: each further recipe against the first, at budgets or at sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparselaw.arrays import FloatArray
from sparselaw.deciding.recipes import REACH, Recipe, Recipes
from sparselaw.forecasting.saved import runs_content
from sparselaw.interval import Interval
from sparselaw.numbers import short_compute, short_probability, short_size
from sparselaw.records import Record, Saved, finite, frame, html_table, to_dict

if TYPE_CHECKING:
    import pandas as pd

KIND = "sparselaw comparison"
SURE, LIKELY = 0.95, 0.75  # probabilities that are called so
NO_END = f"the multiplier lies beyond a factor of {REACH:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestPoint(Record):
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

    @property
    def undecided(self) -> bool:
        """Whether either recipe may well be the better one."""
        return max(self.probability, 1.0 - self.probability) < LIKELY

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        N, D = zip(*self.sizes, strict=True)
        place = {"N": N[0], "D": D[0]} if self.at_sizes else {"budget": self.budget, "N": [*N], "D": [*D]}
        return place | to_dict(self, "losses", "difference", "probability", "multiplier", multiplier=NO_END)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest(Record):
    """Recipe A against recipe B.

    ``crossing`` is the compute at which the better one changes, with its interval among the draws in which it
    does; ``crossing_probability`` is the share of these draws. ``curve`` has budgets and quantiles for a
    picture.
    """

    points: tuple[ContestPoint, ...]
    crossing: Interval | None
    crossing_probability: float
    status: str
    warnings: tuple[str, ...]
    level: float  # of the intervals
    curve: Mapping[str, FloatArray] = field(repr=False)
    recipes: Recipes = field(repr=False)

    @property
    def names(self) -> tuple[str, str]:
        """Of A and B."""
        return self.recipes.names

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        common = self.recipes.posterior.common
        curve = {name: self.curve[name].tolist() for name in ("budget", "probability")}
        for name in ("A", "B", "multiplier"):
            ends = [[finite(v) for v in values] for values in self.curve[name].tolist()]
            curve[name] = dict(zip(("low", "best", "high"), ends, strict=True))
        return to_dict(self, "points", "crossing_probability", "status", "warnings") | {
            "recipes": list(self.names),
            "crossing": None if self.crossing is None else self.crossing.as_dict(),
            "correlation": self.recipes.rho,
            "shared_sizes": self.recipes.shared_sizes,
            "shared_seeds": 0 if common is None else common.first.size,
            "noise_correlation": 0.0 if common is None else common.correlation,
            "curve": curve,
        }

    def words(self) -> str:
        """The answer at the last point, in a sentence."""
        a, b = self.names
        point = self.points[-1]
        better, p = (a, point.probability) if point.probability >= 0.5 else (b, 1.0 - point.probability)
        if point.undecided:
            return f"{a} and {b} cannot be told apart (P({a} lower) = {short_probability(point.probability)})"
        m = point.multiplier
        how = "surely" if p >= SURE and not m.low <= 1.0 <= m.high else "probably"
        needs = f"{b} needs {_times(point)} times the compute of {a} for its loss"
        return f"{better} is {how} better (probability {short_probability(p)}); {needs}"

    def crossing_words(self) -> str:
        """Where the two change places; empty where they hardly do."""
        if self.crossing is None:
            return ""
        low, best, high = map(short_compute, self.crossing)
        sure = f"probability {short_probability(self.crossing_probability)}"
        return f"{' and '.join(self.names)} change places at C = {best} [{low}, {high}] ({sure})"

    def shared_words(self) -> str:
        """What both recipes have in common, and what was made of it."""
        common, sizes = self.recipes.posterior.common, self.recipes.shared_sizes
        shared = f"{sizes or 'no'} pairs (N, D) in both tables"
        if common is not None:
            seeds = f"{common.first.size} of their runs also the seed"
            shared += f", {seeds}: the noise of these correlates by {common.correlation:.2f}"
        rho = f"{self.recipes.rho:.2f}"
        return f"{shared}; deviations from the laws correlate by {rho} and cancel to that extent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Saved):
    """Every further recipe against the first."""

    contests: tuple[Contest, ...]
    cost: str
    level: float
    seed: int
    recipes: tuple[Recipe, ...] = field(repr=False)

    def kept(self) -> tuple[str, dict[str, Any]]:
        """The runs of every recipe, and what was asked."""
        recipes = [
            {"name": one.name, **runs_content(one.runs), "notes": list(one.notes)} for one in self.recipes
        ]
        asked = [[*p.sizes[0]] if p.at_sizes else p.budget for p in self.points]
        settings: dict[str, Any] = {"at" if self.points[0].at_sizes else "budget": asked}
        settings |= {"cost": self.cost, "level": self.level, "seed": self.seed}
        return KIND, {"recipes": recipes, "settings": settings}

    @property
    def names(self) -> tuple[str, ...]:
        """Of all recipes."""
        return tuple(one.name for one in self.recipes)

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
        """Of the tables and of all contests, each once."""
        notes = [f"{one.name}: {note}" for one in self.recipes for note in one.notes]
        return tuple(dict.fromkeys([*notes, *(w for contest in self.contests for w in contest.warnings)]))

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON; with more than two recipes ``contests`` has the others too."""
        own = to_dict(self, "cost", "level", "status", "warnings", "contests")
        return self.contests[0].as_dict() | own

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows in words; with more than two recipes A and B are named in every row."""
        several = len(self.contests) > 1
        a, b = ("A", "B") if several else self.names
        head = ["where", f"loss {a}", f"loss {b}", f"{a} - {b}", f"P({a} lower)", f"compute of {b} / {a}"]
        rows = []
        for contest in self.contests:
            for point in contest.points:
                (N, D), _ = point.sizes
                sizes = f"N = {short_size(N)}, D = {short_size(D)}"
                place = sizes if point.at_sizes else f"C = {short_compute(point.budget)}"
                losses = [f"{loss.best:.4g}" for loss in point.losses]
                numbers = [
                    *losses,
                    f"{point.difference:.3g}",
                    short_probability(point.probability),
                    _times(point),
                ]
                rows.append([*(contest.names if several else ()), place, *numbers])
        return ["A", "B", *head] if several else head, rows

    def to_frame(self) -> pd.DataFrame:
        """One row for each contest and point."""
        return frame(
            {"A": contest.names[0], "B": contest.names[1], "budget": point.budget}
            | dict(zip(("N_A", "D_A", "N_B", "D_B"), sum(point.sizes, ()), strict=True))
            | {name: getattr(point, name) for name in ("difference", "probability", "multiplier")}
            for contest in self.contests
            for point in contest.points
        )

    def __str__(self) -> str:
        return "\n".join(contest.words() for contest in self.contests)

    def _repr_html_(self) -> str:
        head, rows = self.table()
        notes = [contest.words() for contest in self.contests] + list(self.warnings)
        return html_table("Comparison of recipes", head, rows, notes)


def _times(point: ContestPoint) -> str:
    """The multiplier with its interval; by which side it is out of reach where it is."""
    if point.multiplier.best == point.multiplier.best:
        return f"{point.multiplier.best:.3g} {point.multiplier.ends()}"
    return f"more than {REACH:g}" if point.probability >= 0.5 else f"less than {1.0 / REACH:.2g}"
