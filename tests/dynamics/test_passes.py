"""The exponent of the loss depends on the number of passes."""

import math

import numpy as np
import pytest
from scipy import stats

from sparselaw.experiments.dynamics import few_passes_exponent, loss_after_passes
from sparselaw.experiments.dynamics.iterations import exponent
from sparselaw.inputs import SparseInputs

INPUTS = SparseInputs(alpha1=1.0, alpha2=0.3)


def test_the_prediction():
    assert few_passes_exponent(INPUTS) == pytest.approx(2.3 / 3.3)


def test_more_passes_fall_faster():
    """One pass has the shallower exponent (a-1)/a = 0.70, the end of training 1.15.

    The two are compared seed by seed, on the same data; a gap of 4 standard errors is asked for, where no gap
    at all would reach it with probability 6e-5.
    """
    samples = [100, 400, 1600, 6400]
    one, some, end = loss_after_passes(INPUTS, 4000, passes=[1, 16], samples=samples, seeds=24, step=0.3)
    assert (one.passes, some.passes, end.passes) == (1, 16, None)
    assert one.loss.shape == (24, 4)
    assert (one.loss.mean(axis=0) > end.loss.mean(axis=0)).all()
    gap = exponent(samples, one.loss / end.loss)
    error = (gap.high - gap.best) / stats.t.ppf(0.975, 23)
    assert gap.best > 4 * error
    fall = exponent(samples, one.loss)
    assert abs(-fall.best - few_passes_exponent(INPUTS)) < 0.2
    for law in (one, some, end):  # the closed form: 4 standard errors or 5 % at the largest D, 1 in 10,000
        mean, spread = law.loss[:, -1].mean(), law.loss[:, -1].std(ddof=1) / math.sqrt(24)
        assert abs(law.theory[-1] - mean) < 4 * spread + 0.05 * mean
    assert abs(one.theory[-1] - end.loss[:, -1].mean()) > 0.5 * end.loss[:, -1].mean()
    assert one.predicted == pytest.approx(few_passes_exponent(INPUTS), abs=0.05)
    assert np.isfinite([one.exponent.low, end.exponent.high]).all()
