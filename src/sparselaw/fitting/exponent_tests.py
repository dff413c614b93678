"""How far the exponents of N and D may be trusted: are they equal, do they depend on single runs, how flat
is the objective about them?

**Equal exponents.** The statistic compares the law with one exponent to the law with two. With the scale of
the noise unknown, -2 log(likelihood ratio) is n log(f0/f1) for Gaussian noise in log loss (f the sum of
squares) and 2 n log(f0/f1) for Laplace noise (f the sum of absolute residuals; Huber's objective is taken the
same way).

Runs of real models are neither, and rows of one run belong together. So the chance of a larger statistic is
not read off a chi-square table: the residuals of the one-exponent law get random signs, one for each row or
one for each whole group, are added back to that law, and both laws are fitted again. This supposes residuals
that are symmetric about zero and independent between rows (or groups), and nothing else. Signs that change
nothing give the data themselves, and so the observed statistic, a tie: with three groups every eighth draw.
That is said and not computed, since a fit from other starts would decide it by rounding.

**The leave-out table** fits again without the smallest, the largest and the worst runs: an answer that
depends on the selection should look like one. **The profile** is the objective as a function of both
exponents, the other parameters at their best for each pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.fitting.clean_runs import Runs
from sparselaw.fitting.design import prepare
from sparselaw.fitting.draws import drawn_columns, in_chunks, stream
from sparselaw.fitting.minimise import (
    LARGEST_POLISH_ROWS,
    global_minimum,
    likelihood_ratio,
    parse_objective,
    sample,
)
from sparselaw.fitting.sparsity import NO_DRAWS, exponents, implied_sparsity
from sparselaw.interval import Interval
from sparselaw.laws import two_exponent_laws
from sparselaw.records import Record

if TYPE_CHECKING:
    from sparselaw.fitting.fitted_law import FittedLaw

EQUALITY_DRAWS = (399, 99)  # at most: of a sum of powers, of a law that is fitted by its formula
LEAVE_OUT_DRAWS = (200, 40)
PART = 0.1  # the smallest or largest sizes that hold at least this part of the rows go
WORST = 0.05

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualityTest(Record):
    """Is alpha_N = alpha_D? A likelihood-ratio statistic, and how often chance exceeds it."""

    statistic: float
    p_value: float
    exponent: float  # the one exponent of the fit that has them equal
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut(Record):
    """One line of the leave-out table: what went, what remained, what the fit then says."""

    left_out: str
    rows_used: int
    alpha_N: float
    alpha_D: float
    alpha1: Interval

    reasons: ClassVar[Mapping[str, str]] = {"alpha1": NO_DRAWS}


def equal_exponents(fitted: FittedLaw) -> EqualityTest | None:
    """The test; None for a law without both exponents, without draws, or where the table is too large."""
    kind, runs = type(fitted.law), fitted.runs
    draws = min(len(fitted.draws), EQUALITY_DRAWS[0 if kind.terms else 1])
    if kind.exponent_names is None or fitted.objective == "envelope":
        return None
    if draws == 0 or len(runs) > LARGEST_POLISH_ROWS:
        return None
    objective, seed = parse_objective(fitted.objective, fitted.delta), fitted.seed
    free, tied = prepare(kind, runs), prepare(kind, runs, tied=True)
    null = global_minimum(tied, objective)
    observed = likelihood_ratio(null.value, fitted.value, free.rows, objective)
    residual = tied.residuals(null.theta)
    predicted = tied.log_loss - residual
    units = np.arange(free.rows) if runs.group is None else runs.group
    count = int(units.max()) + 1
    # Data drawn under the null have their optimum near the null law: start both fits there too.
    untied = np.empty(free.free)
    for name, place in free.place.items():
        untied[place] = null.theta[tied.place[name]]
    starts = np.vstack([untied, fitted.minimum.basins[:1]])

    def one_chunk(part: range) -> FloatArray:
        signs = np.array([stream(seed, 1, b).integers(0, 2, count)[units] * 2 - 1 for b in part])
        losses = predicted + signs * residual
        _, tied_values = tied.minimise_many(null.basins, objective, losses=losses)
        _, free_values = free.minimise_many(starts, objective, losses=losses)
        found = [
            likelihood_ratio(a, b, free.rows, objective)
            for a, b in zip(tied_values, np.minimum(free_values, tied_values), strict=True)
        ]
        return np.where(np.all((signs > 0) | (residual == 0.0), axis=1), observed, found)

    drawn = in_chunks(one_chunk, draws, fitted.workers)
    unit = "row" if runs.group is None else "group"
    return EqualityTest(
        statistic=observed,
        p_value=(1 + int(np.count_nonzero(drawn >= observed))) / (draws + 1),
        exponent=float(tied.columns(null.theta)[kind.exponent_names[0]][0]),
        method=f"likelihood ratio, {draws} refits, random signs per {unit}",
    )


def leave_out_table(fitted: FittedLaw) -> tuple[LeftOut, ...]:
    """One fit for every selection that leaves enough rows; a sample stands for a very large table."""
    law, runs, residuals = type(fitted.law), fitted.runs, fitted.residuals
    if law.exponent_names is None or fitted.objective == "envelope":
        return ()
    objective = parse_objective(fitted.objective, fitted.delta)
    if len(runs) > LARGEST_POLISH_ROWS and runs.group is None:
        chosen = sample(len(runs))
        runs, residuals = runs.take(chosen), residuals[chosen]
    table = []
    draws = min(len(fitted.draws), LEAVE_OUT_DRAWS[0 if law.terms else 1])
    for name, kept in selections(runs, residuals):
        part = runs.take(kept)
        if len(part) == 0 or any(np.ptp(part.sizes[size]) == 0.0 for size in law.sizes):
            continue
        design = prepare(law, part)
        if len(part) <= design.free:
            continue
        minimum = global_minimum(design, objective)
        columns = drawn_columns(
            design, objective, minimum, part, draws=draws, seed=fitted.seed, workers=fitted.workers
        )
        alpha_N, alpha_D = exponents(law, columns)
        table.append(
            LeftOut(
                left_out=name,
                rows_used=len(part),
                alpha_N=float(alpha_N[0]),
                alpha_D=float(alpha_D[0]),
                alpha1=implied_sparsity(law, columns, fitted.level)["alpha1"],
            )
        )
    return tuple(table)


def leave_out_words(table: tuple[LeftOut, ...]) -> tuple[str, ...]:
    """What the selection of runs does to alpha1."""
    if not table:
        return ()
    best = [line.alpha1.best for line in table]
    said = [f"alpha1 runs from {min(best):.3g} to {max(best):.3g} as parts of the runs are left out"]
    if min(best) < 0.0 < max(best):
        said.append("the sign of alpha1 depends on which runs are used")
    return tuple(said)


def selections(runs: Runs, residuals: FloatArray) -> Iterator[tuple[str, Mask]]:
    """(what goes, the rows that stay)."""
    for name, values in {"N": runs.N, "D": runs.D, "D/N": runs.D / runs.N}.items():
        if np.ptp(np.log(values)) < 1e-6:  # D = 20 N: there is no smallest and no largest
            continue
        for end, ranked in (("smallest", values), ("largest", -values)):
            distinct, counts = np.unique(ranked, return_counts=True)
            enough = int(np.searchsorted(np.cumsum(counts), PART * ranked.size))
            yield f"{end} {name}", ranked > distinct[enough]
    size = np.abs(residuals) / runs.scale
    yield "worst-fitting", size < np.quantile(size, 1.0 - WORST)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentProfile:
    """``values[i, j]``: the objective at alpha_N[i], alpha_D[j]; ``lowest`` is the optimum's own."""

    alpha_N: FloatArray
    alpha_D: FloatArray
    values: FloatArray
    lowest: float
    names: tuple[str, str]


