"""Does the table determine the law? What hits a bound, what is flat, what cannot be told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.fitting.design import Design, Runs, two_size_design
from sparselaw.fitting.objectives import Objective
from sparselaw.fitting.solve import LARGEST_POLISH_ROWS, Minimum, global_minimum, sample

COLLINEAR = 0.9995  # correlation of log N and log D above which their effects are not told apart
VANISHED = 1e-6  # a term that gives less than this part of every loss is not there
SINGULAR = 1e-7  # smallest over largest singular value of the scaled derivatives
CHI2_95 = 3.841  # 95 % point of chi-square with one degree of freedom


@dataclass(frozen=True, slots=True)
class Finding:
    status: str
    words: str


def findings(design: Design, what: Objective, minimum: Minimum, runs: Runs | None) -> list[Finding]:
    """Everything that should keep a reader from taking the optimum at its word, gravest first.

    ``runs`` is None for a power law, where only convergence and bounds can go wrong.
    """
    found: list[Finding] = []
    if not minimum.converged:
        found.append(
            Finding("not-converged", f"the minimiser stopped with gradient norm {minimum.gradient_norm:.1e}")
        )
    if runs is not None:
        correlation = abs(float(np.corrcoef(np.log(runs.N), np.log(runs.D))[0, 1]))
        if correlation > COLLINEAR:
            found.append(
                Finding(
                    "collinear",
                    f"N and D rise together (correlation of logs {correlation:.5f}): "
                    "their exponents are told apart by the law's shape alone",
                )
            )
        elif _singular(design, minimum):
            found.append(
                Finding("not-identified", "some combination of parameters does not change the fitted losses")
            )
    found += _bounds(design, minimum)
    if runs is not None and "E" in design.names and not any(f.status == "bound" for f in found):
        found += _floor(design, what, minimum, runs)
    return found


def no_sparsity(design: Design, minimum: Minimum) -> str:
    """Why the exponents of this fit imply no sparsity; empty where they do."""
    bad = [f.words for f in _bounds(design, minimum) if not f.words.startswith("E ")]
    return "; ".join(bad)


def _bounds(design: Design, minimum: Minimum) -> list[Finding]:
    found = []
    share = design.shares(minimum.theta).max(axis=1)
    for k, start in enumerate(design.intercept):
        if share[k] < VANISHED:
            found.append(Finding("bound", f"{design.names[start]} is at its bound 0"))
    for index in sorted(set(design.slope[design.slope >= 0].tolist())):
        found += [
            Finding("bound", f"{design.names[index]} is at its bound {bound:g}")
            for bound in (design.lower[index], design.upper[index])
            if minimum.theta[index] == bound
        ]
    return found


def _floor(design: Design, what: Objective, minimum: Minimum, runs: Runs) -> list[Finding]:
    """E is identified when a law without it fits clearly worse (as if rows were independent)."""
    if len(runs) > LARGEST_POLISH_ROWS:  # a sample this large says the same
        runs = runs.take(sample(len(runs)))
        minimum = global_minimum(two_size_design(runs, "chinchilla"), what)
    without = global_minimum(two_size_design(runs, "two-power"), what)
    factor = 1.0 if math.isinf(what.delta) else 2.0
    if without.value <= 0.0 or minimum.value <= 0.0:
        return []
    statistic = factor * design.rows * math.log(without.value / minimum.value)
    if statistic >= CHI2_95:
        return []
    words = f"the data do not tell E from 0 (likelihood ratio {max(statistic, 0.0):.2f}, {CHI2_95} needed)"
    return [Finding("E-not-identified", words)]


def _singular(design: Design, minimum: Minimum) -> bool:
    share = design.shares(minimum.theta)
    jacobian = np.zeros((design.rows, design.lower.size))
    for k, start in enumerate(design.intercept):
        jacobian[:, start] += share[k]
        if design.slope[k] >= 0:
            jacobian[:, design.slope[k]] -= share[k] * design.x[k]
    norms = np.linalg.norm(jacobian, axis=0)
    if np.any(norms == 0.0):
        return False  # a vanished term: reported as a bound
    if design.rows > 100_000:
        jacobian = jacobian[:: design.rows // 100_000]
    singular = np.linalg.svd(jacobian / norms, compute_uv=False)
    return bool(singular[-1] < SINGULAR * singular[0])
