"""The process against dense Gaussian algebra, the slopes against differences, the weights as the recipe."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from oracles import forecast as naive
from sparselaw.fitting.forecast.average import TAUS, average, tau_weights, thinned
from sparselaw.fitting.forecast.coupled_model import (
    Prior,
    log_loss,
    log_parameters,
    prior_of,
    value_and_slopes,
)
from sparselaw.fitting.forecast.marquardt import marquardt
from sparselaw.fitting.forecast.process import Rows, posterior
from sparselaw.fitting.forecast.robust import law_alone, scale_of
from sparselaw.fitting.rows import clean_runs
from sparselaw.interval import Z95
from sparselaw.laws import CoupledLaw

TRUTH = CoupledLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37, g=0.5)
THETA = np.array([0.6, -0.2, 0.1, np.log(0.33), np.log(0.28), np.log(0.5)])


def table(seed=0, rows=24, noise=0.004):
    generator = np.random.Generator(np.random.PCG64(seed))
    N = np.exp(generator.uniform(np.log(1e7), np.log(1e10), rows))
    D = np.exp(generator.uniform(np.log(1e9), np.log(1e12), rows))
    return {
        "N": N,
        "D": D,
        "loss": TRUTH.loss(N, D) * np.exp(noise * generator.standard_normal(rows)),
        "run": np.arange(rows) // 3,
    }


def rows_of(grouped=False, seed=0):
    runs = clean_runs(table(seed), group="run" if grouped else None).runs
    x = np.column_stack([np.log(runs.N), np.log(runs.D)])
    x = x - x.mean(axis=0)
    prior = prior_of(runs.loss)
    alone = law_alone(x, np.log(runs.loss), runs.scale, prior)
    return Rows(x, np.log(runs.loss), alone.row_noise, alone.noise, runs.group), prior, alone.theta


AHEAD = np.array([[4.0, 3.5], [0.2, -0.3], [6.0, -1.0]])


def test_slopes_are_the_laws():
    x = np.random.Generator(np.random.PCG64(1)).uniform(-5, 5, (40, 2))
    value, slopes = value_and_slopes(THETA, x)
    np.testing.assert_allclose(slopes, naive.slopes(log_loss, THETA, x), atol=1e-9)
    centre = np.array([18.0, 23.0])
    logs, between = log_parameters(THETA, centre)
    law = CoupledLaw(**dict(zip(("E", "A", "B", "alpha", "beta", "g"), np.exp(logs), strict=True)))
    N, D = np.exp(x + centre).T
    np.testing.assert_allclose(value, np.log(law.loss(N, D)), rtol=1e-12)
    shifted = [log_parameters(THETA + 1e-6 * e, centre)[0] - logs for e in np.eye(6)]
    np.testing.assert_allclose(between.T, np.array(shifted) / 1e-6, rtol=1e-4, atol=1e-4)


def test_without_discrepancy_and_prior_it_is_generalised_least_squares():
    rows, prior, start = rows_of()
    flat = Prior(centre=prior.centre, spread=np.full(6, np.inf))
    found = posterior(rows, flat, 1e-9, start)
    twin = least_squares(
        lambda t: (rows.y - log_loss(t, rows.x)) / rows.row_noise, start, xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    assert found.converged
    assert found.value == pytest.approx(2 * twin.cost, rel=1e-9)
    np.testing.assert_allclose(log_loss(found.theta, rows.x), log_loss(twin.x, rows.x), atol=1e-6)
    mean, variance = found.predict(AHEAD)
    J, at = (naive.slopes(log_loss, found.theta, x) for x in (rows.x, AHEAD))
    spread = np.linalg.inv(J.T @ np.diag(rows.row_noise**-2.0) @ J)
    np.testing.assert_allclose(mean, log_loss(found.theta, AHEAD), atol=1e-9)
    np.testing.assert_allclose(variance, rows.noise**2 + np.diag(at @ spread @ at.T), rtol=1e-4)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("tau", [0.004, 0.064])
def test_prediction_is_gaussian_conditioning(grouped, tau):
    rows, prior, start = rows_of(grouped)
    found = posterior(rows, prior, tau, start)
    mean, variance = found.predict(AHEAD)
    expected, spread = naive.condition(rows, tau, prior, found.theta, log_loss, AHEAD)
    np.testing.assert_allclose(mean, expected, atol=3e-6)
    np.testing.assert_allclose(variance, np.diag(spread), rtol=3e-4)  # the rounding of the inverse
    assert (np.diff(variance[[1, 0]]) > 0).all()  # farther ahead is less sure


@pytest.mark.parametrize("grouped", [False, True])
def test_pulls_are_forecasts_without_a_row(grouped):
    rows, prior, start = rows_of(grouped)
    found = posterior(rows, prior, 0.016, start)
    pulls = found.pulls(AHEAD)
    whole, _ = naive.condition(rows, 0.016, prior, found.theta, log_loss, AHEAD)
    for i in (0, 7, 23):
        kept = np.delete(np.arange(len(rows.y)), i)
        without, _ = naive.condition(rows, 0.016, prior, found.theta, log_loss, AHEAD, kept)
        np.testing.assert_allclose(pulls[:, i], whole - without, atol=3e-6)


@pytest.mark.parametrize("grouped", [False, True])
def test_weights_are_the_laplace_evidence(grouped):
    runs = clean_runs(table(3), group="run" if grouped else None).runs
    found = average(runs)
    prior = prior_of(runs.loss)
    logs = []
    for p in found.posteriors:
        bits = naive.evidence(p.rows, p.tau, prior, p.theta, log_loss)
        logs.append(-0.5 * (bits + np.log(p.tau / 0.008) ** 2))
    expected = np.exp(np.array(logs) - max(logs))
    np.testing.assert_allclose(found.weights, expected / expected.sum(), rtol=1e-5)
    assert [p.tau for p in found.posteriors] == list(TAUS)
    assert tau_weights([0.008, 0.064], [0.0, 0.0])[1] < 0.15


def test_the_interval_is_that_of_the_mixture():
    found = average(clean_runs(table(4)).runs)
    N, D = np.array([1e11]), np.array([5e12])
    x = np.column_stack([np.log(N), np.log(D)]) - found.centre
    means, variances = np.array([p.predict(x) for p in found.posteriors])[:, :, 0].T
    mu = sum(found.weights * means)
    sd = np.sqrt(sum(found.weights * (variances + (means - mu) ** 2)))
    loss = found.losses(N, D)[0]
    assert [loss.low, loss.best, loss.high] == pytest.approx(np.exp([mu - Z95 * sd, mu, mu + Z95 * sd]))


def test_the_minimum_of_F_is_one():
    rows, prior, start = rows_of()
    found = posterior(rows, prior, 0.008, start)
    inverse = np.linalg.inv(naive.covariance(rows, 0.008))

    def F(theta):
        r = rows.y - log_loss(theta, rows.x)
        return r @ inverse @ r + np.sum(((theta - prior.centre) / prior.spread) ** 2)

    assert found.value == pytest.approx(F(found.theta), rel=1e-9)
    generator = np.random.Generator(np.random.PCG64(2))
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(10):
            assert F(found.theta + size * generator.standard_normal(6)) > found.value


def test_marquardt_on_a_valley():
    """Rosenbrock's, whose smallest value is 0 at (1, 1); a step into nowhere is not taken."""

    def residuals(t):
        return np.array([10 * (t[1] - t[0] ** 2), 1 - t[0]]), np.array([[-20 * t[0], 10.0], [-1.0, 0.0]])

    found = marquardt(residuals, np.array([-1.2, 1.0]))
    np.testing.assert_allclose(found.theta, 1.0, atol=1e-6)
    assert found.converged


