"""The paper's table of iteration counts, measured: exponents in each regime, plain and accelerated.

The paper takes the smallest resolved coordinate to be K(D) ~ D^(1/(alpha1+1)), hence a condition number
kappa ~ min(N, K(D))^a with a = alpha1 + alpha2 + 2. But the rarest coordinate seen is j_max ~ D^(1/alpha1),
it is seen once, and it sets the smallest eigenvalue c_j / D: kappa ~ D^(1 + (alpha2+1)/alpha1) where N >
K(D). Iterations are kappa^p, p = 1 plain and 1/2 accelerated. Coordinates beyond K hardly matter to the
loss, so that iterations to a loss and iterations to a gradient norm need not have the same exponent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparselaw.dynamics.iterations import (
    GRADIENT,
    Iterations,
    accelerated_iterations,
    plain_iterations,
    plain_to_gradient,
    predicted_iterations,
)
from sparselaw.dynamics.seed_slopes import exponent
from sparselaw.dynamics.training import prepare_training
from sparselaw.errors import InputError
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval
from sparselaw.log_slope import log_slope
from sparselaw.theory import condition_exponents
from sparselaw.trials.task import Task

Regime = Literal["over", "intermediate", "under"]
Run = tuple[Iterations, Iterations, int | None]  # plain, accelerated, plain to a tiny gradient
REGIMES: tuple[Regime, ...] = ("over", "intermediate", "under")
OVER_D = (1_600, 3_200, 6_400, 12_800, 25_600)
UNDER_D = 200_000
SMALLEST_ALPHA1 = 0.5
TINY = 1e-30  # of the first gradient: small enough for the smallest eigenvalue to decide
WIDE = 4  # N / D in the heavily over-parameterised regime, N / K(D) in the intermediate one
DEEP = 4  # K(D) / N at the largest N of the under-parameterised regime


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One exponent of the table: of iterations, or of the condition number, against D (or N)."""

    regime: Regime
    method: str  # gd, nesterov, or condition number
    until: str  # a relative gradient norm, loss (within 1 % of the final one), or empty
    variable: str  # D or N
    measured: Interval
    paper: float
    corrected: float  # equal to the paper's in the under-parameterised regime
    follows: (
        str  # paper, corrected, both, neither: which prediction the data are compatible with, or nearer to
    )
    closed_form: float | None = None  # of the loss of unfinished training, at these very sizes


def cost_table(
    inputs: SparseInputs,
    seeds: int = 40,
    regimes: Sequence[Regime] = REGIMES,
    map_: Callable[..., Iterable[Run]] = map,
) -> list[Row]:
    """All rows of the regimes asked for. ``map_`` may be an executor's, to measure on several processes."""
    if inputs.alpha1 < SMALLEST_ALPHA1:
        raise InputError(
            "alpha1",
            inputs.alpha1,
            f"K(D) is not well below D in reach of a measurement for alpha1 < {SMALLEST_ALPHA1}",
            f"choose alpha1 >= {SMALLEST_ALPHA1}",
        )
    return [row for regime in regimes for row in _rows(inputs, regime, seeds, map_)]


def sizes(inputs: SparseInputs, regime: Regime) -> list[tuple[int, int]]:
    """The (N, D) of a regime: N = 4 D; N = 4 K(D), or half way to D if that is less; N below K(D) / 4."""
    if regime == "over":
        return [(WIDE * D, D) for D in OVER_D]
    if regime == "intermediate":
        return [(round(_between(inputs.asymptotic_seen(D), D)), D) for D in OVER_D]
    widths = np.geomspace(4.0, max(inputs.asymptotic_seen(UNDER_D) / DEEP, 8.0), 5)
    return [(round(N), UNDER_D) for N in widths]


def predictions(inputs: SparseInputs, regime: Regime) -> tuple[float, float]:
    """The exponent of the condition number: the paper's, and the corrected one."""
    a = inputs.spectrum
    if regime == "under":
        return a, a
    return condition_exponents(inputs)


def follows(measured: Interval, paper: float, corrected: float) -> str:
    """Which prediction lies in the interval; if none does, the one that is much nearer, else neither."""
    inside = [measured.contains(paper), measured.contains(corrected)]
    if all(inside):
        return "both"
    if any(inside):
        return "paper" if inside[0] else "corrected"
    far = abs(measured.best - paper), abs(measured.best - corrected)
    if min(far) > max(far) / 3.0:
        return "neither"
    return "nearer the paper" if far[0] < far[1] else "nearer the corrected"


def _rows(
    inputs: SparseInputs, regime: Regime, seeds: int, map_: Callable[..., Iterable[Run]]
) -> Iterator[Row]:
    grid = sizes(inputs, regime)
    tasks = [Task(inputs=inputs, N=N, D=D, seed=seed) for seed in range(seeds) for N, D in grid]
    flat = list(map_(_run, tasks))
    runs = [flat[i : i + len(grid)] for i in range(0, len(flat), len(grid))]  # (seeds, sizes)
    variable = "N" if regime == "under" else "D"
    axis = [N if regime == "under" else D for N, D in grid]
    paper, corrected = predictions(inputs, regime)

    def row(
        method: str,
        until: str,
        power: float,
        value: Callable[[Run], float],
        closed_form: float | None = None,
    ) -> Row:
        measured = exponent(axis, np.array([[value(run) for run in line] for line in runs]))
        return Row(
            regime=regime,
            method=method,
            until=until,
            variable=variable,
            measured=measured,
            paper=power * paper,
            corrected=power * corrected,
            follows=follows(measured, power * paper, power * corrected),
            closed_form=closed_form,
        )

    yield row("condition number", "", 1.0, lambda run: run[0].condition_number)
    yield row("gd", f"gradient {GRADIENT:g}", 1.0, lambda run: _count(run[0].to_gradient))
    yield row("gd", f"gradient {TINY:g}", 1.0, lambda run: _count(run[2]))
    steps = [predicted_iterations(inputs, N, D) for N, D in grid]
    rise = float(log_slope(axis, steps)[0])
    yield row("gd", "loss", 1.0, lambda run: _count(run[0].to_loss), rise)
    yield row("nesterov", f"gradient {GRADIENT:g}", 0.5, lambda run: _count(run[1].to_gradient))
    yield row("nesterov", "loss", 0.5, lambda run: _count(run[1].to_loss))


def _run(task: Task) -> Run:
    training = prepare_training(task)
    return plain_iterations(training), accelerated_iterations(training), plain_to_gradient(training, TINY)


def _between(seen: float, D: int) -> float:
    """A width above K(D) and below D, at a fixed ratio to K(D) wherever there is room for it."""
    return min(WIDE * seen, math.sqrt(seen * D))


def _count(iterations: int | None) -> float:
    return math.nan if iterations is None else float(iterations)
