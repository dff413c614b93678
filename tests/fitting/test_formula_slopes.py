"""Laws that know their derivatives: the same as by differences; fits side by side are the fits one by one."""

import numpy as np
import pandas as pd
import pytest

from sparselaw.fitting.clean_runs import clean_runs
from sparselaw.fitting.derivatives import by_differences
from sparselaw.fitting.design import prepare
from sparselaw.fitting.minimise import parse_objective
from sparselaw.laws import CoupledLaw, DataConstrainedLaw, KaplanLaw

LAWS = [CoupledLaw, KaplanLaw, DataConstrainedLaw]


def table(rows=40, seed=0):
    rng = np.random.default_rng(seed)
    N = np.exp(rng.uniform(12, 20, rows))
    D = N * np.exp(rng.uniform(0, 6, rows))
    loss = (1.8 + 480 * N**-0.35 + 2100 * D**-0.37) * np.exp(0.01 * rng.normal(size=rows))
    return pd.DataFrame({"N": N, "D": D, "U": D / np.exp(rng.uniform(0, 4, rows)), "loss": loss})


def designed(law, **settings):
    runs = clean_runs(table(), law).runs
    return prepare(law, runs, **settings)


@pytest.mark.parametrize("settings", [{}, {"tied": True}, {"floor": False}], ids=str)
def test_exact_derivatives_are_those_of_the_formula(settings):
    law = CoupledLaw
    design = designed(law, **settings)
    rng = np.random.default_rng(1)
    starts = [[law.ranges[name].starts[i] for name in design.names] for i in (0, -1)]
    thetas = np.log(starts) + 0.3 * rng.normal(size=(2, design.free))
    exact, near = design.slopes(thetas), by_differences(design.log_losses, thetas)
    assert exact.turn is not None  # not by differences
    np.testing.assert_allclose(exact.log_loss, near.log_loss, rtol=0, atol=1e-13)
    np.testing.assert_allclose(exact.jacobian(), near.jacobian(), rtol=0, atol=1e-7)
    weights = rng.uniform(0, 2, exact.log_loss.shape)
    of = design.log_loss[None, :], design.inverse_scale, weights, np.array([0.05, np.inf])
    for found, expected in zip(exact.derivatives(*of), near.derivatives(*of), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_fits_side_by_side_are_the_fits_one_by_one(law):
    design, objective = designed(law), parse_objective("huber", None)
    weights = np.random.default_rng(2).integers(0, 3, (4, design.rows)).astype(float)
    starts = design.starts(objective, np.ones(design.rows))[:2]
    thetas, values = design.minimise_many(starts, objective, weights=weights)
    for b in range(4):
        ends = [design.minimise(start, objective, weights[b]) for start in starts]
        best = min(ends, key=lambda end: end.value)
        assert values[b] == pytest.approx(best.value, rel=1e-12)
        np.testing.assert_allclose(thetas[b], best.theta, rtol=1e-9)


def test_a_wrong_second_derivative_would_be_seen():
    """The tolerance above is not so wide that an error in one entry passes."""
    design = designed(CoupledLaw)
    theta = np.log([[CoupledLaw.ranges[name].starts[0] for name in design.names]])
    exact, near = design.slopes(theta), by_differences(design.log_losses, theta)
    exact.second[:, :, 5, 5] *= 1.05
    of = design.log_loss[None, :], design.inverse_scale, np.ones((1, design.rows)), np.array([np.inf])
    wrong, right = exact.derivatives(*of)[2], near.derivatives(*of)[2]
    assert np.abs(wrong - right).max() > 1e-4 * np.abs(right).max()
