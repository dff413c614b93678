"""The deterministic parts of a ReLU trial, recomputed with dense matrices on the same draws."""

import numpy as np
import pytest
from scipy import integrate

import oracles_relu as recipe
from sparselaw.data.patterns import distinct_patterns
from sparselaw.data.sparse import draw_sparse
from sparselaw.errors import InputError
from sparselaw.features.relu import gaussian_moments, preactivations
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge
from sparselaw.trials import relu_dense, relu_dense_narrow, relu_dense_wide, relu_population, relu_sparse
from sparselaw.trials.relu_gaussian import population_loss, predicted_square
from sparselaw.trials.task import Task, random_stream

SPARSE = SparseInputs(alpha1=1.0, alpha2=0.3)
DENSE = DenseInputs(alpha=2.3, dimension=40)


def relu_task(problem, N, D, **options):
    return Task(inputs=problem, N=N, D=D, features="relu", **options)


def dense_samples(problem, data):
    X = np.zeros((len(data.active), data.samples))
    X[data.column, data.sample] = data.sign * problem.amplitudes(data.active)[data.column]
    return X


def replay(task):
    """The draws of a sparse trial as dense matrices: X, u, and the test set with its own u."""
    data = draw_sparse(task.inputs, task.D, random_stream(task, "data"))
    u = random_stream(task, "embedding").standard_normal((len(data.active), task.N)).T / np.sqrt(task.N)
    rng = random_stream(task, "test")
    test = draw_sparse(task.inputs, relu_population.MOST, rng)
    new = np.setdiff1d(test.active, data.active)
    fresh = rng.standard_normal((len(new), task.N)).T / np.sqrt(task.N)
    u_test = np.empty((task.N, len(test.active)))
    u_test[:, np.isin(test.active, new)] = fresh
    known = ~np.isin(test.active, new)
    u_test[:, known] = u[:, np.searchsorted(data.active, test.active[known])]
    return data, dense_samples(task.inputs, data), u, dense_samples(task.inputs, test), u_test


@pytest.mark.parametrize("size", [(6, 300), (50, 20), (200, 300)])
@pytest.mark.parametrize("solver", [MinNorm(), Ridge(ridge=0.5), GradientDescent(steps=7)])
def test_sparse_trial_from_the_same_draws(monkeypatch, size, solver):
    monkeypatch.setattr(relu_population, "MOST", 300)
    monkeypatch.setattr(relu_population, "FEWEST", 300)
    task = relu_task(SPARSE, *size, seed=3, solver=solver)
    data, X, u, X_test, u_test = replay(task)
    theta = recipe.fit(solver, recipe.relu(u @ X), X.T, None)  # one column for each seen coordinate
    s = data.active**-SPARSE.spectrum
    linear = u.T @ theta / 2
    unseen = SPARSE.unseen_variance(data.active)
    odd = s @ ((np.eye(len(s)) - linear) ** 2).sum(axis=1) + unseen * (1 + (theta**2).sum() / (4 * task.N))
    even = np.mean(((np.abs(u_test @ X_test).T @ theta / 2) ** 2).sum(axis=1))
    assert relu_sparse.trial(task).loss == pytest.approx(odd + even, rel=1e-9)


def test_the_odd_and_even_parts_make_up_the_error():
    """On a test set closed under sign flips of every coordinate the split is an identity."""
    rng = np.random.default_rng(0)
    u, theta, w = rng.standard_normal((7, 3)), rng.standard_normal(7), rng.standard_normal(3)
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1)
    X = signs * np.array([1.0, 0.5, 0.25])[:, None]
    direct = np.mean((w @ X - theta @ recipe.relu(u @ X)) ** 2)
    odd = np.array([1.0, 0.25, 0.0625]) @ (w - u.T @ theta / 2) ** 2
    assert odd + np.mean((theta @ np.abs(u @ X) / 2) ** 2) == pytest.approx(direct, rel=1e-12)


def test_preactivations_of_patterns():
    data = draw_sparse(SPARSE, 200, np.random.default_rng(1))
    patterns = distinct_patterns(SPARSE, data)
    u = np.random.default_rng(2).standard_normal((9, len(data.active)))
    rows = preactivations(patterns.indptr, patterns.column, patterns.value, np.ascontiguousarray(u.T))
    assert pytest.approx(u @ dense_samples(SPARSE, data), abs=1e-13) == rows[patterns.inverse].T


@pytest.mark.parametrize("correlation", [-1.0, -0.6, 0.0, 0.3, 0.999, 1.0])
def test_gaussian_moments_by_integration(correlation):
    """In polar coordinates of the plane of the two: E[r^2] = 2 times the mean over the angle."""
    f = np.arccos(correlation)

    def integrand(t):
        return max(np.cos(t), 0.0) * max(np.cos(t - f), 0.0) / np.pi

    kinks = [-np.pi / 2, np.pi / 2, f - np.pi / 2]
    expected = integrate.quad(integrand, -np.pi, np.pi, points=kinks)[0]
    left, right = np.array([2.0, 0.0]), np.array([0.5])
    got = gaussian_moments(np.array([[correlation], [0.0]]), left, right)
    assert got[0, 0] == pytest.approx(expected, abs=1e-9)
    assert got[1, 0] == 0.0


