r"""Two recipes in one posterior, and draws of both at once.

The discrepancies of the two laws are correlated by rho, and the laws themselves are alike but for A and B.
rho is not known: it is averaged over 0.9, 0.5 and 0 by evidence, and found near 0 where the recipes have
nothing in common. What both share cancels in their difference, which is known far better than either loss.
Two separate forecasts would know how much compute one recipe saves to a factor of 58 at ten times the largest
budget, the joint one to a factor of 4 to 7. Where both tables have runs of the same N, D and seed, the noise
of these is correlated too, as evidence has it.

A forecast is scaled and moved by its back-tests. They tell of either loss, and little of the difference: the
scale of a difference is the same for all tables (docs/decide.md has what was tried).

Recipes that people compare are mostly nearly equal. Where this is left out, an error of extrapolation is
taken for a difference: of nearly equal recipes said to be the lower one with 0.05, 0.18 were. So each draw
counts by the density of its multiplier m before any run was made, Cauchy's in ln m of scale 0.3. Its tails
are heavy: recipes that differ much are not drawn together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.costs import Cost
from sparselaw.forecasting import KnownRuns
from sparselaw.forecasting.posterior import Posterior, joint_posterior
from sparselaw.forecasting.predictive import Calibration, Predictive
from sparselaw.forecasting.settings import SETTINGS
from sparselaw.planning.from_runs import lowest, sizes_along

CORRELATIONS = ((0.9, 0.5), (0.5, 0.25), (0.0, 0.25))  # rho and its prior weight; 0.98 covers too little
SCALE = 0.32  # v of a difference: the posterior's variance is larger than the errors have been
# Those that comparisons were measured on. What two recipes have in common drifts alike and cancels.
ALIKE = replace(
    SETTINGS, drift_sizes=(0.125, 0.25, 0.5, 1.0, 2.0), drift_prior=(0.6, 0.3), drift_tails=3.0, degrees=4
)
ROWS = 240  # of each table that enter a joint posterior
REACH = 30.0  # the largest compute multiplier that is looked for, either way
USUAL = 0.3  # of ln m: before any run was made, half of all recipes differ by less
COARSE = 1.2  # of ln C: the best N is found at budgets so far apart, and interpolated between them


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Runs of one recipe; ``notes`` say how its table was read."""

    name: str
    runs: KnownRuns
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipes:
    """Both recipes of a comparison: 0 is A, 1 is B."""

    names: tuple[str, str]
    runs: tuple[KnownRuns, KnownRuns]
    posterior: Posterior

    @property
    def calibration(self) -> Calibration:
        return Calibration(shift=0.0, v=SCALE, settings=self.posterior.settings)

    @property
    def rho(self) -> float:
        """Correlation of the discrepancies, as the runs have it."""
        each = np.array([one.rho for one in self.posterior.components])
        return float(self.posterior.weights @ each)

    @property
    def shared_sizes(self) -> int:
        """Pairs (N, D) that both tables have."""
        places = [set(zip(runs.N.tolist(), runs.D.tolist(), strict=True)) for runs in self.runs]
        return len(places[0] & places[1])

    def draws(self, N: FloatArray, D: FloatArray, recipe: IntArray, count: int, seed: int) -> FloatArray:
        """(count, points) of the expected log losses."""
        both = Predictive(posterior=self.posterior, calibration=self.calibration)
        return both.log_draws(N, D, count, seed=seed, noise=False, shift=False, recipe=recipe)

    def frontier(
        self, recipe: int, budgets: FloatArray, exact: FloatArray, cost: Cost
    ) -> tuple[FloatArray, FloatArray]:
        """Best N and D of a recipe at every budget; those that are ``exact`` are not interpolated.

        The loss is flat there, so that the N of the mean curve serves every draw.
        """
        count = 2 + int(np.log(budgets.max() / budgets.min()) / COARSE)
        few = np.unique(np.r_[np.geomspace(budgets.min(), budgets.max(), count), exact])
        lines = [sizes_along(self.runs[recipe], cost, float(C)) for C in few]
        D = np.concatenate([cost.data_for(N, C) for N, C in zip(lines, few, strict=True)])
        curves = self.posterior.means(self.posterior.points(np.concatenate(lines), D), recipe)
        each = zip(lines, curves.reshape(len(few), -1), strict=True)
        best = np.array([lowest(N, curve[None])[0] for N, curve in each])
        N = np.exp(np.interp(np.log(budgets), np.log(few), np.log(best)))
        return N, np.array([float(cost.data_for(n, C)) for n, C in zip(N, budgets, strict=True)])


def joined(a: Recipe, b: Recipe) -> Recipes:
    """One posterior for two tables that each allow a forecast."""
    used = [one.runs.in_order().thinned(ROWS) for one in (a, b)]
    found = joint_posterior(used, CORRELATIONS, ALIKE)
    return Recipes(names=(a.name, b.name), runs=(a.runs, b.runs), posterior=found)


def prior_of(logs: FloatArray) -> FloatArray:
    """How likely each log of the multiplier is before any run was made, but for a constant."""
    away = np.clip(logs, -np.log(REACH), np.log(REACH)) / USUAL
    return np.asarray(1.0 / (1.0 + away**2))
