"""What a fit hands out: the law, how it was reached, and how sure one may be of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_positive
from sparselaw.fitting.clean_runs import Runs
from sparselaw.fitting.design import Columns, Design, by_name
from sparselaw.fitting.exponent_tests import (
    EqualityTest,
    LeftOut,
    equal_exponents,
    leave_out_table,
    leave_out_words,
)
from sparselaw.fitting.goodness import Goodness, no_sparsity
from sparselaw.fitting.minimise import Minimum, Objective
from sparselaw.fitting.sparsity import (
    NO_DRAWS,
    SparsityReading,
    implied_sparsity,
    intervals,
    sparsity_readings,
    sparsity_words,
)
from sparselaw.interval import Interval
from sparselaw.laws import Law
from sparselaw.numbers import short_number
from sparselaw.records import Saved, dropped_words, html_table, to_dict

if TYPE_CHECKING:
    import pandas as pd

ADVICE = {
    "ok": "nothing stands against this fit",
    "not-converged": "the minimiser did not arrive: try --law two-power, or other runs",
    "collinear": "add runs with another D/N: the exponents of N and D are not told apart",
    "not-identified": "add runs, or choose a law with fewer parameters",
    "bound": "a parameter ran to the end of its range: choose a law without it, or add runs",
    "few-rows": "add runs, or choose a law with fewer parameters",
    "outliers": "look at the rows named, and leave them out if they are not what they should be",
    "pooled": "rows of several kinds are fitted as one: see the options named",
    "E-not-identified": "add larger runs, or choose --law two-power, which has no floor",
}
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FittedLaw(Saved):
    """A law at its optimum, with intervals from the draws.

    ``status`` is ``ok``, ``not-converged``, ``collinear``, ``not-identified``, ``bound``, ``few-rows``,
    ``outliers``, ``pooled`` or ``E-not-identified``: the first that applies; ``warnings`` has all of them in
    words. An interval has no ends (nan) when no draws were asked for. ``equal_exponents``, ``leave_out`` and
    the readings of the sparsity take fits of their own, and are made when first asked for.
    """

    law: Law
    objective: str
    delta: float | None  # where Huber's square turns into an absolute value
    value: float
    gradient_norm: float
    status: str
    starts_tried: int
    starts_agreeing: int
    rows_used: int
    params: Mapping[str, Interval]
    sparsity: Mapping[str, Interval] | None
    sparsity_reason: str  # why there is none: a power law, or a fit without two exponents
    goodness: Goodness  # how far the runs lie from the law, in per cent, and which lie furthest
    draws: FloatArray  # (draws, p): parameters in the order of ``params``
    runs: Runs  # the rows the law was fitted to, in an order of their own: ``runs.row`` has the table's
    residuals: FloatArray  # log loss minus log prediction, row by row of ``runs``
    minimum: Minimum = field(compare=False)
    level: float = 0.95  # of the intervals
    wants_leave_out: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seed: int = 0
    workers: int = 1
    memory: dict[str, Any] = field(default_factory=dict, compare=False)  # found when asked for

    def draws_by_name(self) -> Columns:
        """Of each parameter its best value, then its draws."""
        best = [value.best for value in self.params.values()]
        return by_name(self.params, best, self.draws)

    @property
    def name(self) -> str:
        """The law's name."""
        return self.law.name

    def loss(self, *sizes: Any) -> Any:
        """The fitted loss at (N, D), or at the law's own sizes in their order."""
        return self.law.loss(*sizes)

    def predict(self, *sizes: Any, interval: bool = False, **named: Any) -> Any:
        """The loss by this law at (N, D), or at the law's own sizes in their order.

        The interval is that of the fitted law over its draws: it does not know that the law may be wrong, or
        how runs scatter. ``sl.forecast`` gives an interval for the loss of a new run.

        Parameters
        ----------
        *sizes
            Numbers, or arrays that broadcast against each other.
        interval
            Of arrays, also give the ends.
        **named
            The sizes by their names in place of their order: ``N=7e9, D=1.4e11``.

        Returns
        -------
        Interval or array
            Of numbers an Interval. Of arrays an array of their common shape; with ``interval`` three of them,
            low, best and high.

        Raises
        ------
        InputError
            For a size that is not positive, or too few of them.
        """
        wanted = self.law.sizes
        if named.keys() == set(wanted) and not sizes:
            sizes, named = tuple(named[name] for name in wanted), {}
        if named or len(sizes) != len(wanted):
            given = ", ".join(named) or len(sizes)
            raise InputError("sizes", given, f"{self.name} needs {', '.join(wanted)}", "give each of them")
        for name, size in zip(wanted, sizes, strict=True):
            for value in np.ravel(np.asarray(size)):
                check_positive(name, value)
        at = np.broadcast_arrays(*(np.asarray(size, dtype=np.float64) for size in sizes))
        best = np.asarray(self.loss(*at), dtype=np.float64)
        if best.ndim and not interval:
            return best
        if len(self.draws) == 0:
            low = high = np.full(best.shape, np.nan)
        else:
            ends = [0.5 - 0.5 * self.level, 0.5 + 0.5 * self.level]
            low, high = np.quantile(self.losses_of_draws(*at), ends, axis=0)
            low, high = np.minimum(low, best), np.maximum(high, best)
        if best.ndim:
            return low, best, high
        return Interval(float(low), float(best), float(high))

    def drawn_law(self, axes: int = 1) -> Law:
        """Every draw as one law: its parameters are arrays (draws, 1, ...) with ``axes`` axes for the sizes.

        With several sweeps, the first one's.
        """
        shape = (len(self.draws),) + (1,) * axes
        kind = type(self.law)
        columns = {
            name.partition("[")[0]: drawn[1:] for name, drawn in reversed(list(self.draws_by_name().items()))
        }
        return kind(**{name: columns[name].reshape(shape) for name in kind.parameters()})

    def losses_of_draws(self, *sizes: Any) -> FloatArray:
        """(draws, ...): the loss of every draw, for sizes that broadcast against each other."""
        axes = max(np.ndim(size) for size in sizes)
        return np.asarray(self.drawn_law(axes).loss(*sizes), dtype=np.float64)

    @property
    def equal_exponents(self) -> EqualityTest | None:
        """Whether N and D have one exponent; None without draws or two exponents."""
        return self._once(equal_exponents)

    @property
    def leave_out(self) -> tuple[LeftOut, ...]:
        """The leave-out table, where it was asked for."""
        return self._once(leave_out_table) if self.wants_leave_out else ()

    def sparsity_readings(self) -> tuple[SparsityReading, ...]:
        """The sparsity by the coupled law, and by the additive law beside it."""
        return self._once(sparsity_readings)

    def _once(self, find: Callable[[FittedLaw], Found]) -> Found:
        if find.__name__ not in self.memory:
            self.memory[find.__name__] = find(self)
        found: Found = self.memory[find.__name__]
        return found

    def sparsity_tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """Title, columns and rows of each: what the exponents imply by each law, and as runs are left out."""
        readings = [
            [reading.law, f"none: {reading.reason}", "-"]
            if reading.sparsity is None
            else [reading.law, *(f"{v}" for v in reading.sparsity.values())]
            for reading in self.sparsity_readings()
        ]
        left = [
            [line.left_out, f"{line.rows_used}", short_number(line.alpha1.best), line.alpha1.ends()]
            for line in self.leave_out
        ]
        columns = ["left out", "rows", "alpha1", "95 % interval"]
        return [
            ("Implied sparsity", ["by the law", "alpha1", "alpha2"], readings),
            ("Sparsity alpha1 as runs are left out", columns, left),
        ]

    def sparsity_words(self) -> tuple[str, ...]:
        """What the implied sparsity means, and what it depends on."""
        return (*leave_out_words(self.leave_out), *sparsity_words(self.sparsity_readings()))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        result: dict[str, Any] = {"law": self.name, "draws": len(self.draws)}
        result |= to_dict(
            self, "objective", "value", "gradient_norm", "status", "advice", "starts_tried",
            "starts_agreeing", "rows_used", "level", "params", "delta", "sparsity", "equal_exponents",
            "leave_out", "warnings",
            value="the objective is not finite", gradient_norm="the gradient is not finite",
            params=NO_DRAWS, sparsity=self.sparsity_reason or NO_DRAWS,
            equal_exponents="needs two exponents, draws, and at most 10000 rows",
        )  # fmt: skip
        return result | {
            "rows_dropped": dict(self.dropped),
            "residuals": self.goodness.as_dict(),
            "typical_residual": self.goodness.typical,
            "outliers": [row.as_dict() for row in self.goodness.outliers],
            "sparsity_by_law": [reading.as_dict() for reading in self.sparsity_readings()],
            "sparsity_words": list(self.sparsity_words()),
        }

    def quantities(self) -> dict[str, Interval]:
        """Parameters, and the sparsity where there is one."""
        return {**self.params, **(self.sparsity or {})}

    def to_frame(self) -> pd.DataFrame:
        """One row for each parameter and for alpha1, alpha2: low, best, high."""
        import pandas as pd

        rows = {name: v.as_dict() for name, v in self.quantities().items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["low", "best", "high"])

    def kept(self) -> tuple[str, Mapping[str, Any]]:
        """The law, its draws, the runs and the settings."""
        from sparselaw.fitting.saved_law import KIND, law_content

        return KIND, law_content(self)

    @property
    def advice(self) -> str:
        """What to do about the status, in a few words."""
        return ADVICE.get(self.status, "see the warnings")

    def how(self) -> str:
        """How the optimum was reached, in a line."""
        return (
            f"{self.rows_used} rows, {self.objective} {self.value:.7g}, status {self.status}, "
            f"gradient {self.gradient_norm:.1e}, {self.starts_agreeing} of {self.starts_tried} starts agree"
        )

    def __repr__(self) -> str:
        return f"<FittedLaw {self.name}: {self.rows_used} rows, status {self.status}>"

    def __str__(self) -> str:
        """The short table: the law with its intervals, how well it fits, and the status."""
        wide = max(len(name) for name in self.params)
        shown = max(9, *(len(short_number(v.best)) for v in self.params.values()))
        lines = [
            f"{self.name}: {self.law.formula}   (brackets: {100 * self.level:g} % intervals)",
            *(f"  {n:<{wide}}  {short_number(v.best):<{shown}}  {v.ends()}" for n, v in self.params.items()),
            f"{self.rows_used} runs; {self.goodness.words()}",
            self.goodness.worst_words(),
            f"status {self.status}: {self.advice}",
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        notes = [
            f"status {self.status}: {self.advice}",
            self.goodness.words(),
            self.goodness.worst_words(),
            *self.warnings,
            *dropped_words(self.dropped),
            self.how(),
        ]
        rows = [[name, f"{short_number(v.best)} {v.ends()}"] for name, v in self.params.items()]
        columns = ["quantity", "best [low, high]"]
        return html_table(f"{self.name} law", columns, rows, notes, self.law.formula)

    def _repr_latex_(self) -> str:
        return self.law._repr_latex_()


def fitted_law(
    design: Design, objective: Objective, minimum: Minimum, columns: Columns, *, level: float, **fields: Any
) -> FittedLaw:
    """What follows from the minimum and the draws; the other ``fields`` are as they are."""
    why_not = no_sparsity(design, minimum)
    return FittedLaw(
        law=design.law_at(minimum.theta),
        objective=objective.name,
        delta=objective.delta if objective.name == "huber" else None,
        value=minimum.value,
        gradient_norm=minimum.gradient_norm,
        starts_tried=minimum.starts_tried,
        starts_agreeing=minimum.starts_agreeing,
        rows_used=design.rows,
        params=intervals(columns, level),
        sparsity=None if why_not else implied_sparsity(design.law, columns, level),
        sparsity_reason=why_not,
        level=level,
        draws=np.stack(list(columns.values()), axis=1)[1:],
        residuals=design.residuals(minimum.theta),
        minimum=minimum,
        **fields,
    )
