"""The sparse-feature surface as a law: the theory's function, fitted through the peak."""

import math

import numpy as np
import pandas as pd
import pytest

import sparselaw as sl
from sparselaw.inputs import SparseInputs
from sparselaw.laws import SurfaceLaw
from sparselaw.theory.scaling_limit import below_peak, log_scaling_along

U = np.linspace(-6.5, 3.5, 9)


def exact(alpha1, alpha2, u):
    """log(F (1-t)) from the scaling function, which solves for the cut-off at every point."""
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    log_xi = -math.lgamma(alpha1 / (1.0 + alpha1)) + np.log1p(np.exp(-u))
    log_S = np.array([log_scaling_along(inputs, np.array([x]))[0] for x in log_xi])
    return log_S - math.log(inputs.power_law().model_constant) - np.log1p(np.exp(u))


def theory(alpha1=1.0, alpha2=0.3):
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    return SurfaceLaw(
        E=0.0,
        A=inputs.power_law().model_constant,
        B=inputs.power_law().data_constant,
        alpha1=alpha1,
        alpha2=alpha2,
    )


@pytest.mark.parametrize(("alpha1", "alpha2"), [(1.0, 0.3), (0.3, 0.5), (2.0, 0.0), (1.5, -2.0)])
def test_the_curve_is_the_scaling_function(alpha1, alpha2):
    found = below_peak(SparseInputs(alpha1=alpha1, alpha2=alpha2), U)
    np.testing.assert_allclose(found, exact(alpha1, alpha2, U), atol=1e-6)


@pytest.mark.parametrize(("alpha1", "alpha2"), [(1.0, 0.3), (0.5, 0.5), (2.0, 0.0), (0.5, -0.9)])
def test_the_law_is_the_theory_away_from_the_peak(alpha1, alpha2):
    law, D = theory(alpha1, alpha2), 1e12
    below = law.peak(D) * np.array([1e-6, 1e-3, 0.1, 0.5, 0.8])
    t = below / law.peak(D)
    log_limit = exact(alpha1, alpha2, np.log(t / (1 - t))) - np.log1p(-t)
    limit = law.A * below ** -law.exponents[0] * np.exp(log_limit)
    np.testing.assert_allclose(law.loss(below, D), limit, rtol=0.01)
    above = law.peak(D) * np.array([1.2, 2.0, 100.0])
    unseen = law.B * D ** -law.exponents[1]
    np.testing.assert_allclose(law.loss(above, D), unseen / (1.0 - law.peak(D) / above), rtol=1e-3)
    assert law.loss_scale == pytest.approx(1.0)
    assert law.D_scale == pytest.approx(1.0)


def test_shapes_and_the_peak():
    law = theory()
    assert isinstance(law.loss(64, 50_000), float)
    N, D = np.array([16.0, 64.0])[:, None], np.array([1e3, 1e4, 1e5])
    many = SurfaceLaw(
        E=0.0,
        A=np.full((4, 1, 1), law.A),
        B=law.B,
        alpha1=np.linspace(0.5, 1.1, 4)[:, None, None],
        alpha2=0.3,
    )
    assert many.loss(N, D).shape == (4, 2, 3)
    alphas, row = np.linspace(0.5, 1.1, 4), np.array([16.0, 64.0, 300.0])
    of = [SurfaceLaw(E=0.0, A=law.A, B=law.B, alpha1=float(a), alpha2=0.3) for a in alphas]
    column = SurfaceLaw(E=0.0, A=law.A, B=law.B, alpha1=alphas[:, None], alpha2=0.3)
    own = row * np.arange(1.0, 5.0)[:, None]  # points of its own for each law
    np.testing.assert_allclose(column.loss(row, 1e4), [one.loss(row, 1e4) for one in of])
    np.testing.assert_allclose(
        column.loss(own, 1e4), [one.loss(n, 1e4) for one, n in zip(of, own, strict=True)]
    )
    np.testing.assert_allclose(many.loss(N, D)[2], of[2].loss(N, D))
    at_peak = law.loss(law.peak(1e4), 1e4)
    assert 3.0 < at_peak / law.loss(2.0 * law.peak(1e4), 1e4) < 100.0  # high, and not infinite


def test_it_is_fitted_through_the_peak():
    """30 % of noise, heavy-tailed: alpha1 within 0.1, and the runs closer than to a sum of powers."""
    truth, rng = theory(), np.random.default_rng(3)
    N, D = (x.ravel() for x in np.meshgrid(np.geomspace(12, 600, 10).round(), [300, 3e3, 3e4]))
    loss = truth.loss(N, D) * np.exp(0.3 * rng.standard_t(4, N.size))
    runs = pd.DataFrame({"N": N, "D": D, "loss": loss})
    found = sl.fit(runs, law="surface", bootstrap=0)
    assert found.params["alpha1"].best == pytest.approx(1.0, abs=0.1)
    assert found.sparsity["alpha1"].best == found.params["alpha1"].best
    assert found.goodness.mad < 40.0
    assert sl.fit(runs, law="two-power", bootstrap=0).goodness.mad > found.goodness.mad
    assert "surface" not in [line.fitted.name for line in sl.compare_laws(runs, None).laws]


@pytest.mark.slow
def test_simulated_runs_give_their_sparsity_back():
    runs = sl.simulate(
        SparseInputs(alpha1=1.0, alpha2=0.3), N=[16, 32, 64, 96, 128, 192, 256, 384, 512],
        D=[300, 1_000, 3_000, 10_000, 30_000], seeds=6, workers=1,
    )  # fmt: skip
    found = sl.fit(runs, law="surface", bootstrap=100)
    assert found.params["alpha1"].low - 0.05 < 1.0 < found.params["alpha1"].high + 0.05
    assert found.params["alpha2"].low - 0.05 < 0.3 < found.params["alpha2"].high + 0.05
    assert found.params["alpha1"].high - found.params["alpha1"].low < 0.2
