"""The posterior against dense Gaussian algebra, kernels against integrals, weights as the recipe."""

from dataclasses import replace

import numpy as np
import pytest

from oracles import forecast as naive
from sparselaw.forecasting.component import drift, drift_variance, integrated_brownian, law_of_recipes
from sparselaw.forecasting.coupled_model import (
    law_alone,
    log_parameters,
    marquardt,
    prior_of,
    scale_of,
    value_and_slopes,
)
from sparselaw.forecasting.known_runs import known_runs
from sparselaw.forecasting.posterior import _joint_prior, joint_posterior, posterior
from sparselaw.forecasting.settings import SETTINGS
from sparselaw.laws import CoupledLaw

TRUTH = CoupledLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37, g=0.5)
THETA = np.array([0.6, -0.2, 0.1, np.log(0.33), np.log(0.28), np.log(0.5)])
AHEAD = np.array([[4.0, 3.5], [0.2, -0.3], [6.0, -1.0]])
FEW = replace(SETTINGS, drift_sizes=(0.5, 2.0), wiggle_sizes=(0.004, 0.036), noise_shares=(0.7, 1.0))


def table(seed=0, rows=24, noise=0.004, grouped=False, better=1.0):
    generator = np.random.Generator(np.random.PCG64(seed))
    N = np.exp(generator.uniform(np.log(1e7), np.log(1e10), rows))
    D = np.exp(generator.uniform(np.log(1e9), np.log(1e12), rows))
    loss = better * TRUTH.loss(N, D) * np.exp(noise * generator.standard_normal(rows))
    return known_runs(N, D, loss, group=np.arange(rows) // 3 if grouped else None)


def log_loss(theta, x):
    return value_and_slopes(theta, x)[0]


def of_recipes(theta, x, recipe):
    return law_of_recipes(theta, x, recipe)[0]


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


def test_the_drift_is_an_integrated_brownian_motion():
    s, t = np.array([-2.0, 0.5, 3.0]), np.array([-0.7, 1.5, 3.0])
    found = integrated_brownian(s, t)
    twin = [[naive.brownian_of_integrals(a, b) for b in t] for a in s]
    np.testing.assert_allclose(found, twin, rtol=1e-6)
    x = np.random.Generator(np.random.PCG64(2)).uniform(-4, 4, (9, 2))
    np.testing.assert_allclose(np.diag(drift(x, x, SETTINGS)), drift_variance(x, SETTINGS))
    assert np.linalg.eigvalsh(drift(x, x, SETTINGS)).min() > -1e-10


@pytest.mark.parametrize("grouped", [False, True])
def test_every_component_is_gaussian_conditioning(grouped):
    """Means, covariances between points and pulls, with parameters integrated out."""
    found = posterior(table(grouped=grouped), FEW)
    prior = prior_of(found.runs[0].loss, FEW)
    means, covariances = found.covariances(AHEAD)
    N, D = np.exp(AHEAD + found.centre).T
    for i, one in enumerate(found.components):
        mean, spread = naive.condition(found, one, prior, of_recipes, AHEAD)
        np.testing.assert_allclose(means[i], mean, atol=5e-6)
        np.testing.assert_allclose(covariances[i], spread, rtol=1e-3, atol=1e-9)
        pulls = one.pulls(found.moments(AHEAD)[i])
        for row in (0, 7, 23):
            kept = np.delete(np.arange(24), row)
            without, _ = naive.condition(found, one, prior, of_recipes, AHEAD, keep=kept)
            np.testing.assert_allclose(pulls[:, row], mean - without, atol=1e-5)
    mean, sd = found.log_losses(N, D)
    np.testing.assert_allclose(mean, found.weights @ means, atol=1e-12)
    variance = found.weights @ (np.einsum("ijj->ij", covariances) + (means - mean) ** 2)
    own = (2.0 if grouped else 1.0) * found.weights @ [one.noise[0] ** 2 for one in found.components]
    np.testing.assert_allclose(sd**2, variance + own, rtol=1e-6)


def test_two_recipes_are_one_gaussian_too():
    """Correlated discrepancies and tied priors: the same conditioning on rows of both."""
    tables = [table(0), table(1, rows=18, better=0.97)]
    found = joint_posterior(tables, ((0.0, 0.5), (0.9, 0.5)), FEW)
    recipe = np.array([0, 1, 1])
    means, covariances = found.covariances(AHEAD, recipe)
    for i, one in enumerate(found.components):
        prior = _joint_prior(found.runs, one.rho, FEW)
        mean, spread = naive.condition(found, one, prior, of_recipes, AHEAD, recipe)
        np.testing.assert_allclose(means[i], mean, atol=2e-5)
        np.testing.assert_allclose(covariances[i], spread, rtol=3e-3, atol=1e-8)


@pytest.mark.parametrize("grouped", [False, True])
def test_weights_are_the_laplace_evidence(grouped):
    found = posterior(table(3, grouped=grouped), FEW)
    prior = prior_of(found.runs[0].loss, FEW)
    logs = []
    for one in found.components:
        exact = naive.log_evidence(found, one, prior, of_recipes)
        assert one.log_evidence == pytest.approx(exact, abs=1e-3)
        share = one.noise[0] / found.alone[0].scale
        away = [np.log(one.k / 0.7) / 0.7, np.log(one.tau / 0.008), np.log(share / 0.7) / 0.5]
        logs.append(exact - 0.5 * np.sum(np.square(away)))
    expected = np.exp(np.array(logs) - max(logs))
    np.testing.assert_allclose(found.weights, expected / expected.sum(), rtol=2e-3)


def test_where_F_is_smallest():
    found = posterior(table(), FEW)
    one, rows, prior = found.components[0], found.rows, prior_of(found.runs[0].loss, FEW)
    K = naive.covariance(found, one, rows.x, rows.recipe, rows.x, rows.recipe) + naive.noise(found, one)
    inverse = np.linalg.inv(K)

    def F(theta):
        r = rows.y - log_loss(theta, rows.x)
        return r @ inverse @ r + np.sum(prior.scores(theta) ** 2)

    lowest = F(one.theta)
    generator = np.random.Generator(np.random.PCG64(2))
    for size in (1e-2, 0.1):
        for _ in range(10):
            assert F(one.theta + size * generator.standard_normal(6)) > lowest


def test_frontier_and_slope():
    """The mean place of the most expensive tenth; the fall of the law along both sizes at once."""
    runs = table(4, rows=40)
    found = posterior(runs)
    order = np.argsort(runs.N * runs.D)[-4:]
    place = np.column_stack([np.log(runs.N), np.log(runs.D)])[order].mean(axis=0)
    np.testing.assert_allclose(found.frontier + found.centre, place)
    top = runs.log_compute >= np.quantile(runs.log_compute, 0.66)
    theta = found.alone[0].theta
    x = found.points(runs.N[top], runs.D[top])
    steps = [log_loss(theta, x + 1e-4 * e) - log_loss(theta, x - 1e-4 * e) for e in np.eye(2)]
    assert found.slope == pytest.approx(-0.5 * np.mean(np.sum(steps, axis=0)) / 2e-4, rel=1e-3)


def test_marquardt_on_a_valley():
    """Rosenbrock's, whose smallest value is 0 at (1, 1); a step into nowhere is not taken."""

    def residuals(t):
        return np.array([10 * (t[1] - t[0] ** 2), 1 - t[0]]), np.array([[-20 * t[0], 10.0], [-1.0, 0.0]])

    found = marquardt(residuals, np.array([-1.2, 1.0]))
    np.testing.assert_allclose(found.theta, 1.0, atol=1e-6)
    assert found.converged


def test_noise_follows_the_rules():
    """Shares of the scale of the residuals; a wild row gets a noise of its own, and moves the law little."""
    clean = table(5, rows=60)
    loss = clean.loss.copy()
    loss[10] *= 3.0
    x = np.column_stack([np.log(clean.N), np.log(clean.D)])
    x = x - x.mean(axis=0)
    prior = prior_of(loss, SETTINGS)
    found = law_alone(x, np.log(loss), clean.scale, prior)
    r = np.log(loss) - log_loss(found.theta, x)
    assert found.converged
    capped = np.minimum(np.abs(r), 8.0 * 1.4826 * np.median(np.abs(r)))
    assert found.scale == pytest.approx(1.26 * np.mean(capped) * np.sqrt(60 / 54))
    assert found.noise(0.7) == pytest.approx(0.7 * scale_of(r))
    assert found.relative[10] == pytest.approx(abs(r[10]) / (2 * found.scale))
    assert found.relative[np.argmin(np.abs(r))] == 1.0
    assert found.far_off().tolist() == [10]
    right = law_alone(x, np.log(clean.loss), clean.scale, prior)
    assert right.far_off().size == 0
    assert found.scale < 1.3 * right.scale
    np.testing.assert_allclose(log_loss(found.theta, x), log_loss(right.theta, x), atol=0.01)


def test_exact_runs_keep_the_least_noise():
    found = posterior(table(6, rows=40, noise=0.0))
    assert found.noise[0] == pytest.approx(0.001)
    assert found.law().g == pytest.approx(TRUTH.g, rel=0.15)


def test_many_rows_are_thinned_along_compute():
    runs = table(7, rows=900)
    kept = posterior(runs, FEW).runs[0]
    assert len(kept) == 400
    assert kept.log_compute.min() == runs.log_compute.min()
    assert kept.log_compute.max() == runs.log_compute.max()
    quarters = [0.25, 0.5, 0.75]
    np.testing.assert_allclose(
        np.quantile(kept.log_compute, quarters), np.quantile(runs.log_compute, quarters), atol=0.05
    )


@pytest.mark.parametrize("rows", [60, 900])
def test_the_order_of_rows_is_nothing(rows):
    """To the last bit, with groups whose numbers follow the order of the table, above 400 rows too."""
    runs = table(8, rows=rows, grouped=True)
    shuffled = runs.take(np.random.Generator(np.random.PCG64(0)).permutation(rows))
    renamed = replace(shuffled, group=np.unique(shuffled.group, return_inverse=True)[1][::1] * 7 + 3)
    at = np.array([1e11]), np.array([5e12])
    first = posterior(runs, FEW).log_losses(*at)
    for other in (shuffled, renamed):
        np.testing.assert_array_equal(posterior(other, FEW).log_losses(*at), first)


def test_one_budget_is_cut_across_all_sizes():
    N = np.geomspace(1e8, 1e10, 9)
    runs = known_runs(N, 1e20 / N, np.linspace(3.0, 2.9, 9)).in_order()
    half = runs.take(np.arange(5))
    assert (half.N.min(), half.N.max()) == (N[0], N[-1])
    assert np.diff(np.log(half.N)).max() < np.log(N[2] / N[0]) * 1.01


def test_units_do_not_matter():
    """N and D in other units: the same forecast. The loss in other units: the same but for the unit."""
    runs = table(9)
    mean, sd = posterior(runs).log_losses(np.array([1e11]), np.array([5e12]))
    other = known_runs(runs.N / 1e9, runs.D * 7.0, runs.loss / np.log(2))
    moved, again = posterior(other).log_losses(np.array([1e2]), np.array([3.5e13]))
    assert moved[0] + np.log(np.log(2)) == pytest.approx(mean[0], abs=1e-4)
    assert again[0] == pytest.approx(sd[0], rel=1e-2)
