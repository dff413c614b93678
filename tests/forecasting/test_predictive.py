"""Quantiles, intervals at any level, draws, and how back-tests inform them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import sparselaw as sl
from sparselaw.forecasting.forecast_result import predictive
from sparselaw.forecasting.known_runs import known_runs
from sparselaw.forecasting.predictive import BackTest, Predictive, back_test_at, backtest, calibration
from sparselaw.forecasting.settings import SETTINGS
from sparselaw.laws import ChinchillaLaw

TRUTH = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
N, D = np.array([1e10, 1.5e10, 3e10]), np.array([2e11, 2e11, 6e11])


def runs_of(rows=60, seed=0, noise=0.003):
    generator = np.random.Generator(np.random.PCG64(seed))
    C = np.exp(generator.uniform(np.log(1e18), np.log(1e21), rows))
    sizes = np.sqrt(C / 120) * np.exp(generator.uniform(-1.5, 1.5, rows))
    data = C / (6 * sizes)
    return known_runs(sizes, data, TRUTH.loss(sizes, data) * np.exp(noise * generator.standard_normal(rows)))


@pytest.fixture(scope="module")
def found():
    return predictive(runs_of())[0]


def made(*scores):
    """Back-tests with these scores."""
    later = runs_of(10)
    return tuple(
        BackTest(
            cutoff=0.5, fitted=9, runs=len(z), covered=1.0, error=0.0, bias=0.0, width=0.0, later=later,
            mean=np.zeros(len(z)), half=np.ones(len(z)), scores=np.array(z),
        )
        for z in scores
    )  # fmt: skip


def test_what_back_tests_teach():
    """By hand: zbar = 1, q = mean(mean(1, 9), 1) = 3; v = (2.2 + 0.5 * 2 * 3) / 5 with two back-tests."""
    two = calibration(made([1.0, 5.0], [-1.0, -1.0]))
    assert two.shift == pytest.approx(0.4 * 1.0)
    assert two.v == pytest.approx((2.2 + 3.0) / 5.0)
    one = calibration(made([1.0, -2.0]))
    assert one.v == pytest.approx((2.2 + 0.5 * 2.5) / 4.5)
    none = calibration(())
    assert (none.shift, none.v, none.widening) == (0.0, 0.55, 1.0)
    assert none.half_width(0.95) == pytest.approx(np.sqrt(0.55) * 2.4469, abs=1e-4)
    assert two.widening == pytest.approx(np.sqrt(two.v / 0.55))


def test_quantiles_are_students(found):
    centre, scale = found.centre_and_scale(N, D)
    levels = [0.025, 0.2, 0.5, 0.9]
    expected = np.exp(centre[:, None] + scale[:, None] * stats.t.ppf(levels, 6))
    np.testing.assert_allclose(found.quantiles(N, D, levels), expected)
    mean, sd = found.posterior.log_losses(N, D)
    np.testing.assert_allclose(centre, mean + found.calibration.shift * sd)
    np.testing.assert_allclose(scale**2, found.calibration.v * sd**2)
    wide, narrow = (found.intervals(N, D, level)[0] for level in (0.95, 0.5))
    assert wide.low < narrow.low < narrow.best == wide.best < narrow.high < wide.high
    np.testing.assert_allclose(found.sd(N, D), np.exp(centre) * scale * np.sqrt(1.5))


def test_draws_have_the_quantiles_and_hang_together(found):
    """40,000 draws: a share has a standard error of 0.25 % at most, and five of them are allowed (chance
    below 1e-5 for nine shares). Losses of near points move together."""
    drawn = found.log_draws(N, D, 40_000)
    limits = np.log(found.quantiles(N, D, [0.1, 0.5, 0.9]))
    shares = (drawn[:, :, None] < limits[None]).mean(axis=0)
    np.testing.assert_allclose(shares, np.broadcast_to([0.1, 0.5, 0.9], (3, 3)), atol=0.0125)
    assert np.corrcoef(drawn[:, :2].T)[0, 1] > 0.8
    np.testing.assert_array_equal(drawn, found.log_draws(N, D, 40_000))
    assert not np.array_equal(drawn[:10], found.log_draws(N, D, 10, seed=1))


def test_covariance_of_draws_is_the_mixtures(found):
    """Over their scales draws are Gaussian: second moments of 20,000 within four standard errors (0.04)."""
    exact = Predictive(
        posterior=found.posterior, calibration=calibration((), replace(SETTINGS, degrees=10**6))
    )
    means, covariances = found.posterior.covariances(found.posterior.points(N, D))
    weights = found.posterior.weights
    mean = sum(w * m for w, m in zip(weights, means, strict=True))
    whole = sum(
        w * (C + np.outer(m - mean, m - mean)) for w, m, C in zip(weights, means, covariances, strict=True)
    )
    sd = np.sqrt(np.diag(whole))
    drawn = exact.log_draws(N, D, 20_000, noise=False)
    np.testing.assert_allclose(np.cov(drawn.T) / 0.55 / np.outer(sd, sd), whole / np.outer(sd, sd), atol=0.04)


def test_half_of_the_discrepancy_is_less(found):
    whole, half = (found.log_draws(N, D, 2000, part=part, noise=False) for part in (1.0, 0.5))
    assert np.ptp(half[:, [0, 2]], axis=1).std() < 0.9 * np.ptp(whole[:, [0, 2]], axis=1).std()


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 2])
def test_levels_are_shares(level):
    table = runs_of()
    with pytest.raises(sl.InputError, match="level"):
        sl.forecast({"N": table.N, "D": table.D, "loss": table.loss}, at=[(1e10, 2e11)], level=level)


def test_one_diverged_run_among_24_is_named_and_hardly_counts():
    sizes = np.array([[n, d] for n in np.geomspace(2e7, 1e9, 6) for d in np.geomspace(1e9, 6e10, 4)]).T
    generator = np.random.Generator(np.random.PCG64(1))
    loss = TRUTH.loss(*sizes) * np.exp(0.004 * generator.standard_normal(24))
    table = {"N": sizes[0], "D": sizes[1], "loss": loss}
    clean = sl.forecast(table, at=[(7e9, 4e11)])
    wild = sl.forecast({**table, "loss": np.where(np.arange(24) == 0, 11.2, loss)}, at=[(7e9, 4e11)])
    widths = [f.points[0].loss.high - f.points[0].loss.low for f in (wild, clean)]
    assert widths[0] < 1.5 * widths[1]
    assert any("row 1: N = 20M, D = 1B, loss 11.2" in words for words in wild.warnings)
    assert not any("far from the law" in words for words in clean.warnings)


def test_back_test_sees_no_later_loss():
    """Predicted losses do not change when the losses predicted do; the interval does."""
    runs = runs_of()
    expensive = runs.log_compute > np.sort(runs.log_compute)[41]
    changed = known_runs(runs.N, runs.D, runs.loss * np.where(expensive, 3.0, 1.0))
    first, second = back_test_at(runs, 0.7), back_test_at(changed, 0.7)
    np.testing.assert_array_equal(first.mean, second.mean)
    assert second.covered == 0.0
    assert calibration(backtest(changed)).widening > 1.5 > 1.05 > calibration(backtest(runs)).widening


def test_many_rows_are_thinned_first():
    runs = runs_of(100_000)
    found = sl.forecast({"N": runs.N, "D": runs.D, "loss": runs.loss}, at=[(1e10, 2e11)])
    assert found.rows_used == 400
    assert any("400 of 100000 rows used" in words for words in found.warnings)
