"""How well a law fits, in per cent of the loss, and whether the runs determine it.

What lies far from the law, what hits a bound, what is flat, what cannot be told apart: what a reader wants to
know before any parameter.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.clean_runs import Runs
from sparselaw.fitting.design import Design, prepare
from sparselaw.fitting.minimise import (
    LARGEST_POLISH_ROWS,
    Minimum,
    Objective,
    global_minimum,
    likelihood_ratio,
    sample,
)
from sparselaw.fitting.table_checks import Pooled
from sparselaw.numbers import short_number, short_size
from sparselaw.records import Record

WORST = 3
NORMAL = 1.4826  # the standard deviation of normal numbers over the median of their sizes
OUTLYING = 15.0  # typical residuals
SMALLEST_OUTLIER = 0.02  # of the loss: nobody minds an outlier smaller than this
SAME = 0.01  # in log compute
LEAST_LAST = 0.005  # the same for the most expensive run, which decides an extrapolation
COLLINEAR = 0.9995  # correlation of two log sizes above which their effects are not told apart
ROWS_PER_PARAMETER = 2  # fewer rows than this for each parameter are too few
SINGULAR = 1e-7  # smallest over largest singular value of the scaled derivatives
CHI2_95 = 3.841  # 95 % point of chi-square with one degree of freedom
Finding = tuple[str, str]  # what speaks against a fit: a status, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstRow(Record):
    """A run far from the law. ``row`` counts the rows of the table from 1, the header not counted."""

    row: int
    N: float
    D: float
    loss: float
    percent: float  # by how much its loss lies above the law
    times: float = field(repr=False)  # its residual over the typical one

    def words(self) -> str:
        above = short_number(self.percent, 2) if self.percent < 0.0 else f"+{short_number(self.percent, 2)}"
        return f"row {self.row} (N = {short_size(self.N)}, D = {short_size(self.D)}) {above} %"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goodness(Record):
    """With r = 100 (log loss - log law): ``sd`` is its root mean square, ``mad`` the median of its size.

    ``typical`` is a standard deviation that no single row moves: 1.48 times the median size of r, of which
    as many of the smallest are left out as the law has parameters: a law can pass through that many runs.
    """

    sd: float
    mad: float
    worst: tuple[WorstRow, ...]  # worst first
    typical: float = field(repr=False)
    outliers: tuple[WorstRow, ...] = field(repr=False)  # over 15 typical residuals and 2 % from the law
    most_expensive: WorstRow = field(repr=False)  # has the largest N D; of several, lies furthest off

    def words(self) -> str:
        """One line."""
        return f"residuals: SD {self.sd:.3g} %, half of the runs within {self.mad:.3g} %"

    def worst_words(self) -> str:
        return "worst: " + ", ".join(row.words() for row in self.worst)

    def outlier_words(self) -> tuple[str, ...]:
        """What is said of rows that do not belong, and of the run that matters most."""
        said = [
            f"{row.words()} lies {row.times:.0f} typical residuals from the law: if it diverged or was "
            "misread, leave it out"
            for row in self.outliers[:WORST]
        ]
        if len(self.outliers) > WORST:
            said.append(f"{len(self.outliers) - WORST} more rows lie as far out")
        last = self.most_expensive
        known = any(row.row == last.row for row in self.outliers)
        if last.times >= OUTLYING and abs(last.percent) > 100.0 * LEAST_LAST and not known:
            said.append(
                f"the most expensive run, {last.words()}, lies {last.times:.0f} typical residuals away"
            )
        return tuple(said)


def goodness(residuals: FloatArray, runs: Runs, parameters: int) -> Goodness:
    """Of residuals in log loss, row by row, for a law with so many ``parameters``."""
    size = np.abs(residuals)
    order = np.argsort(-size, kind="stable")
    typical = float(NORMAL * np.median(size[order[::-1]][min(parameters, size.size - 1) :]))
    rows = np.arange(len(runs)) if runs.row is None else runs.row
    times = size / max(typical, 1e-12)

    def one(i: int) -> WorstRow:
        with np.errstate(over="ignore"):
            percent = float(100.0 * np.expm1(residuals[i]))
        sizes = {"N": float(runs.N[i]), "D": float(runs.D[i]), "loss": float(runs.loss[i])}
        return WorstRow(row=int(rows[i]) + 1, **sizes, percent=percent, times=float(times[i]))

    compute = np.log(runs.N) + np.log(runs.D)
    last = int(np.argmax(np.where(compute > compute.max() - SAME, size, -1.0)))
    return Goodness(
        sd=float(100.0 * np.sqrt(np.mean(residuals**2))),
        mad=float(100.0 * np.median(size)),
        typical=100.0 * typical,
        worst=tuple(one(i) for i in order[:WORST]),
        outliers=tuple(one(i) for i in order if times[i] > OUTLYING and size[i] > SMALLEST_OUTLIER),
        most_expensive=one(last),
    )


def findings(
    design: Design,
    objective: Objective,
    minimum: Minimum,
    runs: Runs,
    good: Goodness,
    pooled: Sequence[Pooled] = (),
) -> list[Finding]:
    """Everything that should keep a reader from taking the optimum at its word, gravest first.

    With one size only convergence and bounds can go wrong.
    """
    found: list[Finding] = []
    one_size = design.law.has_one_size()
    bounds = design.at_bounds(minimum.theta)
    if not minimum.converged:
        words = f"the minimiser stopped with gradient norm {minimum.gradient_norm:.1e}"
        found.append(("not-converged", words))
    if not one_size:
        found += _not_told_apart(design, minimum, runs)
    found += [("bound", words) for words in bounds.values()]
    if len(runs) < ROWS_PER_PARAMETER * design.free:
        words = f"{len(runs)} rows are few for {design.free} parameters: the fit may follow single runs"
        found.append(("few-rows", words))
    elif objective.name != "envelope":  # an envelope leaves runs far above it by intention
        found += [("outliers", words) for words in good.outlier_words()]
    found += [("pooled", column.words()) for column in pooled if column.kind != "seed"]
    if not one_size and not bounds and design.law.floor_name is not None:
        found += _floor(design, objective, minimum, runs)
    return found


def undetermined(design: Design, minimum: Minimum, runs: Runs) -> str:
    """Why the optimum says little of the exponents; empty where it does."""
    if not minimum.converged:
        return "the minimiser did not converge"
    return next((words for _, words in _not_told_apart(design, minimum, runs)), "")


def no_sparsity(design: Design, minimum: Minimum) -> str:
    """Why the exponents of this fit imply no sparsity; empty where they do."""
    law = design.law
    if law.exponent_names is None and law.sparsity_names is None:
        one = f"a {law.name} law has one exponent"
        return one if law.has_one_size() else f"{law.name} has no exponents of N and D"
    bounds = design.at_bounds(minimum.theta)
    return "; ".join(words for name, words in bounds.items() if name != law.floor_name)


def _not_told_apart(design: Design, minimum: Minimum, runs: Runs) -> list[Finding]:
    """Sizes that rise together, or else parameters of which some combination has no effect."""
    found = []
    for first, second in itertools.combinations(design.law.sizes, 2):
        logs = np.log(runs.sizes[first]), np.log(runs.sizes[second])
        correlation = abs(float(np.corrcoef(*logs)[0, 1]))
        if correlation > COLLINEAR:
            together = f"{first} and {second} rise together (correlation of logs {correlation:.5f})"
            words = f"{together}: their exponents are told apart by the law's shape alone"
            found.append(("collinear", words))
    jacobian = design.jacobian(minimum.theta)
    norms = np.linalg.norm(jacobian, axis=0)
    if found or np.any(norms == 0.0):  # a term that has vanished is said as a bound
        return found
    if design.rows > 100_000:
        jacobian = jacobian[:: design.rows // 100_000]
    singular = np.linalg.svd(jacobian / norms, compute_uv=False)
    if singular[-1] >= SINGULAR * singular[0]:
        return []
    return [("not-identified", "some combination of parameters does not change the fitted losses")]


def _floor(design: Design, objective: Objective, minimum: Minimum, runs: Runs) -> list[Finding]:
    """The floor is identified when a law without it fits clearly worse (as if rows were independent)."""
    law = design.law
    if len(runs) > LARGEST_POLISH_ROWS:  # a sample this large says the same
        runs = runs.take(sample(len(runs)))
        minimum = global_minimum(prepare(law, runs), objective)
    without = global_minimum(prepare(law, runs, floor=False), objective)
    if without.value <= 0.0 or minimum.value <= 0.0:
        return []
    statistic = likelihood_ratio(without.value, minimum.value, design.rows, objective)
    if statistic >= CHI2_95:
        return []
    words = f"the data do not tell {law.floor_name} from 0"
    return [
        (f"{law.floor_name}-not-identified", f"{words} (likelihood ratio {statistic:.2f}, {CHI2_95} needed)")
    ]
