"""Does the table determine the law? What hits a bound, what is flat, what cannot be told apart."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparselaw.fitting.design import Bound, Design, prepare
from sparselaw.fitting.exponent_tests import likelihood_ratio
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.goodness import Goodness
from sparselaw.fitting.minimise import LARGEST_POLISH_ROWS, Minimum, global_minimum, sample
from sparselaw.fitting.objectives import Objective
from sparselaw.fitting.table_checks import Pooled

COLLINEAR = 0.9995  # correlation of two log sizes above which their effects are not told apart
ROWS_PER_PARAMETER = 2  # fewer rows than this for each parameter are too few
SINGULAR = 1e-7  # smallest over largest singular value of the scaled derivatives
CHI2_95 = 3.841  # 95 % point of chi-square with one degree of freedom


@dataclass(frozen=True, slots=True)
class Finding:
    status: str
    words: str


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
        found.append(
            Finding("not-converged", f"the minimiser stopped with gradient norm {minimum.gradient_norm:.1e}")
        )
    if not one_size:
        found += _collinear(design, runs) or _singular(design, minimum)
    found += [Finding("bound", _at(bound)) for bound in bounds]
    if len(runs) < ROWS_PER_PARAMETER * design.free:
        words = f"{len(runs)} rows are few for {design.free} parameters: the fit may follow single runs"
        found.append(Finding("few-rows", words))
    elif objective.name != "envelope":  # an envelope leaves runs far above it by intention
        found += [Finding("outliers", words) for words in good.outlier_words()]
    found += [Finding("pooled", column.words()) for column in pooled if column.kind != "seed"]
    if not one_size and not bounds and design.law.floor_name is not None:
        found += _floor(design, objective, minimum, runs)
    return found


def undetermined(design: Design, minimum: Minimum, runs: Runs) -> str:
    """Why the optimum says little of the exponents; empty where it does."""
    if not minimum.converged:
        return "the minimiser did not converge"
    found = _collinear(design, runs) or _singular(design, minimum)
    return found[0].words if found else ""


def no_sparsity(design: Design, minimum: Minimum) -> str:
    """Why the exponents of this fit imply no sparsity; empty where they do."""
    if design.law.exponent_names is None and design.law.sparsity_names is None:
        return (
            f"a {design.law.name} law has one exponent"
            if design.law.has_one_size()
            else f"{design.law.name} has no exponents of N and D"
        )
    bounds = [b for b in design.at_bounds(minimum.theta) if b.name != design.law.floor_name]
    return "; ".join(_at(bound) for bound in bounds)


def _at(bound: Bound) -> str:
    return f"{bound.name} is at its bound {bound.value:g}"


def _collinear(design: Design, runs: Runs) -> list[Finding]:
    found = []
    for first, second in itertools.combinations(design.law.sizes, 2):
        logs = np.log(runs.sizes[first]), np.log(runs.sizes[second])
        correlation = abs(float(np.corrcoef(*logs)[0, 1]))
        if correlation > COLLINEAR:
            words = (
                f"{first} and {second} rise together (correlation of logs {correlation:.5f}): "
                "their exponents are told apart by the law's shape alone"
            )
            found.append(Finding("collinear", words))
    return found


def _singular(design: Design, minimum: Minimum) -> list[Finding]:
    jacobian = design.jacobian(minimum.theta)
    norms = np.linalg.norm(jacobian, axis=0)
    if np.any(norms == 0.0):
        return []  # a vanished term: reported as a bound
    if design.rows > 100_000:
        jacobian = jacobian[:: design.rows // 100_000]
    singular = np.linalg.svd(jacobian / norms, compute_uv=False)
    if singular[-1] >= SINGULAR * singular[0]:
        return []
    return [Finding("not-identified", "some combination of parameters does not change the fitted losses")]


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
    words = (
        f"the data do not tell {law.floor_name} from 0 (likelihood ratio {statistic:.2f}, {CHI2_95} needed)"
    )
    return [Finding(f"{law.floor_name}-not-identified", words)]
