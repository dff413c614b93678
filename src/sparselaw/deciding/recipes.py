r"""Two recipes in one posterior, and draws of both at once.

The discrepancies of the two laws are correlated by rho, and the laws themselves are alike but for A and B.
rho is not known: it is averaged over 0, 0.5 and 0.9 by evidence, and found near 0 where the recipes have
nothing in common. What both share cancels in their difference, which is known far better than either loss.
Two separate forecasts would know how much compute one recipe saves to a factor of 58 at ten times the largest
budget, the joint one to a factor of 4 to 7.

The back-tests of both scale the draws; their shift is left out, since it is common to both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.costs import Cost
from sparselaw.forecasting import KnownRuns, Prepared
from sparselaw.forecasting.posterior import Posterior, joint_posterior
from sparselaw.forecasting.predictive import Calibration, Predictive
from sparselaw.planning.from_runs import lowest, sizes_along

CORRELATIONS = ((0.0, 0.25), (0.5, 0.25), (0.9, 0.5))  # rho and its prior weight; 0.98 covers too little
ROWS = 240  # of each table that enter a joint posterior
COARSE = 9  # budgets at which the best N is found; between them it is interpolated


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipes:
    """Both recipes of a comparison: 0 is A, 1 is B."""

    names: tuple[str, str]
    runs: tuple[KnownRuns, KnownRuns]
    posterior: Posterior
    calibration: Calibration

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

    def frontier(self, recipe: int, budgets: FloatArray, cost: Cost) -> tuple[FloatArray, FloatArray]:
        """Best N and D of a recipe at every budget.

        The loss is flat there, so that the N of the mean curve serves every draw.
        """
        few = budgets
        if budgets.size > COARSE:
            few = np.geomspace(budgets.min(), budgets.max(), COARSE)
        lines = [sizes_along(self.runs[recipe], cost, float(C)) for C in few]
        N = np.concatenate(lines)
        D = np.concatenate([cost.data_for(line, C) for line, C in zip(lines, few, strict=True)])
        means = self.posterior.weights @ np.array(
            [at.mean for at in self.posterior.moments(self.posterior.points(N, D), recipe)]
        )
        curves = means.reshape(len(few), -1)
        best = np.array([lowest(line, curve[None])[0] for line, curve in zip(lines, curves, strict=True)])
        if few is not budgets:
            best = np.exp(np.interp(np.log(budgets), np.log(few), np.log(best)))
        D_best = [float(cost.data_for(n, C)) for n, C in zip(best, budgets, strict=True)]
        return best, np.array(D_best)


def joined(names: tuple[str, str], prepared: tuple[Prepared, Prepared]) -> Recipes:
    """One posterior for two tables that each allow a forecast."""
    runs = (prepared[0].runs, prepared[1].runs)
    used = [one.in_order().thinned(ROWS) for one in runs]
    own = [one.predictive.calibration for one in prepared]
    return Recipes(
        names=names,
        runs=runs,
        posterior=joint_posterior(used, CORRELATIONS),
        calibration=Calibration(shift=0.0, v=0.5 * (own[0].v + own[1].v), settings=own[0].settings),
    )
