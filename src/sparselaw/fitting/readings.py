"""The sparsity by the coupled law, and the additive law's beside it.

alpha1 = alpha_N/alpha_D - 1 hangs on the law that the exponents are read off. Chinchilla's sum puts the floor
too high on real runs and its exponents with it; the coupled law, of which it is the case g = 1, lets the runs
say how both terms are joined. So both readings are shown, the coupled law's first. A fit of one of the two
laws starts the other: from Chinchilla's optimum with g = 1 and smaller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.bootstrap import bootstrap
from sparselaw.fitting.coupling_words import coupling_words
from sparselaw.fitting.design import Design
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.identification import no_sparsity, undetermined
from sparselaw.fitting.objectives import Objective, parse_objective
from sparselaw.fitting.pass_readings import PassReading, pass_reading
from sparselaw.fitting.prepare import prepare
from sparselaw.fitting.solve import LARGEST_POLISH_ROWS, global_minimum, sample
from sparselaw.fitting.sparsity import sparsity_intervals
from sparselaw.interval import Interval, drawn_interval
from sparselaw.laws import Law, law_named

if TYPE_CHECKING:
    from sparselaw.fitting.fitted_law import FittedLaw

MOST_DRAWS = 200  # of the law that was not asked for
FEWEST_GROUPS = 3
ONE_PASS = (
    "runs of about one pass over their data may hide sparsity: before training is finished sparse inputs "
    "show the exponents of dense ones"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparsityReading:
    """alpha1 and alpha2 by one law; None where it implies none, and ``reason`` says why."""

    law: str
    sparsity: Mapping[str, Interval] | None
    reason: str = ""
    training: PassReading | None = None  # the same exponents read as one pass, and as training to the end
    coupling: Interval | None = None  # g, of the coupled law

    def as_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {"law": self.law, "sparsity": None}
        if self.sparsity is None:
            return result | {"sparsity_reason": self.reason}
        result["sparsity"] = {name: v.plain("no draws") for name, v in self.sparsity.items()}
        if self.training is not None:
            result["training"] = self.training.as_dict()
        if self.coupling is not None:
            result["coupling"] = self.coupling.plain("no draws")
        return result


def sparsity_readings(fitted: FittedLaw) -> tuple[SparsityReading, ...]:
    """By the law fitted and by the one it names beside it, in the order it says; else by its own alone."""
    own, law = _own(fitted), fitted.law
    if law.read_beside is None or fitted.objective == "envelope":
        return (own,) if fitted.sparsity is not None else ()
    objective = parse_objective(fitted.objective, fitted.delta)
    beside = _reading(law_named(law.read_beside), fitted, objective)
    return (own, beside) if law.read_first else (beside, own)


def _reading(law: type[Law], fitted: FittedLaw, objective: Objective) -> SparsityReading:
    runs = _fewer(fitted.runs)
    design = prepare(law, runs)
    if len(runs) <= design.free:
        words = f"{len(runs)} rows are too few for its {design.free} parameters"
        return SparsityReading(law=law.name, sparsity=None, reason=words)
    minimum = global_minimum(design, objective, starts=_starts(design, fitted.law.starts_beside()))
    why_not = no_sparsity(design, minimum) or undetermined(design, minimum, runs)
    if why_not:
        return SparsityReading(law=law.name, sparsity=None, reason=why_not)
    groups = FEWEST_GROUPS if runs.group is None else int(runs.group.max()) + 1
    draws = min(len(fitted.draws), MOST_DRAWS) if groups >= FEWEST_GROUPS else 0
    drawn = design.natural(
        bootstrap(design, objective, minimum, draws=draws, seed=fitted.seed, group=runs.group)
    )
    best = design.natural(minimum.theta)
    of_N, of_D = design.exponent_places()
    exponents = float(best[of_N]), float(best[of_D]), drawn[:, of_N], drawn[:, of_D]
    found = sparsity_intervals(*exponents)
    place = None if law.coupling_name is None else list(design.names).index(law.coupling_name)
    return SparsityReading(
        law=law.name,
        sparsity=found,
        training=pass_reading(*exponents, found),
        coupling=None if place is None else drawn_interval(float(best[place]), drawn[:, place]),
    )


def _own(fitted: FittedLaw) -> SparsityReading:
    """Of the law that was asked for."""
    names = list(fitted.params)
    training = None
    if fitted.sparsity is not None and fitted.law.exponent_names is not None:
        of_N, of_D = (names.index(name) for name in fitted.law.exponent_names)
        best = [value.best for value in fitted.params.values()]
        drawn = fitted.draws
        training = pass_reading(best[of_N], best[of_D], drawn[:, of_N], drawn[:, of_D], fitted.sparsity)
    return SparsityReading(
        law=fitted.name,
        sparsity=fitted.sparsity,
        reason=fitted.sparsity_reason,
        training=training,
        coupling=None if fitted.law.coupling_name is None else fitted.params[fitted.law.coupling_name],
    )


def _fewer(runs: Runs) -> Runs:
    """A sample of a very large table: it says the same."""
    if len(runs) <= LARGEST_POLISH_ROWS or runs.group is not None:
        return runs
    return runs.take(sample(len(runs)))


def _starts(design: Design, laws: tuple[Law, ...]) -> FloatArray | None:
    """The parameters of these laws; None where there are none."""
    if not laws:
        return None
    values = [[getattr(law, name) for name in design.names] for law in laws]
    thetas = np.array([design.theta_of(np.array(v)) for v in values])
    return np.asarray(np.clip(thetas, design.lower, design.upper))


def rows(readings: tuple[SparsityReading, ...]) -> list[list[str]]:
    """law, alpha1, alpha2 as text, for a table."""
    lines = []
    for reading in readings:
        if reading.sparsity is None:
            lines.append([reading.law, f"none: {reading.reason}", "-"])
        else:
            lines.append([reading.law, *(f"{v.best:.4g} {v.ends()}" for v in reading.sparsity.values())])
    return lines


def words(readings: tuple[SparsityReading, ...]) -> tuple[str, ...]:
    """What the implied sparsity means: of the first reading, and where the second has another sign."""
    known = [(r.law, r.sparsity["alpha1"]) for r in readings if r.sparsity is not None]
    if not known:
        return ()
    alpha1 = known[0][1]
    said = []
    if alpha1.best < 0.0:
        sure = " (95 % sure)" if alpha1.high < 0.0 else " (0 is not excluded)"
        sure = "" if np.isnan(alpha1.high) else sure
        said.append(
            f"alpha1 < 0{sure}: the loss falls faster with data than with model size, which no sparsity "
            "explains; in the theory both exponents are then equal"
        )
    elif alpha1.low <= 0.0:
        said.append("0 is not excluded: equal exponents, and so dense inputs, fit too")
    if any(other.best * alpha1.best < 0.0 for _, other in known[1:]):
        shown = ", ".join(f"{v.best:+.2g} by the {name} law" for name, v in known)
        said.append(f"the sign of alpha1 hangs on the law: {shown}")
    first = next(r for r in readings if r.sparsity is not None)
    if first.training is not None:
        said.append(first.training.words())
    if first.coupling is not None and first.training is not None:
        said.append(coupling_words(first.coupling, first.training.decay.best - 1.0, alpha1.best))
    return (*said, ONE_PASS)
