"""Losses simulated in plain numpy where the surface once was far off: tables, small ridges, edges.

Small ridges at the peak: 2,500 data sets each, with the relative standard error of their mean. Below the
peak, the last three rows: means known to about one per cent. A value must lie within four standard errors
and its own ``loss_error``: false alarm 6e-5 each.
"""

import math

import numpy as np
import pytest

import sparselaw as sl
from oracles.plain_losses import power, simulated

POWER = [  # alpha1, alpha2, dimension, D, N, ridge, mean, standard error
    (0.47, -0.93, 5000, 330, 120, 1e-2, 0.9663, 0.0012),
    (0.47, -0.93, 5000, 330, 120, 1e-3, 2.3448, 0.0036),
    (0.47, -0.93, 5000, 330, 120, 1e-4, 4.954, 0.0097),
    (0.47, -0.93, 5000, 330, 120, 1e-5, 9.186, 0.0213),
    (0.47, -0.93, 5000, 330, 120, 1e-6, 16.75, 0.0467),
    (1.37, -0.41, 300, 2600, 41, 1e-2, 0.0025667, 0.0033),
    (1.37, -0.41, 300, 2600, 41, 1e-3, 0.0053553, 0.0045),
    (1.37, -0.41, 300, 2600, 41, 1e-4, 0.0118355, 0.0093),
    (1.37, -0.41, 300, 2600, 41, 1e-5, 0.02357, 0.0216),
    (1.37, -0.41, 300, 2600, 41, 1e-6, 0.05236, 0.054),
    (1.37, -0.41, 300, 2600, 29, 0.0, 0.005144, 0.01),
    (1.8, 0.9, math.inf, 9000, 25, 0.0, 2.100e-5, 0.01),
    (0.95, 2.1, math.inf, 900, 41, 0.0, 5.173e-6, 0.01),
]
FEW = [  # the same with label noise, by benchmarks/surface_cells.py, 3,000 to 6,000 data sets
    (1.502, 1.123, 300, 187, 45, 0.0, 0.0133, 0.00158993, 0.0282),
    (2.099, -0.932, 19, 40, 5, 0.00024, 0.0, 0.409884, 0.0298),
    (1.186, 1.254, 12, 28, 31, 0.0, 0.219, 0.0537616, 0.0051),
    (0.67, -1.366, 3000, 26, 14, 0.000838, 0.0, 24.6761, 0.0166),
]


@pytest.mark.parametrize(("alpha1", "alpha2", "dimension", "D", "N", "ridge", "mean", "error"), POWER)
def test_at_and_below_the_peak(alpha1, alpha2, dimension, D, N, ridge, mean, error):
    inputs = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=dimension)
    point = sl.predict(inputs, N=N, D=D, ridge=ridge)
    assert abs(point.loss / mean - 1.0) < 4.0 * error + point.loss_error
    assert point.loss_error < 0.3


@pytest.mark.parametrize(("alpha1", "alpha2", "dimension", "D", "N", "ridge", "noise", "mean", "error"), FEW)
def test_ranks_of_a_few(alpha1, alpha2, dimension, D, N, ridge, noise, mean, error):
    """z = 2 beside 6 %: once 29 % low, 8.7 times as high, 6 % low and 8 % low; kept numbers."""
    inputs = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=dimension)
    point = sl.predict(inputs, N=N, D=D, ridge=ridge, noise=noise)
    assert abs(point.loss / mean - 1.0) < 2.0 * error + min(point.loss_error, 0.06)


@pytest.mark.parametrize(
    ("D", "mean", "error"),
    [
        (40, 0.2117, 0.0013),
        (80, 0.3075, 0.0013),
        (100, 0.4188, 0.0012),
        (105, 0.4621, 0.0016),
        (130, 0.9904, 0.0016),
    ],
)
def test_label_noise_where_every_sample_is_taken_up(D, mean, error):
    """z = 3 beside 1 %: false alarm 3e-3 in all; once 22 % high and 20 % low, a step between 90 and 91.

    ``sparselaw simulate --noise 0.1`` with 600 to 2,000 data sets.
    """
    inputs = sl.SparseInputs(alpha1=-0.3, alpha2=0.5, dimension=300)
    assert abs(sl.predict(inputs, N=150, D=D, noise=0.1).loss / mean - 1.0) < 3.0 * error + 0.01


FLAT = np.full(200, 0.2), np.ones(200), 100
ZIPF = 0.3 / np.arange(1.0, 301.0), np.ones(300), 250
COMMON = np.concatenate([np.full(40, 0.55), np.full(400, 0.005)]), np.ones(440), 100
RARE = np.full(400, 0.01), np.ones(400), 200


@pytest.mark.parametrize(
    ("table", "N"),
    [
        (FLAT, 60),
        (FLAT, 120),
        (FLAT, 1000),
        (ZIPF, 60),
        (ZIPF, 200),
        (COMMON, 30),
        (COMMON, 90),
        (RARE, 80),
        (RARE, 300),
    ],
)
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_tables_with_more_coordinates_than_samples(table, N, ridge):
    """z = 4, 24 data sets each; the surface of coordinates that share no sample is 3 to 1e9 times off."""
    p, c, D = table
    mean, error = simulated(p, c, D, N, 24, ridge=ridge, seed=3)
    point = sl.predict(sl.TabulatedInputs(p, c), N=N, D=D, ridge=ridge)
    assert abs(point.loss - mean) < 4.0 * error + point.loss_error * mean
    assert point.loss_error < 0.05
    assert point.rank <= min(p.size, D)


