"""From the exponents of a fit back to the sparsity of the inputs (prop:underparam, thm:over-scaling).

Trained to the end, alpha_N = alpha1 + alpha2 + 1 and alpha_D = alpha_N / (alpha1 + 1) for alpha1 > 0, so

    alpha1 = alpha_N / alpha_D - 1,    alpha2 = alpha_N - alpha1 - 1.

An alpha1 at or below zero is no sparsity of the paper's kind: there both exponents are equal, and a fit with
alpha_N < alpha_D is outside the model. After about one pass alpha_N = a - 1 and alpha_D = (a - 1)/a,
a = alpha1 + alpha2 + 2: only the sum shows, and the ratio alpha_D (1 + alpha_N)/alpha_N is one. Each reading
can be tested: the first needs alpha1 >= 0, the second that ratio.

alpha1 depends on the law that the exponents are read off. Chinchilla's sum puts the floor too high on real
runs and its exponents with it; the coupled law, of which it is the case g = 1, lets the runs say how both
terms are joined. So both readings are shown, the coupled law's first. A fit of one of the two laws starts the
other: from Chinchilla's optimum with g = 1 and smaller.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.design import Columns, prepare
from sparselaw.fitting.draws import drawn_columns
from sparselaw.fitting.minimise import LARGEST_POLISH_ROWS, global_minimum, parse_objective, sample
from sparselaw.interval import Interval, drawn_interval
from sparselaw.laws import Law, law_named
from sparselaw.records import to_dict

if TYPE_CHECKING:
    from sparselaw.fitting.fitted_law import FittedLaw

NO_DRAWS = "no draws: bootstrap 0"
MOST_DRAWS = 200  # of the law that was not asked for
ONE_PASS = (
    "runs of about one pass over their data may hide sparsity: before training is finished sparse inputs "
    "show the exponents of dense ones"
)
# The coupling g of the theory's surfaces at given exponents, from the map of benchmarks/theory_coupling.py;
# ``python benchmarks/coupling_of_the_theory.py best`` prints it anew. One pass has the same g whatever the
# sparsity; with the best ridge sparse inputs have one of their own.
MAP_ALPHA_N = (0.15, 0.2, 0.25, 0.35, 0.5, 0.7, 1.0)
MAP = {
    "dense, best ridge": (0.285, 0.348, 0.403, 0.506, 0.643, 0.803, 1.005),
    "one pass": (0.093, 0.124, 0.153, 0.211, 0.303, 0.417, 0.588),
}
SPARSE = "sparse, best ridge"
SPARSE_MAP_ALPHA_N = (0.25, 0.35, 0.5, 1.0)
SPARSE_MAP = {  # by alpha1
    0.2: (0.334, 0.416, 0.516, 0.790),
    0.5: (0.468, 0.490, 0.547, 0.773),
    1.0: (0.367, 0.462, 0.566, 0.799),
}
LEAST_SPARSE = 0.05  # alpha1 below which inputs are as good as dense


def invert(alpha_N: Any, alpha_D: Any) -> tuple[Any, Any]:
    """(alpha1, alpha2) for numbers or arrays.

    >>> tuple(round(v, 12) for v in invert(2.3, 1.15))
    (1.0, 0.3)
    """
    alpha1 = alpha_N / alpha_D - 1.0
    return alpha1, alpha_N - alpha1 - 1.0


def intervals(columns: Columns, level: float = 0.95) -> dict[str, Interval]:
    """Of each column: around its best value, from its draws."""
    return {name: drawn_interval(float(values[0]), values[1:], level) for name, values in columns.items()}


def exponents(law: type[Law], columns: Columns) -> tuple[FloatArray, FloatArray]:
    """The columns of the exponents of N and D; the law must have both."""
    assert law.exponent_names is not None
    of_N, of_D = law.exponent_names
    return columns[of_N], columns[of_D]


def implied_sparsity(law: type[Law], columns: Columns, level: float = 0.95) -> dict[str, Interval]:
    """From the exponents of a fit, or from alpha1 and alpha2 themselves where the law has them.

    Both come from the same draws, so that the errors of the exponents stay tied together.
    """
    if law.sparsity_names is not None:
        alpha1, alpha2 = (columns[name] for name in law.sparsity_names)
    else:
        alpha1, alpha2 = invert(*exponents(law, columns))
    return intervals({"alpha1": alpha1, "alpha2": alpha2}, level)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassReading:
    """``decay`` is a, ``ratio`` alpha_D (1 + alpha_N)/alpha_N, which is one after about one pass."""

    decay: Interval
    ratio: Interval
    alpha1: Interval

    @property
    def one_pass(self) -> bool | None:
        """Whether one pass could show these exponents; None where there are no intervals."""
        return None if np.isnan(self.ratio.low) else self.ratio.low <= 1.0 <= self.ratio.high

    @property
    def to_the_end(self) -> bool | None:
        """Whether training to the end could show them."""
        return None if np.isnan(self.alpha1.high) else self.alpha1.high >= 0.0

    def as_dict(self) -> dict[str, Any]:
        decay, ratio, alpha1 = (v.to_dict(NO_DRAWS) for v in (self.decay, self.ratio, self.alpha1))
        return {
            "one_pass": {"a": decay, "ratio": ratio, "consistent": self.one_pass},
            "to_the_end": {"alpha1": alpha1, "consistent": self.to_the_end},
        }

    def words(self) -> str:
        """What may be said of the sparsity, given both readings."""
        decay = f"a = alpha_N + 1 = {self.decay.best:.3g}"
        ends = "" if np.isnan(self.ratio.low) else f" {self.ratio.ends()}"
        ratio = f"alpha_D (1 + alpha_N)/alpha_N = {self.ratio.best:.3g}{ends}"
        if self.one_pass is None:
            return f"read as about one pass: {decay}, and {ratio} should be 1; draws would say whether it is"
        if self.one_pass and not self.to_the_end:
            return f"the exponents are those of about one pass ({ratio} holds 1): {decay}, no sparsity shows"
        if self.one_pass:
            return (
                f"the exponents fit about one pass too ({ratio} holds 1): then {decay} is all that shows, "
                "and the sparsity above only holds for runs trained to the end"
            )
        if self.to_the_end:
            return f"one pass alone would not show these exponents ({ratio}, not 1)"
        return f"neither training to the end nor one pass shows these exponents ({ratio}, alpha1 < 0)"


def pass_reading(law: type[Law], columns: Columns) -> PassReading:
    """Both readings from the same draws."""
    of_N, of_D = exponents(law, columns)
    alpha1, _ = invert(of_N, of_D)
    return PassReading(
        **intervals({"decay": of_N + 1.0, "ratio": of_D * (1.0 + of_N) / of_N, "alpha1": alpha1})
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
        known = ("sparsity", "training", "coupling") if self.sparsity is not None else ("sparsity",)
        return {"law": self.law} | to_dict(self, *known, sparsity=self.reason or NO_DRAWS, coupling=NO_DRAWS)


def reading(law: type[Law], columns: Columns, why_not: str, level: float = 0.95) -> SparsityReading:
    """By a fitted law; ``why_not`` it implies no sparsity, where it does not."""
    if why_not:
        return SparsityReading(law=law.name, sparsity=None, reason=why_not)
    return SparsityReading(
        law=law.name,
        sparsity=implied_sparsity(law, columns, level),
        training=None if law.exponent_names is None else pass_reading(law, columns),
        coupling=intervals(columns)[law.coupling_name] if law.coupling_name is not None else None,
    )


def sparsity_readings(fitted: FittedLaw) -> tuple[SparsityReading, ...]:
    """By the law fitted and by the one it names beside it, in the order it says; else by its own alone."""
    law = type(fitted.law)
    own = reading(law, fitted.draws_by_name(), fitted.sparsity_reason, fitted.level)
    if law.read_beside is None or fitted.objective == "envelope":
        return (own,) if own.sparsity is not None else ()
    beside = _reading_beside(law_named(law.read_beside), fitted)
    return (own, beside) if law.read_first else (beside, own)


def _reading_beside(law: type[Law], fitted: FittedLaw) -> SparsityReading:
    """By another law, fitted to the same runs or to a sample of very many."""
    from sparselaw.fitting.goodness import no_sparsity, undetermined

    runs, objective = fitted.runs, parse_objective(fitted.objective, fitted.delta)
    if len(runs) > LARGEST_POLISH_ROWS and runs.group is None:
        runs = runs.take(sample(len(runs)))
    design = prepare(law, runs)
    if len(runs) <= design.free:
        return reading(law, {}, f"{len(runs)} rows are too few for its {design.free} parameters")
    starts = None
    if near := fitted.law.starts_beside():
        values = np.array([[getattr(one, name) for name in design.names] for one in near])
        starts = np.clip([design.theta_of(v) for v in values], design.lower, design.upper)
    minimum = global_minimum(design, objective, starts=starts)
    why_not = no_sparsity(design, minimum) or undetermined(design, minimum, runs)
    draws = 0 if why_not else min(len(fitted.draws), MOST_DRAWS)
    columns = drawn_columns(design, objective, minimum, runs, draws=draws, seed=fitted.seed)
    return reading(law, columns, why_not)


def sparsity_words(readings: tuple[SparsityReading, ...]) -> tuple[str, ...]:
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
        said.append(f"the sign of alpha1 depends on the law: {shown}")
    first = next(r for r in readings if r.sparsity is not None)
    if first.training is not None:
        said.append(first.training.words())
    if first.coupling is not None and first.training is not None:
        said.append(coupling_words(first.coupling, first.training.decay.best - 1.0, alpha1.best))
    return (*said, ONE_PASS)


def coupling_words(coupling: Interval, alpha_N: float, alpha1: float | None = None) -> str:
    """The g of a fit, the variants of the theory that have it at these exponents, and whether a sum fits.

    ``alpha1`` is the sparsity that the exponents imply, where they do.
    """
    found = theory_couplings(alpha_N, alpha1)
    names = {name: f"{name} at alpha1 = {alpha1:.2g}" if name == SPARSE else name for name in found}
    shown = ", ".join(f"{names[name]} {g:.2g}" for name, g in found.items())
    if np.isnan(coupling.low):
        return f"coupling g = {coupling.best:.2g}; the theory at these exponents: {shown}; a sum has 1"
    like = [name for name, g in found.items() if coupling.low <= g <= coupling.high]
    sum_too = "" if coupling.contains(1.0) else "; a sum of two terms (g = 1) is excluded"
    fits = f"like {' and '.join(like)}" if like else "like none of them"
    return f"coupling g = {coupling.best:.2g} {coupling.ends()}, {fits} (theory: {shown}){sum_too}"


def theory_couplings(alpha_N: float, alpha1: float | None = None) -> dict[str, float]:
    """g by the way of training; with the sparsity that the exponents imply, that of sparse inputs too.

    >>> theory_couplings(0.35)["one pass"]
    0.211
    >>> theory_couplings(0.35, alpha1=0.5)["sparse, best ridge"]
    0.49
    """
    found = {name: _on_the_map(alpha_N, MAP_ALPHA_N, values) for name, values in MAP.items()}
    if alpha1 is not None and alpha1 >= LEAST_SPARSE:
        rows = [_on_the_map(alpha_N, SPARSE_MAP_ALPHA_N, values) for values in SPARSE_MAP.values()]
        found[SPARSE] = float(np.interp(alpha1, list(SPARSE_MAP), rows))
    return {name: round(g, 6) for name, g in found.items()}


def _on_the_map(alpha_N: float, grid: tuple[float, ...], values: tuple[float, ...]) -> float:
    place = math.log(min(max(alpha_N, grid[0]), grid[-1]))
    return float(np.interp(place, np.log(grid), values))
