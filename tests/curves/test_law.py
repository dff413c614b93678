"""The law on a few knots is the law summed over every step; the error of a prediction is that of matrices."""

import numpy as np
import pytest

from oracles.made_curves import by_steps, error_covariance, law_curves
from sparselaw.curves.estimate import covariance, estimate, scaled, slopes_at
from sparselaw.curves.law import FeatureForm, Units, track
from sparselaw.curves.logs import make_logs
from sparselaw.curves.model import fit_model, make_points
from sparselaw.curves.schedules import logged_schedule, written_schedule

VALUES = {"E": 2.0, "A": 1.5, "a": 0.5, "B": 0.4, "c": 0.8, "p": 0.7, "m": 0.1, "r": 0.6}
ONE = Units(loss=1.0, rate=1.0, tau=1.0, last=1.0)
SHAPES = ["constant:3000", "cosine:3000", "cosine:3000,end=0", "wsd:2000,3000,end=0", "wsd-exp:2000,3000",
          "step:1500,3000", "linear:3000"]  # fmt: skip


def theta(values):
    logs = [np.log(values[name]) for name in ("A", "a", "B", "c")]
    return np.array([values["E"], *logs, values["p"], values["m"], np.log(values["r"])])


@pytest.mark.parametrize("text", SHAPES)
def test_a_few_knots_are_enough(text):
    schedule = written_schedule(text, peak=1.0, warmup=200)
    rates = schedule.rate(np.arange(3000) + 0.5)
    exact = by_steps(VALUES, rates, 3000)
    at = np.array([400, 1000, 1490, 1510, 1600, 2001, 2100, 2500, 2900, 2999])
    loss, _ = FeatureForm(free=True).parts(theta(VALUES), track(schedule, at, 0), ONE)
    np.testing.assert_allclose(loss, exact[at - 1], rtol=5e-4)
    wrong = FeatureForm(free=True).parts(theta(VALUES | {"p": 0.8}), track(schedule, at, 0), ONE)[0]
    if text != "constant:3000":
        assert np.abs(wrong / exact[at - 1] - 1.0).max() > 2e-3  # the comparison would see it


@pytest.mark.parametrize("text", SHAPES)
def test_a_log_gives_the_schedule_back(text):
    schedule = written_schedule(text, peak=3e-4, warmup=200)
    step = np.arange(0.0, 3001.0, 20.0)
    logged = logged_schedule(step, schedule.rate(step), 200.0)
    assert logged.steps.size < 90
    # a jump is logged up to 20 steps late: the area differs by at most that times the jump
    np.testing.assert_allclose(logged.tau(step), schedule.tau(step), atol=3e-3 * schedule.taus[-1])
    smooth = np.abs(logged.rate(step) - schedule.rate(step)) > 3e-3 * 3e-4
    assert np.count_nonzero(smooth) <= 1


def test_tau_is_the_sum_of_the_rates():
    schedule = written_schedule("cosine:1000,end=0", peak=2.0, warmup=100)
    middle = schedule.rate(np.arange(1000) + 0.5)
    np.testing.assert_allclose(schedule.tau(np.arange(1, 1001)), np.cumsum(middle), rtol=1e-3)


def model_of(seed, shapes):
    made = law_curves(seed, shapes)
    return fit_model(make_logs([m[:3] for m in made], warmup=1000)[0])


@pytest.mark.parametrize("own", [False, True])
def test_the_error_of_a_prediction_is_that_of_explicit_matrices(own):
    model = model_of(3, ["constant:12000", "cosine:12000", "step:6000,12000"])
    fitted = model.estimate
    new = [
        track(written_schedule("wsd:9000,14000", peak=3e-4, warmup=1000), [10_000, 14_000], 0 if own else -1)
    ]
    _, where = fitted.at(new)
    slopes = slopes_at(fitted.form, fitted.theta, new, fitted.units)
    n = len(fitted.residual)
    joint = np.zeros((n + 2, n + 2))
    joint[:n, :n] = fitted.residual_covariance
    joint[n:, :n] = scaled(covariance(where, fitted.where, False), fitted.scales)
    joint[:n, n:] = joint[n:, :n].T
    joint[n:, n:] = scaled(covariance(where, where, False), fitted.scales)
    _, spread = fitted.predict(new, [own])
    np.testing.assert_allclose(spread, error_covariance(fitted, slopes, joint), rtol=1e-6, atol=1e-14)


def test_the_law_is_found_again_without_noise():
    truth = theta(VALUES | {"E": 0.8, "A": 0.15, "B": 0.06, "c": 0.03, "m": 0.11})
    form, units = FeatureForm(), Units(loss=1.0, rate=1.0, tau=1_500.0, last=4_000.0)
    tracks = [
        track(written_schedule(text, peak=1.0, warmup=100), np.linspace(400, 3000, 60), i)
        for i, text in enumerate(["constant:3000", "cosine:3000,end=0", "step:1500,3000"])
    ]
    loss = np.concatenate([form.parts(truth[:5], t, units)[0] for t in tracks])
    found = estimate(form, tracks, np.log(loss), np.full(loss.size, 3e-4), units)
    np.testing.assert_allclose(found.at(tracks)[0], loss, rtol=2e-4)
    assert abs(found.theta[0] - 0.8) < 0.02


def test_the_start_of_training_is_left_out():
    step = np.arange(10.0, 1001.0, 10.0)
    loss = 3 + (step / 100) ** -0.5
    logs = make_logs((step, np.ones(100), loss), warmup=0)[0]
    (points,) = make_points(logs).tracks
    assert points.tau[0] >= 0.06 * 1000
    assert points.tau[0] < 0.08 * 1000
    warm = make_logs((step, np.ones(100), loss), warmup=200)[0]
    assert make_points(warm).tracks[0].tau[0] >= 2 * 100


def test_noisy_logs_are_averaged_and_no_mean_crosses_a_jump():
    generator = np.random.Generator(np.random.PCG64(0))
    schedule = written_schedule("step:2000,4000", peak=1.0, warmup=0)
    step = np.arange(1.0, 4001.0)
    loss = np.where(step < 2000, 3.0, 2.0) * np.exp(0.03 * generator.standard_normal(4000))
    logs = make_logs((step, schedule.rate(step), loss), warmup=0)[0]
    made = make_points(logs)
    assert made.log_loss.size <= 62
    # 3 % over the root of the points in each mean; 5 z over 60 means: chance of a false alarm 1e-5
    expected = np.where(made.tracks[0].step < 2000, np.log(3.0), np.log(2.0))
    assert np.all(np.abs(made.log_loss - expected) < 5.0 * made.white)
    assert np.median(made.white) < 0.006
