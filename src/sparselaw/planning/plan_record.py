"""What a plan hands out: one for each budget, alone or side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparselaw.errors import InputError
from sparselaw.interval import Interval
from sparselaw.laws import Law
from sparselaw.numbers import short_compute, short_size
from sparselaw.planning.allocate import Valley
from sparselaw.planning.budget_curves import NO_POWERS, Growth, IsoFlop
from sparselaw.planning.from_law import UniqueData
from sparselaw.records import Saved, frame, html_table, put, to_dict

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.planning.from_training import TrainingAdvice

KIND = "sparselaw plan"  # of a file
NO_PEAK = "a fitted law has no double-descent peak"
NO_VALLEY = "not sought on a surface with a peak"
NOT_FALLING = "the loss does not fall at this budget"
NO_END = "a factor of a thousand from the best budget is not enough"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """``loss`` is reached with ``probability`` by the budget of the plan. ``cost`` is the budget for an even
    chance, by a law the law's own, with its interval."""

    loss: float
    probability: float | None  # None by a law or the theory where it was not asked for
    cost: Interval

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"target": self.loss, "probability": self.probability, "cost": self.cost.to_dict(NO_END)}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan(Saved):
    """How to spend ``budget``. N and D are real numbers: round them to what can be built.

    From runs ``loss`` is the forecast of a run made there; by a law it is the law's own, conditional on it.
    ``valley`` has the smallest and the largest N whose loss is within 1 % of the best: the optimum is flat.
    ``growth`` has the exponents a and b of N ~ C^a and D ~ C^b for large budgets.
    ``alpha_C`` is the exponent of loss* - E against C for large budgets; ``slope`` is it at this budget.
    """

    budget: float
    cost: str
    N: Interval
    D: Interval
    loss: Interval
    intervals: str  # where those of N and D come from
    loss_intervals: str  # where that of the loss comes from
    alpha_C: float
    slope: float
    growth: Growth
    side: str | None
    others: tuple[Valley, ...]
    isoflop: IsoFlop
    level: float  # of the intervals
    by: str  # what it is made by, in words; empty for the theory and for a law
    valley: tuple[float, float] | None  # N whose loss is within 1 % of the best; None where it is not sought
    warnings: tuple[str, ...]
    unique: UniqueData | None = None  # where data are limited
    training: TrainingAdvice | None = None  # where SGD is planned by the theory
    reach: Reach | None = None  # where a loss was asked for, not a budget
    basis: Any = field(default=None, repr=False, compare=False)  # prepared runs, a fitted law or a law
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)  # as asked

    def kept(self) -> tuple[str, dict[str, Any]]:
        """What it was made from, and what was asked; not for a plan by the theory."""
        return KIND, _content(self, self.budget)

    @property
    def law_loss(self) -> Interval:
        """The loss, by its older name."""
        return self.loss

    @property
    def tokens_per_parameter(self) -> Interval:
        """D/N. Along a budget D falls as N rises: the ends belong together."""
        return Interval(self.D.low / self.N.high, self.D.best / self.N.best, self.D.high / self.N.low)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON: null where there is no number, and beside it the reason."""
        sizes = ("N", "D", "loss", "law_loss", "tokens_per_parameter")
        shown = ("budget", "cost", *sizes, "level", "intervals", "loss_intervals", "alpha_C", "side")
        why = dict.fromkeys(sizes, self.intervals) | {"alpha_C": NO_POWERS, "side": NO_PEAK}
        result = to_dict(self, *shown, "training", "warnings", **why)
        result["others"] = [{"N": v.N, "D": v.D, "loss": v.loss, "side": v.side} for v in self.others]
        result |= {"by": self.by} if self.by else {}
        put(result, "alpha_C_here", self.slope, NOT_FALLING)
        result["N_exponent"] = self.growth.N.to_dict(self.growth.why)
        result["D_exponent"] = self.growth.D.to_dict(self.growth.why)
        result["isoflop"] = self.isoflop.as_rows()
        if self.valley is None:
            result |= {"valley": None, "valley_reason": NO_VALLEY}
        else:
            result["valley"] = {"low": self.valley[0], "high": self.valley[1]}
        result |= {} if self.unique is None else self.unique.as_dict()
        return result if self.reach is None else result | {"cost_model": self.cost, **self.reach.as_dict()}

    def to_frame(self) -> pd.DataFrame:
        """What a wrong N costs: one row for each multiple of the best N, the whole budget spent."""
        return self.isoflop.to_frame()

    def __repr__(self) -> str:
        return f"<Plan of {self.budget:.4g}: N {self.N.as_sizes()}, D {self.D.as_sizes()}, loss {self.loss}>"

    def __str__(self) -> str:
        title, rows = self._table()
        width = max(len(name) for name, _ in rows)
        lines = [f"  {name:<{width}}  {value}" for name, value in rows]
        return "\n".join([f"{title}   (brackets: {100 * self.level:g} % intervals)", *lines, *self.warnings])

    def _table(self) -> tuple[str, list[tuple[str, str]]]:
        side = "" if self.side is None else f", {self.side}"
        rows = [("N", self.N.as_sizes()), ("D", self.D.as_sizes()), ("loss", _shown(self.loss))]
        rows.append(("tokens per parameter", _shown(self.tokens_per_parameter)))
        if self.valley is not None:
            rows.append(("N within 1 % of the best loss", " to ".join(map(short_size, self.valley))))
        if self.unique is not None:
            rows.append(("passes", _shown(self.unique.passes)))
            rows.append(("effective data", _shown(self.unique.effective_data)))
        rows += [("alpha_C", f"{self.alpha_C:.4g}"), ("alpha_C here", f"{self.slope:.4g}")]
        return f"Budget {short_compute(self.budget)}, cost {self.cost}{side}", rows

    def _repr_html_(self) -> str:
        title, rows = self._table()
        return html_table(title, ["quantity", f"best [{100 * self.level:g} % interval]"], rows, self.warnings)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plans(Saved):
    """One plan for each budget, in the order they were asked for; ``plans[0]``, ``for one in plans``."""

    plans: tuple[Plan, ...]

    @property
    def basis(self) -> Any:
        """What all of them were made from."""
        return self.plans[0].basis

    def kept(self) -> tuple[str, dict[str, Any]]:
        """What they were made from, and what was asked."""
        return KIND, _content(self.plans[0], [plan.budget for plan in self.plans])

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    def __getitem__(self, i: int) -> Plan:
        return self.plans[i]

    def as_dict(self) -> dict[str, Any]:
        """The keys of the first plan, and all of them under ``plans``."""
        every = [plan.as_dict() for plan in self.plans]
        return {**every[0], "plans": every}

    def to_frame(self) -> pd.DataFrame:
        """One row for each budget."""
        return frame(self.plans, "budget", "N", "D", "loss", "tokens_per_parameter")

    def __repr__(self) -> str:
        return f"<Plans of {', '.join(f'{plan.budget:.4g}' for plan in self.plans)}>"

    def __str__(self) -> str:
        return "\n\n".join(str(plan) for plan in self.plans)

    def _repr_html_(self) -> str:
        rows = [
            [short_compute(p.budget), p.N.as_sizes(), p.D.as_sizes(), f"{p.loss.best:.4g} {p.loss.ends()}"]
            for p in self.plans
        ]
        notes = dict.fromkeys(w for plan in self.plans for w in plan.warnings)
        return html_table(f"Cost {self.plans[0].cost}", ["budget", "N", "D", "loss"], rows, notes)


def _content(plan: Plan, budget: float | list[float]) -> dict[str, Any]:
    """For a file, from which the plan is made again."""
    from sparselaw.fitting import FittedLaw
    from sparselaw.fitting.saved_law import law_content
    from sparselaw.forecasting import Prepared

    made_from: dict[str, Any]
    if isinstance(plan.basis, Prepared):
        made_from = {"forecast": plan.basis.kept() | {"level": plan.level}}
    elif isinstance(plan.basis, FittedLaw):
        made_from = {"fit": law_content(plan.basis)}
    elif isinstance(plan.basis, Law):
        values = {name: float(getattr(plan.basis, name)) for name in plan.basis.parameters()}
        made_from = {"law": {"name": plan.basis.name, "values": values}}
    else:
        raise InputError("save", "plan", "by the theory is not kept", "keep the command that makes it")
    asked = {} if "loss" in plan.settings else {"budget": budget}
    return made_from | {"settings": {**plan.settings, **asked}}


def _shown(found: Interval) -> str:
    has_width = math.isfinite(found.high - found.low) and found.low < found.high
    return str(found) if has_width else f"{found.best:.4g}"
