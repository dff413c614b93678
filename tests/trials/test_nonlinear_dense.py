"""Nonlinear trials of dense inputs, recomputed with plain matrices on the same draws."""

import functools
import itertools

import numpy as np
import pytest
from scipy.linalg import sqrtm

import sparselaw.trials.nonlinear_gaussian as engine
from oracles import nonlinear as recipe
from oracles.features import DEGREE_ONE, OTHERS, SLOPES, gaussian_moment, gaussian_slope, layer
from sparselaw.features import FEATURES, Layer
from sparselaw.inputs import DenseInputs
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge
from sparselaw.trials.nonlinear_gaussian import population_loss, predicted_square
from sparselaw.trials.run import run
from sparselaw.trials.task import Task, random_stream

DENSE = DenseInputs(alpha=2.3, dimension=40)
V = np.arange(1.0, 41.0) ** -DENSE.power_law().spectrum
SOLVERS = [
    MinNorm(),
    Ridge(ridge=0.5),
    GradientDescent(steps=7),
    Nesterov(tolerance=1e-4, max_iterations=100),
    SGD(passes=2, batch=3),
]
KINKED = ["relu", "leaky-relu", "abs"]  # in single precision
CLOSED = ["relu", "leaky-relu", "gelu", "tanh", "erf", "sign", "abs"]
TEST = 300


@pytest.fixture(autouse=True)
def _other_features(monkeypatch):
    for features in OTHERS:
        monkeypatch.setitem(FEATURES, features.name, features)
    monkeypatch.setattr(engine, "MOST_TESTS", TEST)
    monkeypatch.setattr(engine, "FEWEST_TESTS", TEST)


def task_of(size, features, solver, **settings):
    N, D = size
    return Task(inputs=DENSE, N=N, D=D, seed=5, features=features, solver=solver, noise=0.2, **settings)


moment, slope = functools.cache(gaussian_moment), functools.cache(gaussian_slope)


def second_moments(features, A):
    """E f f^T for preactivations of covariance A."""
    if features == "relu":
        return recipe.gaussian_moments(A)
    if features == "erf":
        s = 1 + 2 * np.diag(A)
        return 2 / np.pi * np.arcsin(2 * A / np.sqrt(np.outer(s, s)))
    d = np.sqrt(np.diag(A))
    upper = [
        [
            moment(features, d[i], d[j], min(1.0, A[i, j] / (d[i] * d[j]))) if j >= i else 0.0
            for j in range(len(A))
        ]
        for i in range(len(A))
    ]
    return np.array(upper) + np.triu(upper, 1).T


def closed_form(features, L, signal, theta):
    """E_g sum_t (h_t . g - theta_t . phi(g))^2 by Gaussian moments, phi of as many units as L has rows."""
    N = 1 if features in DEGREE_ONE else len(L)
    A = N * L @ L.T
    slopes = [slope(features, d) for d in np.sqrt(np.diag(A))]
    overlap = np.sum(theta * (np.array(slopes)[:, None] * (L @ signal)))
    return np.sum(signal**2) - 2 * overlap + np.trace(theta.T @ second_moments(features, A) @ theta) / N


def measured(task, L, signal, theta, residual):
    """The same on the test inputs of the task; the odd part, where it is linear, as the sum it is."""
    f, rng = layer(task.features, task.N), random_stream(task, "test")
    g = rng.standard_normal((TEST, L.shape[1]))
    if task.estimator == "raw":
        y = g @ signal + np.sqrt(residual) * rng.standard_normal((TEST, 1))
        return np.mean((y - f(g @ L.T) @ theta) ** 2)
    if task.features in SLOPES:
        even = (f(g @ L.T) + f(-g @ L.T)) / 2 @ theta
        return np.sum((signal - SLOPES[task.features] * L.T @ theta) ** 2) + np.sum(even**2) / TEST
    return np.sum((g @ signal - f(g @ L.T) @ theta) ** 2) / TEST


