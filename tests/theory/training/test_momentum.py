"""Momentum in the theory of unfinished training: exact twins, limits, and what it says of itself."""

import math

import numpy as np
import pytest
from tests.oracles import training as plain

import sparselaw as sl
from sparselaw.theory.training.filters import HeavyBall
from sparselaw.theory.training.medium import Medium

SETTINGS = [(1.0, 0.3), (0.5, 0.5), (2.0, 0.0), (1.5, -0.5)]


def sparse(alpha1, alpha2):
    return sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)


class TestHeavyBall:
    @pytest.mark.parametrize("momentum", [0.3, 0.9, 0.99])
    @pytest.mark.parametrize("steps", [1, 2, 7, 60, 900])
    def test_the_polynomial_is_the_iteration(self, momentum, steps):
        step = 0.7
        most = 2.0 * (1.0 + momentum) / step
        curvature = np.concatenate([[0.0, 1e-13], np.geomspace(1e-6, 0.999 * most, 400)])
        ball = HeavyBall(step=step, momentum=momentum, steps=float(steps))
        assert ball.left(curvature) == pytest.approx(
            plain.heavy_ball(curvature, step, momentum, steps), abs=1e-10
        )

    @pytest.mark.parametrize(
        ("momentum", "steps"), [(0.5, 5), (0.9, 60), (0.9, 400), (0.99, 300), (0.99, 4000)]
    )
    @pytest.mark.parametrize("power", [1, 2])
    def test_contours_go_around_every_curvature(self, momentum, steps, power):
        """int f^power/(z + l) dz is f(l)^power, on the circle and on Talbot's contour."""
        ball = HeavyBall(step=0.7, momentum=momentum, steps=float(steps))
        poles = ball.filter(power)
        assert (poles.z.imag > 0.0).all()
        for curvature in (1e-5, 1e-3, 0.02, 0.3, 1.2):
            exact = plain.heavy_ball(np.array([curvature]), 0.7, momentum, steps)[0] ** power
            assert float(poles(curvature)) == pytest.approx(exact, abs=5e-6)

    @pytest.mark.parametrize("steps", [40, 400])
    def test_random_embeddings(self, steps):
        """10 embeddings of N = 80: within 4 standard errors (false alarms 1 in 10,000) or 2 % for 1/N."""
        rng = np.random.Generator(np.random.PCG64(7))
        j = np.arange(1.0, 91.0)
        g, s, N = j**-1.5, j**-2.0, 80
        ball, seen = HeavyBall(0.1, 0.8, steps), Medium(np.ones_like(g), g, s, 0.0, math.inf, N)
        columns = seen.column_lengths(ball.left, math.inf, N)
        found = seen.left(ball.filter()) + columns, seen.noise(ball.filter(), ball.filter(2))
        drawn = [plain.embedded_heavy_ball(g, s, N, 0.1, 0.8, steps, rng) for _ in range(10)]
        for value, draws in zip(found, np.array(drawn).T, strict=True):
            error = draws.std(ddof=1) / math.sqrt(draws.size)
            assert abs(value - draws.mean()) < 4.0 * error + 0.02 * value
        assert (
            seen.left(HeavyBall(0.1, 0.0, steps).filter()) > 1.2 * found[0]
        )  # momentum left out would be seen

    def test_infinitely_many_features_are_the_sum_over_modes(self):
        inputs, D = sparse(1.0, 0.3), 400
        j = np.arange(1.0, 3e4)
        p, c = inputs.probabilities(j), inputs.squared_amplitudes(j)
        rng = np.random.Generator(np.random.PCG64(1))
        draws = []
        for _ in range(100):
            y = rng.binomial(D, p) / D
            draws.append(float((p * c) @ plain.heavy_ball(y * c, 0.5, 0.9, 30) ** 2))
        solver = sl.GradientDescent(steps=30, step=0.5, momentum=0.9)
        found = sl.predict(inputs, N=math.inf, D=D, solver=solver, surface="leading").loss
        assert abs(found - np.mean(draws)) < 4.0 * np.std(draws) / 10.0  # false alarms 1 in 10,000
        assert abs(1.1 * found - np.mean(draws)) > 4.0 * np.std(draws) / 10.0

    def test_trained_to_the_end_is_the_surface(self):
        end = sl.GradientDescent(steps=10**28, step=0.5, momentum=0.9)
        found = sl.predict(sparse(1.0, 0.3), N=40, D=3000, solver=end, surface="leading")
        assert found.loss == pytest.approx(
            sl.predict(sparse(1.0, 0.3), N=40, D=3000, surface="leading").loss, rel=1e-3
        )

    def test_little_momentum_is_none(self):
        for inputs in (sparse(1.0, 0.3), sl.DenseInputs(alpha=0.7, dimension=300)):
            for N in (50, math.inf):
                given = {"N": N, "D": 500, "noise": 0.1}
                none = sl.predict(inputs, solver=sl.GradientDescent(steps=80, step=0.4), **given)
                little = sl.GradientDescent(steps=80, step=0.4, momentum=1e-9)
                assert sl.predict(inputs, solver=little, **given).loss == pytest.approx(none.loss, rel=3e-3)

    @pytest.mark.parametrize("inputs", [sparse(1.0, 0.3), sl.DenseInputs(alpha=0.7, dimension=100)])
    def test_few_steps_are_exact_with_momentum_and_without(self, inputs):
        """One step knows no momentum; two steps of one tenth hardly do."""
        for steps, momentum in ((1, 0.9), (2, 1e-6), (11, 1e-6)):
            given = {"N": 50, "D": 300, "noise": 0.1}
            none = sl.predict(inputs, solver=sl.GradientDescent(steps=steps, step=0.3), **given)
            some = sl.GradientDescent(steps=steps, step=0.3, momentum=momentum)
            assert sl.predict(inputs, solver=some, **given).loss == pytest.approx(none.loss, rel=1e-4)
        drawn = sl.simulate(
            inputs, N=50, D=300, seeds=60, solver=sl.GradientDescent(steps=2, step=0.3), workers=1
        )
        found = sl.predict(inputs, N=50, D=300, solver=sl.GradientDescent(steps=2, step=0.3)).loss
        assert abs(found - drawn["loss"].mean()) < 4.0 * drawn["loss"].sem() + 0.005 * found  # 1 in 10,000

    def test_where_it_says_nothing_or_warns(self):
        inputs = sparse(1.0, 0.3)
        swings = sl.GradientDescent(steps=3000, step=0.5, momentum=0.999)
        many = sl.predict(inputs, N=64, D=1000, solver=swings)
        assert math.isnan(many.loss)
        assert "still swings" in many.loss_reason
        assert sl.predict(inputs, N=math.inf, D=1000, solver=swings).loss > 0.0
        few = sl.predict(inputs, N=64, D=1000, solver=sl.GradientDescent(steps=20, step=0.5, momentum=0.9))
        assert "swing" in few.caution
        unstable = sl.predict(
            inputs, N=64, D=1000, solver=sl.GradientDescent(steps=9, step=5.0, momentum=0.9)
        )
        assert math.isinf(unstable.loss)
        stable = sl.predict(inputs, N=64, D=1000, solver=sl.GradientDescent(steps=99, step=3.0, momentum=0.9))
        assert math.isfinite(stable.loss)  # above the limit of descent without momentum


