"""Solvers as sums of poles on one law, and the switches on the way: nothing jumps."""

import math

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.theory.training import medium as media
from sparselaw.theory.training.filters import Filter, HeavyBall, flow_filter
from sparselaw.theory.training.medium import Medium
from sparselaw.theory.training.modes import Spectrum
from sparselaw.theory.training.schedule import Descent
from sparselaw.theory.training.unfinished import train


def sparse(alpha1, alpha2, dimension=10_000.0):
    return sl.SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=dimension)


def ridge_filter(ridge):
    """ridge/(l + ridge): one real pole, which is its own conjugate."""
    pole = np.array([ridge], dtype=np.complex128)
    return Filter(pole, 0.5 * pole)


def medium_of(inputs, N, D):
    atoms, samples = inputs.gram(float(D)).atoms()
    of = Spectrum.of(atoms, float(D))
    samples = math.inf if atoms.rank_sd > 0.0 else samples
    return Medium(of.weight, of.curvature, of.variance, of.unseen, samples, float(N))


class TestPoles:
    @pytest.mark.parametrize("inputs", [sparse(1.0, 0.3), sl.DenseInputs(alpha=0.8, dimension=400)])
    @pytest.mark.parametrize(("N", "D", "ridge"), [(40, 3000, 0.3), (300, 200, 1e-3), (30, 100, 20.0)])
    def test_ridge_is_the_leading_surface(self, inputs, N, D, ridge):
        pole = ridge_filter(ridge / D)
        seen = medium_of(inputs, N, D)
        squared = Medium(seen.weight, seen.curvature, seen.variance, seen.unseen, seen.samples, seen.features)
        surface = sl.predict(inputs, N=N, D=D, ridge=ridge, surface="leading").loss
        assert squared.left(pole) == pytest.approx(surface, rel=1e-7)

    def test_a_sum_of_poles_is_the_solver(self):
        h = np.geomspace(1e-6, 1.2, 60)
        assert flow_filter(30.0)(h) == pytest.approx(np.exp(-30.0 * h), abs=1e-11)
        assert ridge_filter(0.1)(h) == pytest.approx(0.1 / (h + 0.1), rel=1e-12)
        for steps in (1, 7, 40, 900):
            ball = HeavyBall(step=0.5, momentum=0.0, steps=steps, top=1.2)
            assert ball.filter()(h) == pytest.approx((1.0 - 0.5 * h) ** steps, abs=1e-5)
            assert ball.filter(2)(h) == pytest.approx((1.0 - 0.5 * h) ** (2 * steps), abs=1e-5)

    def test_pairs_are_the_same_by_products_and_by_differences(self, monkeypatch):
        seen = medium_of(sparse(0.3, 0.4), 40, 300)
        seen = Medium(seen.weight, seen.curvature, seen.variance, seen.unseen, 300.0, 40.0)
        ball = HeavyBall(step=0.5, momentum=0.9, steps=30, top=1.5)
        by_products = seen.left(ball.filter())
        monkeypatch.setattr(media, "MANY_POLES", 1)
        assert seen.left(ball.filter()) == pytest.approx(by_products, rel=1e-9)

    def test_no_features_to_choose_is_the_sum_over_modes(self):
        h = np.geomspace(1e-5, 1.0, 50)
        s = h**1.2
        found = Medium(np.ones(50), h, s, 0.01, math.inf, math.inf).left(HeavyBall(0.5, 0.0, 70).filter())
        assert found == pytest.approx(0.01 + s @ (1.0 - 0.5 * h) ** 140, rel=1e-8)


