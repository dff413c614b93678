"""Unfinished training: its limits, its twins, and dense inputs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.oracles import training as plain

import sparselaw as sl
from sparselaw.theory.training.filters import flow_filter, inverse, places
from sparselaw.theory.training.medium import Medium
from sparselaw.theory.training.minibatches import MeanDescent, quasi_static, with_memory
from sparselaw.theory.training.modes import Modes, Spectrum, counted_modes, largest_sgd_step
from sparselaw.theory.training.schedule import Descent, Run

SETTINGS = [(1.0, 0.3), (0.5, 0.5), (2.0, 0.0), (1.5, -0.5)]


def sparse(alpha1, alpha2):
    return sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)


def own_modes(g, s, curvature=None):
    curvature = g if curvature is None else curvature
    return Modes(g, np.ones_like(g), s, curvature, s, curvature)


def medium(g, s, N, samples=math.inf):
    return Medium(np.ones_like(g), g, s, 0.0, samples, N)


def descending(g, s, run, N, samples=math.inf):
    return MeanDescent(own_modes(g, s), run, samples, N)


def a_run(time, D=1e6, passes=2.0, batch=1.0, step=1e-6):
    return Run(step=step, batch=batch, steps=time / step, updates=time / step, D=D, passes=passes)


class TestLimits:
    @pytest.mark.parametrize("setting", SETTINGS)
    @pytest.mark.parametrize(("N", "D"), [(40, 3000), (2000, 3000), (10**6, 10**10)])
    def test_trained_to_the_end_is_the_leading_surface(self, setting, N, D):
        inputs = sparse(*setting)
        to_the_end = sl.GradientDescent(steps=10**28, step=0.5)
        end = sl.predict(inputs, N=N, D=D, solver=to_the_end, surface="leading")
        surface = sl.predict(inputs, N=N, D=D, surface="leading")
        assert end.loss == pytest.approx(surface.loss, rel=1e-3)
        half = sl.predict(inputs, N=N, D=D, solver=sl.GradientDescent(steps=300, step=0.5))
        assert half.loss > 1.1 * surface.loss  # or the test would test nothing

    def test_no_time_is_too_long(self):
        """Every power of ten up to where double precision has long lost the differences."""
        for inputs in (sparse(1.0, 0.3), sl.DenseInputs(alpha=0.7, dimension=300)):
            end = sl.predict(inputs, N=30, D=2000, surface="leading").loss
            for power in range(9, 30):
                for momentum in (0.0, 0.9):
                    solver = sl.GradientDescent(steps=10**power, step=0.5, momentum=momentum)
                    found = sl.predict(inputs, N=30, D=2000, solver=solver, surface="leading").loss
                    assert found == pytest.approx(end, rel=1e-3)

    def test_few_features_trained_to_the_end_are_the_sharp_surface(self):
        for setting in SETTINGS:
            end = sl.predict(
                sparse(*setting), N=10, D=10**7, solver=sl.GradientDescent(steps=10**28, step=0.5)
            )
            assert end.loss == pytest.approx(sl.predict(sparse(*setting), N=10, D=10**7).loss, rel=0.015)

    @pytest.mark.parametrize("setting", SETTINGS)
    @pytest.mark.parametrize(("step", "batch", "noise"), [(0.5, 1, 0.0), (1.0, 1, 0.1), (0.3, 20, 0.02)])
    def test_one_pass_of_infinitely_many_features_is_the_exact_recursion(self, setting, step, batch, noise):
        inputs = sl.SparseInputs(alpha1=setting[0], alpha2=setting[1], dimension=3000)
        j = np.arange(1.0, 3001)
        s = inputs.variances(j)
        fourth = s * inputs.squared_amplitudes(j)
        exact = plain.one_pass(s, fourth, step, batch, 2000 // batch, noise)
        solver = sl.SGD(passes=1, step=step, batch=batch)
        full = sl.predict(inputs, N=math.inf, D=2000, solver=solver, noise=noise)
        assert full.loss == pytest.approx(exact, rel=0.01)
        assert sum(full.parts.values()) == pytest.approx(full.loss)
        quick = sl.predict(inputs, N=math.inf, D=2000, solver=solver, noise=noise, form="quasi-static")
        assert quick.loss == pytest.approx(exact, rel=0.02)
        wrong = plain.one_pass(s, fourth, 0.5 * step, batch, 2000 // batch, noise)
        assert abs(full.loss / wrong - 1.0) > 0.015

    @pytest.mark.parametrize(("batch", "last"), [(64, 16), (100, 7), (20, 19)])
    @pytest.mark.parametrize("noise", [0.0, 0.05])
    def test_a_short_last_batch_is_noise_that_is_not_forgotten(self, batch, last, noise):
        inputs, step, D = sparse(1.0, 0.3), 0.6, 150 * batch + last
        j = np.arange(1.0, 3e3)
        s = inputs.variances(j)
        fourth = s * inputs.squared_amplitudes(j)
        exact = plain.one_pass(s, fourth, step, batch, 150, noise, last)
        solver = sl.SGD(passes=1, step=step, batch=batch)
        for form in ("full", "quasi-static"):
            found = sl.predict(inputs, N=math.inf, D=D, solver=solver, noise=noise, form=form)
            assert found.loss == pytest.approx(exact, rel=0.01)
        if last < 0.5 * batch:  # without it the theory would be too low
            assert exact > 1.01 * plain.one_pass(s, fourth, step, batch, 151, noise)

    @pytest.mark.parametrize("setting", SETTINGS)
    @pytest.mark.parametrize(("steps", "batch", "noise"), [(20, 10, 0.1), (5, 50, 0.0), (5, 50, 0.1)])
    def test_few_fresh_batches_have_all_of_their_noise(self, setting, steps, batch, noise):
        """A batch that comes once is no draw without replacement: with that share it is 0.1-0.7 % low."""
        inputs, j = sparse(*setting), np.arange(1.0, 2e4)
        s = inputs.variances(j)
        fourth = s * inputs.squared_amplitudes(j)
        exact = plain.one_pass(s, fourth, 0.5, batch, steps, noise)
        solver = sl.SGD(passes=1, step=0.5, batch=batch)
        found = sl.predict(inputs, N=math.inf, D=steps * batch, solver=solver, noise=noise).loss
        assert found == pytest.approx(exact, rel=0.0018)

    @pytest.mark.parametrize("N", [30.0, math.inf])
    def test_short_times_follow_the_expansion(self, N):
        run = Descent(step=0.3, passes=2).among(1000.0)
        modes = counted_modes(Spectrum.of(sparse(1.0, 0.3).gram(1000.0).atoms()[0], 1000.0), run)
        modes = replace(modes, g=modes.g, unseen=0.0)
        seen = Medium(modes.weight, modes.g, modes.variance, 0.0, math.inf, N)
        gaps = []
        for tau in (1e-2, 2e-2):
            exact = seen.left(flow_filter(tau))
            gaps.append(abs(exact - plain.early_loss(modes, tau, N)))
            assert gaps[-1] < 20.0 * tau**3
        assert 6.0 < gaps[1] / gaps[0] < 10.0  # what is left out is of third order

    def test_one_step_of_gradient_descent_with_infinitely_many_features(self):
        inputs, D, step = sparse(1.0, 0.3), 500, 0.4
        j = np.arange(1.0, 2e4)
        p, c = inputs.probabilities(j), inputs.squared_amplitudes(j)
        mean, square = p, (p * (1.0 - p) + D * p**2) / D  # of y = n/D
        exact = float((p * c) @ (1.0 - 2.0 * step * c * mean + (step * c) ** 2 * square))
        one = sl.GradientDescent(steps=1, step=step)
        diagonal = sl.predict(inputs, N=math.inf, D=D, solver=one, surface="leading")
        assert diagonal.loss == pytest.approx(exact, rel=1e-4)
        assert sl.predict(inputs, N=math.inf, D=D, solver=one).loss == pytest.approx(exact, rel=2e-3)

    def test_full_and_quasi_static_agree(self):
        for setting in SETTINGS[::2]:
            for N, passes, batch in ((64, 16, 1), (math.inf, 64, 4), (300, 4, 16)):
                solver = sl.SGD(passes=passes, step=0.5, batch=batch)
                full = sl.predict(sparse(*setting), N=N, D=4000, solver=solver, noise=0.01)
                quick = sl.predict(
                    sparse(*setting), N=N, D=4000, solver=solver, noise=0.01, form="quasi-static"
                )
                assert quick.loss == pytest.approx(full.loss, rel=0.04)
                assert quick.parts["descent"] == full.parts["descent"]
                assert 0.0 < full.parts["minibatch"] < full.loss

    def test_sizes_without_limit(self):
        for N, D, passes in ((10**9, 10**12, 1), (10**6, 10**12, 100), (10, 10**12, 3)):
            found = sl.predict(sparse(1.0, 0.3), N=N, D=D, solver=sl.SGD(passes=passes, step=0.5, batch=8))
            assert 0.0 < found.loss < 1.0
            floor = sl.predict(sparse(1.0, 0.3), N=N, D=D, surface="leading").loss
            assert found.loss > 0.999 * floor

    def test_largest_sgd_step(self):
        known = {(1.0, 0.3): 1.67, (0.5, 0.5): 1.62, (2.0, 0.0): 1.77}
        for setting, step in known.items():
            assert largest_sgd_step(sparse(*setting)) == pytest.approx(step, abs=0.006)
            assert largest_sgd_step(sparse(*setting), batch=16) > step


class TestTwins:
    def test_transforms(self):
        times = np.array([0.3, 2.0, 50.0])
        z = places(times)
        assert inverse(1.0 / (z + 2.0), times) == pytest.approx(np.exp(-2.0 * times), abs=1e-11)
        assert inverse(z**-1.5, times) == pytest.approx(2.0 * np.sqrt(times / np.pi), rel=1e-10)

    @pytest.mark.parametrize("tau", [1.0, 20.0, 300.0])
    def test_random_embeddings(self, tau):
        """12 embeddings of N = 80: within 4 standard errors (false alarms 1 in 10,000) or 1.5 % for 1/N."""
        rng = np.random.Generator(np.random.PCG64(5))
        j = np.arange(1.0, 161.0)
        g, s, N = j**-1.5, j**-2.0, 80
        descent = descending(g, s, a_run(tau), N)
        drawn = np.array([plain.flow(g, s, N, tau, rng) for _ in range(12)])
        noise = np.array([plain.answer_to_noise(g, s, N, tau, rng) for _ in range(12)])
        found = medium(g, s, N).left(flow_filter(tau)), descent.responses(np.array([tau]))[0, 0]
        kernel = descent.responses(np.array([tau]))[1, 0]
        for value, draws in zip((*found, kernel), (*drawn.T, noise), strict=True):
            error = draws.std(ddof=1) / math.sqrt(draws.size)
            assert abs(value - draws.mean()) < 4.0 * error + 0.015 * value
        infinite = medium(g, s, math.inf).left(flow_filter(tau))
        assert infinite == pytest.approx(s @ np.exp(-2.0 * g * tau), rel=1e-8)
        if tau > 1.0:  # the embedding matters: without it the test would fail
            assert abs(infinite - drawn[:, 0].mean()) > 0.1 * infinite

    def test_modes_in_cells_keep_their_sums(self):
        inputs = sparse(0.7, 0.2)
        run = Descent(step=0.5, passes=16, batch=2).among(5000.0)
        spectrum = Spectrum.of(inputs.gram(5000.0).atoms()[0], 5000.0)
        h, c = spectrum.curvature, spectrum.single
        x = 0.5 * (0.5 * c + 0.5 * h)
        g = h * np.where(x > 1e-9, -np.log1p(-x) / np.maximum(x, 1e-300), 1.0)
        modes = counted_modes(spectrum, run)
        assert modes.g.size < 0.5 * g.size
        for k in (1e-4, 1e-2, 1.0):
            want = spectrum.variance @ (1.0 / (g + k)), spectrum.weight @ (g / (g + k))
            got = modes.variance @ (1.0 / (modes.g + k)), (modes.weight * modes.g) @ (1.0 / (modes.g + k))
            assert got == pytest.approx(want, rel=1e-7)

    def test_the_equation_of_memory(self):
        j = np.arange(1.0, 40.0)
        g, s = j**-1.6, 0.7 * j**-2.0
        run = Run(step=0.2, batch=1.0, steps=2000.0, updates=2000.0, D=500.0, passes=4.0)
        descent = descending(g, s, run, math.inf)
        kept = -np.expm1(-g * run.epoch) / (g * run.epoch)  # of what a sample's own noise has fitted

        def driven(t):
            fitted = -np.expm1(-2.0 * g * t) @ (2.0 * kept - 1.0) / run.D
            return g @ np.exp(-2.0 * g * t) + 0.1 * (1.0 - fitted)

        strength = run.sample_step * run.random_share
        naive = plain.volterra(g, s, g, driven, strength, run.epoch, run.time, 8000)
        assert with_memory(descent, 0.1) == pytest.approx(naive, rel=0.004)
        assert abs(quasi_static(descent, 0.1) / naive - 1.0) > 0.02  # the weight of a pass is in it


class TestDense:
    @pytest.mark.parametrize(("N", "D", "steps"), [(50, 200, 30), (50, 200, 3000), (300, 100, 300)])
    def test_gradient_descent(self, N, D, steps):
        """24 seeds: within 4 standard errors (1 in 10,000) and 1 % for terms of order 1/N."""
        dense = sl.DenseInputs(alpha=1.3, dimension=300)
        solver = sl.GradientDescent(steps=steps, step=0.5)
        for noise in (0.0, 0.1):
            runs = sl.simulate(dense, N=N, D=D, solver=solver, noise=noise, seeds=24, workers=1)["loss"]
            found = sl.predict(dense, N=N, D=D, solver=solver, noise=noise)
            assert abs(found.loss - runs.mean()) < 4.0 * runs.sem() + 0.01 * found.loss
        assert found.parts["label_noise"] > 0.0

    def test_many_samples_are_fresh_ones(self):
        v = np.arange(1.0, 200.0) ** -2.0
        run = a_run(500.0, D=1e12, step=1e-6)
        many, fresh = (descending(v, v, run, 60.0, samples) for samples in (1e12, math.inf))
        assert many.medium.left(flow_filter(500.0)) == pytest.approx(
            fresh.medium.left(flow_filter(500.0)), rel=1e-6
        )
        times = np.array([3.0, 90.0])
        assert many.responses(times)[:2] == pytest.approx(fresh.responses(times)[:2], rel=1e-4)

    def test_trained_to_the_end(self):
        dense = sl.DenseInputs(alpha=1.0, dimension=2000)
        for N, D in ((40, 200), (300, 60)):
            shared = {"N": N, "D": D, "surface": "leading", "noise": 0.2}
            end = sl.predict(dense, solver=sl.GradientDescent(steps=10**9, step=0.5), **shared)
            surface = sl.predict(dense, **shared)
            assert end.loss == pytest.approx(surface.loss, rel=1e-3)
