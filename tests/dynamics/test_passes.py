"""The exponent of the loss depends on the number of passes."""

import math

import numpy as np
import pytest
from scipy import stats

from sparselaw.experiments.dynamics import sgd_loss
from sparselaw.experiments.dynamics.iterations import exponent
from sparselaw.inputs import SparseInputs
from sparselaw.predicting import predict
from sparselaw.solvers import SGD
from sparselaw.theory.training.passes import few_pass_exponent

INPUTS = SparseInputs(alpha1=1.0, alpha2=0.3)


def test_the_prediction():
    assert few_pass_exponent(INPUTS) == pytest.approx(2.3 / 3.3)


def test_more_passes_fall_faster():
    """One pass has the shallower exponent (a-1)/a = 0.70, the end of training 1.15.

    The two are compared seed by seed, on the same data; a gap of 4 standard errors is asked for, where no gap
    at all would reach it with probability 6e-5.
    """
    samples = [100, 400, 1600]
    one, many = (SGD(passes=passes, step=0.3) for passes in (1, 512))
    losses = [
        np.array([[sgd_loss(INPUTS, math.inf, D, solver, seed=seed) for D in samples] for seed in range(16)])
        for solver in (one, many)
    ]
    gap = exponent(samples, losses[0] / losses[1])
    error = (gap.high - gap.best) / stats.t.ppf(0.975, 15)
    assert gap.best > 4 * error
    assert abs(-exponent(samples, losses[0]).best - few_pass_exponent(INPUTS)) < 0.2
    for solver, found in zip((one, many), losses, strict=True):  # 4 standard errors or 5 %, 1 in 10,000
        mean, scatter = found[:, -1].mean(), found[:, -1].std(ddof=1) / 4.0
        assert abs(predict(INPUTS, N=math.inf, D=1600, solver=solver).loss - mean) < 4 * scatter + 0.05 * mean
    assert losses[0][:, -1].mean() > 1.5 * losses[1][:, -1].mean()
