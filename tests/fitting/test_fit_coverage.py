"""Do 95 % intervals hold the truth 95 % of the time? A small run always, 200 tables for each law if slow."""

import numpy as np
import pytest

from oracles_fitting import CHINCHILLA_TRUTH, TWO_POWER_TRUTH, noisy_runs
from sparselaw.fitting.bootstrap import bootstrap
from sparselaw.fitting.design import Runs, two_size_design
from sparselaw.fitting.objectives import parse_objective
from sparselaw.fitting.solve import global_minimum

LAWS = [("chinchilla", CHINCHILLA_TRUTH), ("two-power", TWO_POWER_TRUTH)]


def coverage(law, truth, tables, draws, shift=0.0):
    """(share of intervals that hold the truth, estimates) by parameter; ``shift`` plants an error."""
    what = parse_objective("huber")
    held, estimates = [], []
    for seed in range(tables):
        table = noisy_runs(truth, seed)
        runs = Runs(
            N=table.N.to_numpy(), D=table.D.to_numpy(), loss=table.loss.to_numpy(), scale=np.ones(len(table))
        )
        design = two_size_design(runs, law)
        minimum = global_minimum(design, what)
        values = np.array([getattr(truth, name) for name in design.names])
        drawn = design.natural(bootstrap(design, what, minimum, draws=draws, seed=seed)) * np.exp(shift)
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        held.append((low <= values) & (values <= high))
        estimates.append(design.natural(minimum.theta) / values)
    return dict(zip(design.names, np.mean(held, axis=0), strict=True)), np.array(estimates)


@pytest.mark.parametrize(("law", "truth"), LAWS)
def test_intervals_cover(law, truth):
    """25 tables: fewer than 20 held is below binomial chance 0.7 % for true coverage 0.95, each parameter."""
    held, estimates = coverage(law, truth, tables=25, draws=100)
    assert all(share >= 20 / 25 for share in held.values()), held
    exponents = np.median(estimates, axis=0)[-2:]
    np.testing.assert_allclose(exponents, 1.0, atol=0.03)  # a median of 25 has some 1 % of noise here


def test_a_planted_bias_is_seen():
    """Intervals moved by 10 % must fail the check above: the exponents are known to 4 %."""
    held, _ = coverage("two-power", TWO_POWER_TRUTH, tables=25, draws=100, shift=0.1)
    assert held["alpha_N"] < 20 / 25


@pytest.mark.slow
@pytest.mark.parametrize(("law", "truth"), LAWS)
def test_intervals_cover_in_200_tables(law, truth):
    """Between 90 % and 99 %. With true coverage 0.95 one share leaves that band with chance 0.4 %."""
    held, estimates = coverage(law, truth, tables=200, draws=400)
    assert all(0.90 <= share <= 0.99 for share in held.values()), held
    np.testing.assert_allclose(np.median(estimates, axis=0), 1.0, atol=0.02)