def exponent_profile(law: FittedLaw, *, points: int = 41) -> ExponentProfile:
    """Over a window around the optimum, a little wider than the intervals."""
    kind = type(law.law)
    if kind.exponent_names is None:
        raise InputError("law", law.name, "has one exponent", f"choose {two_exponent_laws()}")
    objective = parse_objective(law.objective, law.delta)
    design = prepare(kind, law.runs)
    places = [design.place[name] for name in kind.exponent_names]
    axes = [_window(law, name, points) for name in kind.exponent_names]
    values = np.empty((points, points))
    best = np.array([law.params[name].best for name in design.names])
    start, weights = design.theta_of(best), np.ones(design.rows)
    for i, j in np.ndindex(points, points):
        best[places] = axes[0][i], axes[1][j]
        lower, upper = design.lower.copy(), design.upper.copy()
        lower[places] = upper[places] = design.theta_of(best)[places]
        fixed = replace(design, lower=lower, upper=upper)
        values[i, j] = fixed.minimise(start, objective, weights).value
    return ExponentProfile(
        alpha_N=axes[0],
        alpha_D=axes[1],
        values=values * objective.unit,
        lowest=law.value,
        names=kind.exponent_names,
    )


def _window(law: FittedLaw, name: str, points: int) -> FloatArray:
    low, best, high = law.params[name]
    if not np.isfinite(low):
        low, high = 0.8 * best, 1.25 * best
    room = 0.3 * (high - low)
    return np.linspace(max(low - room, 0.5 * low), high + room, points)
