"""From few passes to the end: the crossover function, what repeats are worth, where to stop."""

import math

import pytest

import sparselaw as sl
from oracles.training import best_time
from sparselaw.theory.training.passes import (
    crossover,
    decay_of_worth,
    effective_data,
    few_pass_exponent,
    local_exponent,
    most_epochs,
    passes_to_finish,
    worth_of_passes,
)
from sparselaw.theory.training.schedule import Descent

INPUTS = sl.SparseInputs(alpha1=1.0, alpha2=0.3)


@pytest.mark.parametrize("setting", [(1.0, 0.3), (0.5, 0.5), (2.0, 0.0), (1.5, -0.5)])
@pytest.mark.parametrize("pi", [1e-3, 0.1, 10.0])
def test_large_data_follow_one_function_of_pi(setting, pi):
    inputs = sl.SparseInputs(alpha1=setting[0], alpha2=setting[1])
    D, x = 10**12, (setting[1] + 1.0) / (setting[0] + 1.0)
    steps = round(pi * D ** (1.0 + x) / 0.01)  # tau = eps P D
    loss = sl.predict(inputs, N=math.inf, D=D, solver=sl.GradientDescent(steps=steps, step=0.01)).loss
    scaled = crossover(inputs, pi) * D**-inputs.exponents.alpha_D
    assert loss == pytest.approx(scaled, rel=4e-3)
    assert passes_to_finish(inputs, D, 0.1) == pytest.approx(D**x / 0.1)


def test_exponents_run_from_one_end_to_the_other():
    known = {0.001: 0.701, 0.01: 0.712, 0.1: 0.764, 1.0: 1.023, 10.0: 1.150}
    found = [local_exponent(INPUTS, pi) for pi in known]
    assert found == pytest.approx(list(known.values()), abs=6e-4)
    assert local_exponent(INPUTS, 1e-12) == pytest.approx(few_pass_exponent(INPUTS), abs=1e-5)
    assert local_exponent(INPUTS, 1e9) == pytest.approx(INPUTS.exponents.alpha_D, abs=1e-9)
    step = 1e-4
    for pi in (0.03, 1.0):
        ratio = crossover(INPUTS, pi * (1 + step)) / crossover(INPUTS, pi * (1 - step))
        assert local_exponent(INPUTS, pi) == pytest.approx(
            1.15 + 0.65 * math.log(ratio) / (2 * step), abs=1e-6
        )


def test_what_repeats_are_worth():
    descent = Descent(step=0.1, batch=1, passes=1)
    found = worth_of_passes(INPUTS, math.inf, 1e4, descent, passes=(1.0, 2.0, 16.0, 256.0, 1e7))
    epochs = [one.epochs for one in found]
    assert epochs[:2] == pytest.approx([1.0, 2.0], rel=0.03)
    assert 2.0 < epochs[2] < 16.0
    assert epochs == sorted(epochs)
    # Minibatch noise dies out where the samples are fitted: only the few-pass side has its 1/(1 - kappa).
    kappa = sl.predict(INPUTS, N=math.inf, D=10**4, solver=sl.SGD(passes=1, step=0.1)).kappa
    assert epochs[-1] == pytest.approx(most_epochs(INPUTS, 1e4, 0.1, kappa), rel=0.05)
    assert 100.0 < decay_of_worth(found) < epochs[-1] * 3.0
    same = effective_data(INPUTS, math.inf, found[0].loss, descent, start=10.0)
    assert same == pytest.approx(1e4, rel=1e-3)


def test_the_best_place_to_stop():
    stop = sl.best_stop(INPUTS, N=math.inf, D=10_000, solver=sl.GradientDescent(steps=1, step=0.1), noise=0.1)
    assert 0.1 * stop.steps == pytest.approx(best_time(INPUTS.power_law().spectrum, 1e4, 0.1), rel=0.02)
    assert stop.loss < 0.5 * stop.at_end
    passes = sl.best_stop(INPUTS, N=math.inf, D=3_000, solver=sl.SGD(passes=1, step=0.05), noise=0.1).passes
    assert passes == pytest.approx(best_time(INPUTS.power_law().spectrum, 3e3, 0.1) / (0.05 * 3e3), rel=0.6)


def test_a_loss_that_ends_at_nothing_has_a_best_stop():
    """Dense inputs with more samples than coordinates, infinitely many features and no noise."""
    dense, descent = sl.DenseInputs(alpha=1.5, dimension=50), sl.GradientDescent(steps=1, step=0.3)
    stop = sl.best_stop(dense, N=math.inf, D=1000, solver=descent)
    assert stop.loss == stop.at_end == 0.0


def test_the_best_ridge():
    noisy = sl.best_ridge(INPUTS, N=10**9, D=3_000, noise=0.1)
    assert noisy.ridge == pytest.approx(0.1, rel=0.03)  # noise over the variance of the teacher
    for ridge in (0.05, 0.2):
        assert (
            sl.predict(INPUTS, N=10**9, D=3_000, ridge=ridge, noise=0.1, surface="leading").loss > noisy.loss
        )
    at_the_peak = sl.best_ridge(INPUTS, N=100, D=3_000)
    assert at_the_peak.loss < at_the_peak.without
    assert set(noisy.as_dict()) >= {"ridge", "loss", "without"}