class TestMinibatches:
    @pytest.mark.parametrize("setting", SETTINGS)
    @pytest.mark.parametrize(
        ("step", "momentum", "batch", "noise"),
        [(0.05, 0.9, 1, 0.0), (0.25, 0.5, 1, 0.0), (0.1, 0.9, 1, 0.1), (0.3, 0.9, 20, 0.02)],
    )
    def test_one_pass_is_the_exact_recursion(self, setting, step, momentum, batch, noise):
        inputs, D = sparse(*setting), 2000 * batch
        j = np.arange(1.0, 2e3)
        s = inputs.variances(j)
        fourth = s * inputs.squared_amplitudes(j)
        exact = plain.one_pass_with_momentum(s, fourth, step, momentum, batch, 2000, noise)
        solver = sl.SGD(passes=1, step=step, batch=batch, momentum=momentum)
        full = sl.predict(inputs, N=math.inf, D=D, solver=solver, noise=noise)
        assert full.loss == pytest.approx(exact, rel=0.01)
        quick = sl.predict(inputs, N=math.inf, D=D, solver=solver, noise=noise, form="quasi-static")
        assert quick.loss == pytest.approx(exact, rel=0.01)
        without = plain.one_pass(s, fourth, step, batch, 2000, noise)
        assert abs(full.loss / without - 1.0) > 0.05

    def test_the_twin_without_momentum_is_the_older_one(self):
        inputs = sparse(1.0, 0.3)
        j = np.arange(1.0, 500.0)
        s = inputs.variances(j)
        fourth = s * inputs.squared_amplitudes(j)
        assert plain.one_pass_with_momentum(s, fourth, 0.5, 0.0, 2, 300, 0.1) == pytest.approx(
            plain.one_pass(s, fourth, 0.5, 2, 300, 0.1), rel=1e-10
        )

    def test_many_passes_against_runs(self):
        """80 runs: within 4 standard errors (1 in 10,000) or 3 %; without momentum far off."""
        inputs, solver = sparse(0.5, 0.5), sl.SGD(passes=8, step=0.2, batch=8, momentum=0.9)
        runs = sl.simulate(inputs, N=40, D=400, seeds=80, solver=solver, workers=1, noise=0.02)["loss"]
        found = sl.predict(inputs, N=40, D=400, solver=solver, noise=0.02).loss
        allowed = 4.0 * float(runs.sem()) + 0.03 * found
        assert abs(found - runs.mean()) < allowed
        none = sl.predict(inputs, N=40, D=400, solver=sl.SGD(passes=8, step=0.2, batch=8), noise=0.02).loss
        assert abs(none - runs.mean()) > allowed

    def test_steps_that_fall_against_runs(self):
        """80 runs: within 4 standard errors (1 in 10,000) or 3 %; without momentum far off."""
        asked = {"N": 40, "D": 400, "noise": 0.02}
        some, none = (
            sl.SGD(passes=8, step=0.2, batch=8, momentum=beta, schedule="wsd:0.8") for beta in (0.5, 0.0)
        )
        runs = sl.simulate(sparse(0.5, 0.5), solver=some, seeds=80, workers=1, **asked)["loss"]
        allowed = 4.0 * float(runs.sem()) + 0.03 * runs.mean()
        assert abs(sl.predict(sparse(0.5, 0.5), solver=some, **asked).loss - runs.mean()) < allowed
        assert abs(sl.predict(sparse(0.5, 0.5), solver=none, **asked).loss - runs.mean()) > allowed

    def test_a_long_memory_in_short_passes_is_said(self):
        solver = sl.SGD(passes=8, step=0.1, batch=32, momentum=0.95)
        assert "a pass has only" in sl.predict(sparse(1.0, 0.3), N=64, D=1000, solver=solver).caution

    def test_fewer_steps_than_it_remembers_have_no_number(self):
        few = sl.predict(sparse(1.0, 0.3), N=64, D=200, solver=sl.SGD(passes=1, step=0.01, momentum=0.99))
        assert math.isnan(few.loss)
        assert "remembers 100 steps" in few.loss_reason
        assert few.as_dict()["loss_reason"].startswith("not known: ")

    def test_steps_that_noise_makes_unstable(self):
        for momentum in (0.9, 0.999):
            solver = sl.SGD(passes=200, step=2.5 * (1.0 - momentum), momentum=momentum)
            found = sl.predict(sparse(1.5, -0.5), N=100, D=5000, solver=solver)
            assert math.isinf(found.loss)
            assert "unstable in mean square" in found.loss_reason


def test_what_rounding_made_negative_does_not_grow():
    """One feature of dense inputs after very long training: kernels are zero but for rounding."""
    solver = sl.SGD(passes=746, step=0.0642, batch=34)
    found = sl.predict(sl.DenseInputs(alpha=1.539, dimension=1000), N=1, D=535_088_220, solver=solver)
    assert 0.0 <= found.parts["minibatch"] < 0.01 * found.loss


def test_samples_that_come_back_while_their_batch_acts_are_in_the_error():
    """Ten steps of memory in a pass of 50: a fifth; simulated, the theory is 12 to 24 % high there."""
    few, many = (
        sl.predict(sparse(1.0, 0.3), N=40, D=D, solver=sl.SGD(passes=4, step=0.02, momentum=0.9))
        for D in (50, 5_000)
    )
    assert few.loss_error >= 0.2
    assert "acts over 10 steps" in few.caution
    assert many.loss_error < 0.05
