"""Losses and iteration counts along a descent, against plain loops on theta."""

import numpy as np
import pytest

from oracles import dynamics as slow
from oracles import solvers as plain
from sparselaw.errors import InputError
from sparselaw.experiments.dynamics import (
    clipped_curve,
    compare_small_steps,
    gradient_descent_curve,
    nesterov_curve,
    prepare_training,
    sgd_curve,
)
from sparselaw.experiments.dynamics.descents import population_loss
from sparselaw.experiments.dynamics.iterations import accelerated_iterations, plain_iterations
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers.gradient_descent import largest_stable_step
from sparselaw.solvers.nesterov import nesterov_step
from sparselaw.trials.task import Task

SPARSE = SparseInputs(alpha1=1.0, alpha2=0.3)
DENSE = DenseInputs(alpha=1.5, dimension=25)
SPIKED = SparseInputs(alpha1=1.5, alpha2=-2.0)
CASES = [(SPARSE, 5, 60), (SPARSE, 40, 30), (DENSE, 6, 20), (DENSE, 20, 8), (DENSE, 40, 30)]


def training_of(inputs, N, D, **options):
    return prepare_training(Task(inputs=inputs, N=N, D=D, seed=2, **options))


@pytest.fixture(params=CASES, ids=lambda case: f"{type(case[0]).__name__}-{case[1]}-{case[2]}")
def training(request):
    return training_of(*request.param, noise=0.2)


def check(curve, training, thetas):
    for k, theta in enumerate(thetas):
        population, empirical = slow.losses(training, theta)
        assert curve.population_loss[k] == pytest.approx(population, rel=1e-7)
        assert curve.training_loss[k] == pytest.approx(empirical, rel=1e-7)


class TestCurves:
    def test_gradient_descent(self, training):
        Phi, y = slow.matrices(training)
        step, steps = 0.7 * largest_stable_step(training.equations), [0, 1, 2, 9, 30]
        curve = gradient_descent_curve(training, steps, step)
        assert curve.status == "ok"
        check(curve, training, [plain.gradient_descent(Phi, y, step, t) for t in steps])

    def test_nesterov(self, training):
        Phi, y = slow.matrices(training)
        step, steps = nesterov_step_of(training), [1, 2, 9, 30, 60]
        thetas = plain.nesterov(Phi, y, step, 0.0, 60)[0]
        check(nesterov_curve(training, steps), training, [thetas[t - 1] for t in steps])

    @pytest.mark.parametrize("batch", [1, 4])
    def test_sgd(self, training, batch):
        Phi, y = slow.matrices(training)
        rng = np.random.default_rng(8)
        orders = [rng.permutation(len(y)) for _ in range(5)]
        curve = sgd_curve(training, [1, 2, 5], np.random.default_rng(8), 0.1, batch)
        check(curve, training, [plain.sgd(Phi, y, 0.1, batch, orders[:p]) for p in (1, 2, 5)])

    def test_clipped_descents(self, training):
        Phi, y = slow.matrices(training)
        steps = [1, 3, 20]
        curve = clipped_curve(training, steps, step=0.9, clip=0.2)
        check(curve, training, [slow.clipped(Phi, y, 0.9, 0.2, t) for t in steps])
        order = np.random.default_rng(8).permutation(len(y))
        curve = sgd_curve(training, [1], np.random.default_rng(8), 0.1, batch=3, clip=0.2)
        check(curve, training, [slow.clipped_sgd(Phi, y, 0.1, 3, 0.2, [order])])

    def test_divergence_is_a_status(self, training):
        limit = largest_stable_step(training.equations)
        below = gradient_descent_curve(training, [10**6], 0.999 * limit)
        above = gradient_descent_curve(training, [10**6], 1.001 * limit)
        assert (below.status, above.status) == ("ok", "diverged")
        assert np.isfinite(below.population_loss).all()
        assert np.isinf(above.population_loss).all()

    def test_the_largest_step_of_nesterov(self, training):
        """Stable up to 4/3 of 1/lambda_max; restarts may save it above, but not above 2, as nothing can."""
        largest = largest_stable_step(training.equations)
        below = nesterov_curve(training, [1, 3000], 0.98 * 2 / 3 * largest)
        above = nesterov_curve(training, [1, 3000, 9000], 1.02 * largest)
        assert (below.status, above.status) == ("ok", "diverged")
        assert below.gradient[-1] < 1e-3
        assert np.isfinite(above.population_loss[0])
        assert np.isinf(above.population_loss[-1])