def narrow_twin(task):
    """Targets y = S^T g + residual; the mean over teachers is that over the columns of a root of E h h^T."""
    Q, L = engine.latent_space(task, V)
    u = random_stream(task, "embedding").standard_normal((task.N, 40)) / np.sqrt(task.N)
    assert L @ Q.T == pytest.approx(u * np.sqrt(V), abs=1e-12)
    g = random_stream(task, "data").standard_normal((task.D, L.shape[1]))
    Phi = layer(task.features, task.N)(L @ g.T)
    if task.estimator == "exact" and task.solver.linear:
        H = Q.T @ np.diag(V) @ Q
        residual, root = V.sum() - np.trace(H), np.real(sqrtm(H))
        response = recipe.fit(task.solver, Phi, np.eye(task.D))
        theta = np.hstack([response @ g @ root, np.sqrt(residual + task.noise) * response])
        signal = np.pad(root, ((0, 0), (0, task.D)))
    else:
        rng = random_stream(task, "teacher")
        w = np.sqrt(V) * rng.standard_normal(40)
        signal = (Q.T @ w)[:, None]
        residual = w @ w - np.sum(signal**2)
        y = g @ signal + np.sqrt(residual + task.noise) * rng.standard_normal((task.D, 1))
        order = random_stream(task, "order")
        orders = [order.permutation(task.D) for _ in range(getattr(task.solver, "passes", 0))]
        theta = recipe.fit(task.solver, Phi, y, orders)
    if task.estimator == "raw":
        return measured(task, L, signal, theta, residual)
    if task.features in CLOSED:
        return residual + closed_form(task.features, L, signal, theta)
    return residual + measured(task, L, signal, theta, residual)


@pytest.mark.parametrize(
    ("features", "size"),
    [
        *itertools.product(["relu", "plain-leaky", "plain-tanh", "erf"], [(6, 60), (20, 9), (60, 20)]),
        *itertools.product(["leaky-relu", "gelu", "tanh", "sign", "abs"], [(6, 60), (15, 9)]),
    ],
)
@pytest.mark.parametrize("estimator", ["exact", "raw"])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_every_solver_on_the_same_draws(solver, estimator, size, features):
    task = task_of(size, features, solver, estimator=estimator, n_test=TEST)
    record = run(task)
    assert record.loss == pytest.approx(narrow_twin(task), rel=1e-6)
    assert ("test" in record.averaged) == (estimator == "exact" and features in CLOSED)


def wide_twin(task):
    """In double precision, with all of X factored by QR."""
    N, D, f = task.N, task.D, layer(task.features, task.N)
    X = random_stream(task, "data").standard_normal((40, D)) * np.sqrt(V)[:, None]
    Q, R = np.linalg.qr(X)
    sign = np.sign(np.diag(R))
    Q, R = Q * sign, sign[:, None] * R
    dtype = np.float32 if task.features in KINKED else np.float64
    E = random_stream(task, "embedding").standard_normal((N, D), dtype=dtype) / np.sqrt(N)
    rng = random_stream(task, "teacher")
    a = np.pad(np.eye(D), ((0, 0), (0, 1))) if task.solver.linear else rng.standard_normal((D, 1))
    y = R.T @ a
    y[:, -1] += np.sqrt(task.noise) * random_stream(task, "noise").standard_normal(D)
    order = random_stream(task, "order")
    orders = [order.permutation(D) for _ in range(getattr(task.solver, "passes", 0))]
    theta = recipe.fit(task.solver, f(E @ R), y, orders)
    rng = random_stream(task, "test")
    inside = Q.T @ np.diag(V) @ Q
    unseen, n = V.sum() - np.trace(inside), engine.TEST_INPUTS
    whole, even = [], []
    for _ in range(1 if task.features in SLOPES else engine.WHOLE_BLOCKS):
        x = rng.standard_normal((40, n)) * np.sqrt(V)[:, None]
        b = Q.T @ x
        across = np.sqrt(np.sum((x - Q @ b) ** 2, axis=0) / N)
        z = across * rng.standard_normal((N, n), dtype=dtype) + E @ b
        whole.append(np.sum((a.T @ b - theta.T @ f(z)) ** 2) / n)
        even.append(np.sum((theta.T @ (f(z) + f(-z)) / 2) ** 2) / n)
    if task.features not in SLOPES:
        return unseen + np.mean(whole)
    c = SLOPES[task.features]
    missed = a - c * E.T @ theta
    odd = np.trace(missed.T @ inside @ missed) + unseen * (1 + c**2 * np.sum(theta**2) / N)
    return odd + even[0]