def test_noise_follows_the_rules():
    """0.7 of the scale of the residuals; a wild row gets a noise of its own, and moves the law little."""
    data = table(5, rows=60)
    clean = clean_runs(data).runs
    loss = clean.loss.copy()
    loss[10] *= 1.5
    wild = replace(clean, loss=loss)
    x = np.column_stack([np.log(clean.N), np.log(clean.D)])
    x = x - x.mean(axis=0)
    prior = prior_of(loss)
    found = law_alone(x, np.log(loss), wild.scale, prior)
    r = np.log(loss) - log_loss(found.theta, x)
    assert found.converged
    assert found.scale == pytest.approx(1.26 * np.mean(np.abs(r)) * np.sqrt(60 / 54))
    assert found.noise == pytest.approx(0.7 * scale_of(r))
    assert found.row_noise[10] == pytest.approx(found.noise * abs(r[10]) / (2 * found.scale))
    assert found.row_noise[np.argmin(np.abs(r))] == found.noise
    right = law_alone(x, np.log(clean.loss), clean.scale, prior)
    np.testing.assert_allclose(log_loss(found.theta, x), log_loss(right.theta, x), atol=0.01)


def test_exact_runs_keep_the_least_noise():
    found = average(clean_runs(table(6, rows=40, noise=0.0)).runs)
    assert found.noise == 0.001
    assert found.law().g == pytest.approx(TRUTH.g, rel=0.1)


def test_many_rows_are_thinned_along_compute():
    runs = clean_runs(table(7, rows=900)).runs
    kept = thinned(runs)
    assert len(kept) == 400
    assert (np.diff(kept) > 0).all()
    compute = np.log(runs.N) + np.log(runs.D)
    assert {int(compute.argmin()), int(compute.argmax())} <= set(kept.tolist())
    whole, part = np.quantile(compute, [0.25, 0.5, 0.75]), np.quantile(compute[kept], [0.25, 0.5, 0.75])
    np.testing.assert_allclose(part, whole, atol=0.05)


def test_units_do_not_matter():
    """N and D in other units: the same forecast. The loss in other units: the same but for the unit."""
    data = table(8)
    plain = average(clean_runs(data).runs).losses(np.array([1e11]), np.array([5e12]))[0]
    other = {**data, "N": data["N"] / 1e9, "D": data["D"] * 7.0, "loss": data["loss"] / np.log(2)}
    scaled = average(clean_runs(other).runs).losses(np.array([1e2]), np.array([3.5e13]))[0]
    for end in ("low", "best", "high"):
        assert getattr(scaled, end) * np.log(2) == pytest.approx(getattr(plain, end), rel=1e-4)