def nesterov_step_of(training):
    from sparselaw.solvers import Nesterov

    return nesterov_step(Nesterov(), training.equations)


class TestIterations:
    @pytest.mark.parametrize("case", [(SPARSE, 4, 200), (SPARSE, 50, 20), (DENSE, 4, 40)])
    def test_plain(self, case):
        training = training_of(*case)
        Phi, y = slow.matrices(training)
        D, step = len(y), 1 / training.equations.eigenvalues[0]
        final = slow.losses(training, plain.min_norm(Phi, y))[0]
        theta, first, gradient_at, last_outside = np.zeros(len(Phi)), np.linalg.norm(Phi @ y), None, 0
        for t in range(1, 25_000):
            theta = theta - step * (Phi @ (Phi.T @ theta - y)) / D
            if gradient_at is None and np.linalg.norm(Phi @ (Phi.T @ theta - y)) < 1e-5 * first:
                gradient_at = t
            if abs(slow_population(training, theta) / final - 1) > 0.01:
                last_outside = t
        got = plain_iterations(training, tolerance=1e-5)
        assert got.to_gradient == gradient_at
        assert got.to_loss == last_outside + 1

    @pytest.mark.parametrize("case", [(SPARSE, 6, 200), (SPARSE, 50, 20), (DENSE, 6, 40)])
    def test_accelerated(self, case):
        training = training_of(*case)
        Phi, y = slow.matrices(training)
        thetas, _, gradients = plain.nesterov(Phi, y, nesterov_step_of(training), 0.0, 3000)
        got = accelerated_iterations(training, tolerance=1e-6)
        assert got.to_gradient == 1 + np.flatnonzero(gradients < 1e-6)[0]
        final = slow.losses(training, plain.min_norm(Phi, y))[0]
        outside = [abs(slow_population(training, theta) / final - 1) > 0.01 for theta in thetas]
        last = 1 + np.flatnonzero(outside)[-1]
        # ripples between checkpoints may be missed, so only the order of magnitude of the spacing is exact
        assert 0.8 * last <= got.to_loss <= 1.03 * last + 2

    def test_a_run_cut_short(self):
        got = accelerated_iterations(training_of(SPARSE, 1000, 300), most=5)
        assert (got.to_gradient, got.to_loss) == (None, None)


def slow_population(training, theta):
    problem = training.problem
    error = training.teacher - problem.embedding.T @ theta
    Sigma = np.diag(problem.covariance) if problem.covariance.ndim == 1 else problem.covariance
    return problem.floor + problem.unseen * (1 + theta @ theta / problem.width) + error @ Sigma @ error


def test_small_steps_of_sgd_follow_full_batch_descent():
    training = training_of(SPARSE, 500, 200)
    large, small = (
        np.max(np.abs(np.log(compare_small_steps(training, [1, 4, 16], np.random.default_rng(1), step))))
        for step in (0.3, 0.003)
    )
    assert 0 < small < 0.05
    assert small < large / 3


class TestStability:
    def test_clipping_and_a_smaller_step_restore_stability(self):
        training = prepare_training(Task(inputs=SPIKED, N=10**6, D=100, seed=10))
        limit, steps = largest_stable_step(training.equations), [10, 1000, 10**5]
        assert limit < 1.0
        final = population_loss(training, training.optimum[:, None])[0]
        fixed = gradient_descent_curve(training, steps, 1.0)
        assert fixed.status == "diverged"
        assert fixed.population_loss[-1] == np.inf
        clipped = clipped_curve(training, steps, 1.0, clip=0.5)
        assert clipped.population_loss == pytest.approx([final] * 3, rel=0.3)
        smaller = gradient_descent_curve(training, steps, 0.9 * limit)
        assert smaller.population_loss[-1] == pytest.approx(final, rel=1e-6)


def test_relu_and_infinite_dense_inputs_are_refused():
    with pytest.raises(InputError, match="features=relu"):
        prepare_training(Task(inputs=SPARSE, N=3, D=3, features="relu"))
    with pytest.raises(InputError, match="dimension=inf"):
        prepare_training(Task(inputs=DenseInputs(alpha=1.0, dimension=np.inf), N=3, D=3))


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (10**9, 40)])
def test_edges(size):
    training = training_of(SPARSE, *size)
    assert np.isfinite(gradient_descent_curve(training, [0, 1, 10**12]).population_loss).all()
    assert plain_iterations(training).to_gradient is not None
    assert accelerated_iterations(training).to_loss is not None