@pytest.mark.parametrize(("alpha1", "N"), [(-1.0, 30), (-0.001, 25), (0.0, 25), (0.0, 150), (0.001, 25)])
def test_nothing_happens_where_alpha1_changes_sign(alpha1, N):
    """z = 4; with the Gaussian surface alpha1 = 0 is 6 % off."""
    p, c = power(alpha1, 0.5 if alpha1 > -0.5 else 1.8, 400)
    mean, error = simulated(p, c, 80, N, 120, seed=5)
    inputs = sl.SparseInputs(alpha1=alpha1, alpha2=0.5 if alpha1 > -0.5 else 1.8, dimension=400)
    point = sl.predict(inputs, N=N, D=80)
    assert abs(point.loss - mean) < 4.0 * error + point.loss_error * mean


@pytest.mark.parametrize(
    ("setting", "N", "D", "ridge", "noise"),
    [
        ((0.1, -0.5, 50), 64, 1000, 1.0, 0.0),
        ((0.5, -1.499, 2), 10, 5, 0.1, 1.0),
        ((0.5, -1.2, 3), 10, 6, 0.1, 1.0),
        ((0.1, 20.0, 50), 64, 5, 0.001, 0.0),
        ((0.5, -0.5, 40), 20, 100, 0.1, 1.0),
    ],
)
def test_ridges_at_few_coordinates(setting, N, D, ridge, noise):
    """z = 4, 150 data sets; once 5 to 14 % off where 1 to 2 % was said. Two coordinates: 24 % is said."""
    mean, error = simulated(*power(*setting), D, N, 150, ridge=ridge, noise=noise, seed=5)
    inputs = sl.SparseInputs(**dict(zip(("alpha1", "alpha2", "dimension"), setting, strict=True)))
    point = sl.predict(inputs, N=N, D=D, ridge=ridge, noise=noise)
    assert abs(point.loss - mean) < 4.0 * error + point.loss_error * mean
    assert point.loss_error < 0.3


@pytest.mark.parametrize(
    ("setting", "N", "D"),
    [((0.3, 0.5, 300), 80, 60), ((0.3, 0.5, 300), 150, 60)],
)
def test_label_noise_above_the_rank_of_coordinates_that_share_samples(setting, N, D):
    """z = 4, 100 data sets; read off where kappa was not yet small, it was 1.4 to 3 times too large."""
    mean, error = simulated(*power(*setting), D, N, 100, noise=0.3, seed=5)
    inputs = sl.SparseInputs(**dict(zip(("alpha1", "alpha2", "dimension"), setting, strict=True)))
    point = sl.predict(inputs, N=N, D=D, noise=0.3)
    assert abs(point.loss - mean) < 4.0 * error + point.loss_error * mean
    assert point.loss_error < 0.1


@pytest.mark.parametrize("N", [9, 11, 12])
def test_no_peak_where_every_coordinate_is_seen(N):
    """z = 4, 250 data sets: features fewer than coordinates leave out a projection, which has no pole.

    The pole of the unseen variance once was on all of the loss: 6 and 15 % too much, and an infinite mean.
    """
    mean, error = simulated(*power(0.11, -0.46, 14), 1000, N, 250, seed=1)
    point = sl.predict(sl.SparseInputs(alpha1=0.11, alpha2=-0.46, dimension=14), N=N, D=1000)
    assert abs(point.loss - mean) < 4.0 * error + point.loss_error * mean
    assert point.loss_error < 0.03


@pytest.mark.parametrize("N", [1, 2, 5])
def test_label_noise_of_one_coordinate_that_is_always_seen(N):
    """noise/D exactly, whatever N is, where nothing is left unresolved; a few coordinates are good to 1/D."""
    point = sl.predict(sl.SparseInputs(alpha1=0.16, alpha2=-0.15, dimension=1), N=N, D=20, noise=0.4)
    assert abs(point.loss - 0.02) < point.loss_error * 0.02 + 1e-12


def test_samples_hardly_more_than_frequent_coordinates():
    """z = 4, 60 data sets: without loops of samples and coordinates 13 % low where 0.5 % was said."""
    p, c = np.full(60, 0.3), np.ones(60)
    mean, error = simulated(p, c, 75, 240, 60, ridge=0.1, seed=4)
    point = sl.predict(sl.TabulatedInputs(p, c), N=240, D=75, ridge=0.1)
    assert abs(point.loss - mean) < 4.0 * error + point.loss_error * mean
    assert point.loss_error > 0.02


def test_one_coordinate_more_than_half_of_the_time_is_no_error():
    table = sl.TabulatedInputs(COMMON[0], COMMON[1])
    assert math.isfinite(sl.predict(table, N=90, D=100).loss)


def test_a_best_ridge_keeps_its_promise():
    inputs = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    found = sl.best_ridge(inputs, N=40, D=1_000, noise=0.1)
    assert sl.predict(inputs, N=40, D=1_000, noise=0.1, ridge=found.ridge).loss == pytest.approx(
        found.loss, rel=1e-9
    )