@pytest.mark.parametrize("block", [1, 3, 100])
def test_blocks_do_not_change_the_loss(block):
    rng = np.random.default_rng(4)
    factor, theta, signal = (
        rng.standard_normal((8, 5)),
        rng.standard_normal((8, 3)),
        rng.standard_normal((5, 2)),
    )
    R = recipe.gaussian_moments(factor @ factor.T)
    assert predicted_square(factor, theta, block) == pytest.approx(np.trace(theta.T @ R @ theta), rel=1e-12)
    overlap = np.sum(theta[:, :2] * (factor @ signal)) / 2
    expected = 7.0 - 2 * overlap + np.trace(theta.T @ R @ theta)
    assert population_loss(factor, signal, theta, 7.0, block) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("size", [(6, 60), (20, 9), (60, 20)])
@pytest.mark.parametrize("solver", [MinNorm(), Ridge(ridge=0.5), GradientDescent(steps=7)])
def test_dense_trial_from_the_same_draws(size, solver):
    """The teacher average by its definition: F maps targets to readouts, E y y^T = g^T H g + residual."""
    N, D = size
    task = relu_task(DENSE, N, D, seed=5, solver=solver, noise=0.2)
    v = np.arange(1.0, 41.0) ** -DENSE.spectrum
    u = random_stream(task, "embedding").standard_normal((N, 40)) / np.sqrt(N)
    span, factor = relu_dense_narrow.latent_space(task, v)
    assert factor @ span.T == pytest.approx(u * np.sqrt(v), abs=1e-12)
    g = random_stream(task, "data").standard_normal((D, factor.shape[1]))
    Phi = recipe.relu(factor @ g.T)
    F = recipe.fit(solver, Phi, np.eye(D), None)
    H = span.T @ np.diag(v) @ span
    residual = v.sum() - np.trace(H)
    R = recipe.gaussian_moments(u @ np.diag(v) @ u.T)
    cross = F @ g @ H @ factor.T / 2
    expected = v.sum() - 2 * np.trace(cross)
    expected += np.trace(R @ F @ (g @ H @ g.T + (residual + 0.2) * np.eye(D)) @ F.T)
    assert relu_dense.trial(task).loss == pytest.approx(expected, rel=1e-8)


def test_a_wide_layer_agrees_with_the_closed_form():
    """Both routes at (900, 30), where either can run; z = 4 on the two means, false alarm 6e-5."""
    v = np.arange(1.0, 41.0) ** -DENSE.spectrum
    tasks = [relu_task(DENSE, 900, 30, seed=seed) for seed in range(12)]
    wide = np.array([relu_dense.trial(task).loss for task in tasks])
    narrow = np.array([relu_dense_narrow.trial(task, v).loss for task in tasks])
    error = np.sqrt((wide.var(ddof=1) + narrow.var(ddof=1)) / len(tasks))
    assert wide[0] == relu_dense_wide.trial(tasks[0], v).loss
    assert abs(wide.mean() - narrow.mean()) < 4 * error
    assert error < 0.1 * narrow.mean()


@pytest.mark.parametrize("problem", [SPARSE, DENSE, DenseInputs(alpha=12.0, dimension=2000)])
@pytest.mark.parametrize("size", [(1, 1), (1, 5), (5, 1), (900, 1), (1000, 20), (3, 3)])
@pytest.mark.parametrize("solver", [MinNorm(), Nesterov(max_iterations=50), SGD(passes=1)])
def test_edges(problem, size, solver):
    run = relu_sparse.trial if problem is SPARSE else relu_dense.trial
    record = run(relu_task(problem, *size, solver=solver))
    assert np.isfinite(record.loss)
    assert record.loss >= 0
    assert record == run(relu_task(problem, *size, solver=solver))


@pytest.mark.parametrize("problem", [SPARSE, DENSE])
@pytest.mark.parametrize("size", [(6, 60), (60, 6), (900, 6)])
@pytest.mark.parametrize("solver", [GradientDescent(steps=10**5, step=100.0), SGD(passes=900, step=100.0)])
def test_divergence_is_a_record(problem, size, solver):
    run = relu_sparse.trial if problem is SPARSE else relu_dense.trial
    record = run(relu_task(problem, *size, solver=solver))
    assert (record.status, record.loss) == ("diverged", np.inf)


def test_an_infinite_dense_dimension_is_refused():
    with pytest.raises(InputError, match="dimension=inf"):
        relu_dense.trial(relu_task(DenseInputs(alpha=2.3, dimension=np.inf), 4, 4))


def test_many_coordinates_are_served_by_drawn_teachers(monkeypatch):
    """The same mean as the exact average: z = 4 over 40 paired trials, false alarm 6e-5."""
    tasks = [relu_task(SPARSE, 30, 100, seed=seed) for seed in range(40)]
    exact = [relu_sparse.trial(task) for task in tasks]
    monkeypatch.setattr(relu_sparse, "EXACT_TEACHERS", 0)
    drawn = [relu_sparse.trial(task) for task in tasks]
    assert exact[0].averaged == ("teacher", "unseen")
    assert drawn[0].averaged == ("unseen",)
    gap = np.array([a.loss - b.loss for a, b in zip(exact, drawn, strict=True)])
    assert 0 < abs(gap.mean()) < 4 * gap.std(ddof=1) / np.sqrt(len(gap))