@pytest.mark.parametrize("features", [*CLOSED, "plain-leaky"])
@pytest.mark.parametrize("size", [(60, 12), (45, 30)])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_every_solver_in_a_wide_layer(solver, size, features):
    task = task_of(size, features, solver)
    assert engine.wide_trial(task, V).loss == pytest.approx(
        wide_twin(task), rel=1e-4 if features in KINKED else 1e-7
    )


def test_a_wide_layer_agrees_with_the_closed_form():
    """Both routes at (80, 12), where either can run; z = 4 on the two means, false alarm 6e-5."""
    tasks = [Task(inputs=DENSE, N=80, D=12, features="relu", seed=seed) for seed in range(60)]
    by_wide = np.array([engine.wide_trial(task, V).loss for task in tasks])
    by_narrow = np.array([engine.narrow_trial(task, V).loss for task in tasks])
    error = np.sqrt((by_wide.var(ddof=1) + by_narrow.var(ddof=1)) / len(tasks))
    assert abs(by_wide.mean() - by_narrow.mean()) < 4 * error
    assert error < 0.1 * by_narrow.mean()


@pytest.mark.parametrize("features", [FEATURES["relu"], FEATURES["erf"]], ids=lambda features: features.name)
@pytest.mark.parametrize("block", [1, 3, 100])
def test_blocks_do_not_change_the_loss(features, block):
    rng = np.random.default_rng(4)
    L, theta, signal = rng.standard_normal((8, 5)), rng.standard_normal((8, 3)), rng.standard_normal((5, 2))
    padded = np.pad(signal, ((0, 0), (0, 1)))
    square = closed_form(features.name, L, np.zeros((5, 3)), theta)
    assert predicted_square(Layer(features, 8), L, theta, block) == pytest.approx(square, rel=1e-12)
    expected = closed_form(features.name, L, padded, theta)
    loss = population_loss(Layer(features, 8), L, signal, theta, np.sum(signal**2), block)
    assert loss == pytest.approx(expected, rel=1e-12)


def test_minimum_norm_by_cholesky_is_that_by_eigenvalues():
    """The same weights, or none where a singular value might be cut."""
    rng = np.random.default_rng(7)
    features, targets = rng.standard_normal((50, 30)), rng.standard_normal((30, 4))
    gram = features.T @ features
    task = Task(inputs=DENSE, N=50, D=30, seed=0, features="gelu", solver=MinNorm())
    (fast, rank), slow = engine._by_cholesky(task, gram, targets), engine._by_eigenvalues(task, gram, targets)
    assert np.allclose(fast.coefficients, slow[0].coefficients, rtol=1e-9, atol=1e-12)
    assert (rank, fast.status) == (slow[1], slow[0].status) == (30, "ok")
    naive = np.linalg.pinv(features.T) @ targets
    assert np.allclose(features @ fast.coefficients, naive, rtol=1e-9, atol=1e-12)
    cutting = Task(inputs=DENSE, N=50, D=30, seed=0, features="gelu", solver=MinNorm(rtol=0.5))
    assert engine._by_cholesky(cutting, gram, targets) is None
    features[:, 1] = features[:, 0] * (1 + 1e-9)
    assert engine._by_cholesky(task, features.T @ features, targets) is None
    other = Task(inputs=DENSE, N=50, D=30, seed=0, features="gelu", solver=Ridge(ridge=0.5))
    assert engine._by_cholesky(other, gram, targets) is None