class TestNothingJumps:
    @pytest.mark.parametrize("inputs", [sparse(1.0, 0.3), sl.DenseInputs(alpha=1.0, dimension=300)])
    @pytest.mark.parametrize("N", [40, math.inf])
    @pytest.mark.parametrize("place", [1.0, 2.0])
    def test_along_passes(self, inputs, N, place):
        """0.999, 1 and 1.001 passes: fresh samples, then a share of repeats, then counts."""
        below, at, above = (
            train(inputs, N, 1000.0, Descent(step=0.4, passes=passes), 0.02).loss
            for passes in (0.999 * place, place, 1.001 * place)
        )
        assert below == pytest.approx(at, rel=1.5e-3)
        assert above == pytest.approx(at, rel=1.5e-3)
        assert below > at > above

    @pytest.mark.parametrize(("D", "batch"), [(1000.0, 16), (300.0, 7), (900.0, 400)])
    @pytest.mark.parametrize("place", [1.0, 2.0, 3.0])
    def test_along_passes_in_batches(self, D, batch, place):
        """A short last batch comes in over one step, before and after the end of a pass."""
        step = 1.0 / math.ceil(D / batch)
        for near in (-1e-4, 1e-4):
            one, two = (
                train(sparse(1.0, 0.3), 40, D, Descent(step=0.4, passes=place + near * k, batch=batch), 0.02)
                for k in (0.0, 1.0)
            )
            assert two.loss == pytest.approx(one.loss, rel=5e-4 * batch / 16 + 2e-3 * abs(near) / step)

    @pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
    def test_along_steps(self, momentum):
        """The contour changes at twelve steps and where swings have died; the loss falls smoothly."""
        for N in (40, math.inf):
            losses = np.log(
                [
                    train(sparse(1.0, 0.3), N, 1000.0, Descent(step=0.4, steps=t, momentum=momentum)).loss
                    for t in (*range(9, 16), *range(260, 272, 2))
                ]
            )
            early = losses[:7] if momentum < 0.9 else []  # it swings before
            for part in (early, losses[7:]):
                assert np.abs(np.diff(part, 2)).max(initial=0.0) < 0.03

    def test_along_momentum(self):
        none, little = (
            train(sparse(1.0, 0.3), 40, 1000.0, Descent(step=0.4, steps=50, momentum=beta)).loss
            for beta in (0.0, 1e-9)
        )
        assert little == pytest.approx(none, rel=1e-6)

    def test_along_alpha2(self):
        """The amplitude that one activation makes unstable comes in gradually."""
        losses = [
            train(sparse(2.2, alpha2, 300), 60, 600.0, Descent(step=0.25, steps=3000)).loss
            for alpha2 in np.arange(-2.5, -2.0, 0.02)
        ]
        assert np.abs(np.diff(np.log(losses), 2)).max() < 0.01


class TestBounds:
    @pytest.mark.parametrize(("N", "steps"), [(60, 3000), (math.inf, 10_000), (60, 10**9), (12, 30)])
    def test_nobody_learns_what_no_sample_shows(self, N, steps):
        inputs = sparse(2.2, -2.4, 300)
        for step in (0.05, 0.25, 1.0):
            found = sl.predict(inputs, N=N, D=600, solver=sl.GradientDescent(steps=steps, step=step))
            assert found.loss >= inputs.expected_unseen(600.0) * (1.0 - 1e-9)

    def test_runs_that_diverge_are_said(self):
        solver = sl.GradientDescent(steps=1000, step=0.8)
        found = sl.predict(sparse(1.0, 0.3), N=8, D=500, solver=solver)
        assert "0.01 of the runs diverge" in found.caution  # 1.1 % of simulated ones
        assert "diverge" not in sl.predict(sparse(1.0, 0.3), N=60, D=500, solver=solver).caution
        spikes = sl.predict(sparse(1.5, -2.2, math.inf), N=math.inf, D=500, solver=solver)
        first = math.ceil(1250 ** (1 / 1.2))  # 0.8 c/500 > 2
        expected = 500 * sum(j**-2.5 for j in range(first, 10**6))
        said = float(spikes.caution.split("about ")[1].split(" of")[0])
        assert said == pytest.approx(expected, rel=0.1)  # a step, summed at nodes

    def test_a_point_is_the_same_alone_and_in_a_list(self):
        inputs, solver = sparse(0.5, 0.2), sl.SGD(passes=3, step=0.3, batch=2)
        sizes, data = [20, 50, math.inf], [100, 1000]
        frame = sl.predict(inputs, N=sizes, D=data, solver=solver, noise=0.01)
        alone = [sl.predict(inputs, N=n, D=d, solver=solver, noise=0.01) for n in sizes for d in data]
        assert frame["loss"].tolist() == [point.loss for point in alone]
        assert frame["loss_error"].tolist() == [point.loss_error for point in alone]
