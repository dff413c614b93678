"""Simulation against the limits of the theory at (1, 0.3), where D or N is as good as infinite."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sparselaw.inputs import SparseInputs
from sparselaw.sweeps.cells import summarise
from sparselaw.sweeps.simulate import simulate

MODEL = SparseInputs(alpha1=1.0, alpha2=0.3)
SPECTRUM = MODEL.power_law().spectrum
CONSTANT_N = ((math.pi / SPECTRUM) / math.sin(math.pi / SPECTRUM)) ** SPECTRUM  # loss -> C_N N^-2.3
CONSTANT_D = math.gamma(1.15) / 2.0  # loss -> C_D D^-1.15


def test_n_sweep_approaches_its_power_law():
    """1 % at N = 64 up to the standard error of 40 seeds (0.7 %), the exponent from 16 on within 4 errors."""
    cells = summarise(simulate(MODEL, N=[16, 32, 64], D=50_000, seeds=40))
    last = cells[-1]
    limit = CONSTANT_N * 64**-2.3
    assert last.stderr < 0.01 * limit
    assert abs(last.mean - limit) < 0.01 * limit + 2 * last.stderr
    slope, error = fitted_slope("N", cells)
    assert abs(slope + 2.3) < 4 * error + 0.02
    assert abs(slope + 2.0) > 4 * error + 0.02  # planted: the exponent that the paper reads off its figure


def test_d_sweep_follows_its_power_law():
    """With the control variate 20 seeds give each point to 1 %: within 1.5 % plus 4 errors of the limit."""
    cells = summarise(simulate(MODEL, N=16_000, D=[160, 320, 640, 1280], seeds=20))
    for cell in cells:
        assert cell.method == "control"
        limit = CONSTANT_D * cell.D**-1.15
        assert abs(cell.mean - limit) < 0.015 * limit + 4 * cell.stderr
    slope, error = fitted_slope("D", cells)
    assert error < 0.01
    assert abs(slope + 1.15) < 4 * error + 0.01
    assert abs(slope + 1.11) > 4 * error + 0.01  # planted


@pytest.mark.agreement
def test_infinite_and_finite_dimension_agree_where_the_tail_does_not_matter():
    finite = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=10_000)
    for N, D in [(16, 5000), (2000, 300)]:
        one, other = (summarise(simulate(model, N=N, D=D, seeds=100))[0] for model in (MODEL, finite))
        assert abs(one.mean - other.mean) < 4 * math.hypot(one.stderr, other.stderr)


def fitted_slope(name, cells):
    """Weighted least squares of log mean on log size, and its standard error."""
    x = np.log([getattr(cell, name) for cell in cells])
    y = np.log([cell.mean for cell in cells])
    weight = np.array([cell.mean / cell.stderr for cell in cells]) ** 2
    centred = x - np.average(x, weights=weight)
    spread = np.sum(weight * centred**2)
    return float(np.sum(weight * centred * y) / spread), float(1.0 / math.sqrt(spread))
