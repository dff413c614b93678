"""Nonlinear trials of inputs drawn by activations, recomputed with dense matrices on the same draws."""

import numpy as np
import pytest

import sparselaw.trials.nonlinear_activations as population
from oracles import nonlinear as recipe
from oracles.features import OTHERS, SLOPES, layer
from oracles.sparse import as_matrix
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.features import FEATURES
from sparselaw.inputs import SparseInputs
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge
from sparselaw.trials.run import run
from sparselaw.trials.task import Task, random_stream

SPARSE = SparseInputs(alpha1=1.0, alpha2=0.3)
TINY = SparseInputs(alpha1=-0.5, alpha2=0.5, dimension=4)
SOLVERS = [
    MinNorm(),
    Ridge(ridge=0.5),
    GradientDescent(steps=7),
    Nesterov(tolerance=1e-4, max_iterations=100),
    SGD(passes=2, batch=3),
]
TEST = 300
NONLINEAR = ["relu", "leaky-relu", "gelu", "tanh", "erf", "sign", "abs", "plain-leaky"]


@pytest.fixture(autouse=True)
def _other_features(monkeypatch):
    for features in OTHERS:
        monkeypatch.setitem(FEATURES, features.name, features)


@pytest.fixture
def _few_tests(monkeypatch):
    monkeypatch.setattr(population, "MOST_TESTS", TEST)
    monkeypatch.setattr(population, "FEWEST_TESTS", TEST)


def train(task):
    """(active coordinates, u (N, K), teachers (K, T), theta (N, T)) with every sample by itself."""
    data = draw_sparse(task.inputs, task.D, random_stream(task, "data"))
    X = as_matrix(task.inputs, data)
    first = {}
    group = [first.setdefault(x.tobytes(), len(first)) for x in X.T]
    X, counts = X[:, np.argsort(group, kind="stable")], np.bincount(group)  # equal samples side by side
    u = random_stream(task, "embedding").standard_normal((len(X), task.N)).T / np.sqrt(task.N)
    averaged = task.estimator == "exact" and task.solver.linear
    w = np.eye(len(X)) if averaged else random_stream(task, "teacher").standard_normal((len(X), 1))
    y, noise = X.T @ w, random_stream(task, "noise")
    if isinstance(task.solver, SGD):
        y = y + np.sqrt(task.noise) * noise.standard_normal(y.shape)
    elif task.noise:  # equal samples share their mean noise
        shared = np.repeat(np.sqrt(task.noise / counts) * noise.standard_normal(len(counts)), counts)
        y = np.column_stack([y, shared]) if averaged else y + shared[:, None]
    order = random_stream(task, "order")
    orders = [order.permutation(task.D) for _ in range(getattr(task.solver, "passes", 0))]
    theta = recipe.fit(task.solver, layer(task.features, task.N)(u @ X), y, orders)
    return data.active, u, np.pad(w, ((0, 0), (0, y.shape[1] - w.shape[1]))), theta


def draw_test_set(task, active, u, w, samples):
    """X, u and teachers of the test set; new coordinates have their own, for teachers only in the raw one."""
    rng = random_stream(task, "test")
    test = draw_sparse(task.inputs, samples, rng)
    new = ~np.isin(test.active, active)
    place = np.searchsorted(active, test.active[~new])
    u_test, w_test = np.zeros((task.N, len(new))), np.zeros((len(new), w.shape[1]))
    u_test[:, ~new], w_test[~new] = u[:, place], w[place]
    u_test[:, new] = rng.standard_normal((new.sum(), task.N)).T / np.sqrt(task.N)
    if task.estimator == "raw":
        w_test[new] = rng.standard_normal((new.sum(), w.shape[1]))
    return as_matrix(task.inputs, test), u_test, w_test


def twin_loss(task):
    f = layer(task.features, task.N)
    active, u, w, theta = train(task)
    X, u_test, w_test = draw_test_set(task, active, u, w, task.n_test if task.estimator == "raw" else TEST)
    z = u_test @ X
    whole = np.mean(((w_test.T @ X - theta.T @ f(z)) ** 2).sum(axis=0))
    if task.estimator == "raw":
        return whole
    unseen = task.inputs.unseen_variance(active)
    if task.features not in SLOPES:
        return unseen + whole
    c = SLOPES[task.features]
    odd = task.inputs.variances(active) @ ((w - c * u.T @ theta) ** 2).sum(axis=1)
    even = np.mean(((theta.T @ (f(z) + f(-z)) / 2) ** 2).sum(axis=0))
    return odd + unseen * (1 + c**2 * (theta**2).sum() / task.N) + even


@pytest.mark.usefixtures("_few_tests")
@pytest.mark.parametrize("features", NONLINEAR)
@pytest.mark.parametrize("size", [(6, 300), (50, 20), (200, 300)])
@pytest.mark.parametrize("estimator", ["exact", "raw"])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_every_solver_on_the_same_draws(solver, estimator, size, features):
    N, D = size
    task = Task(
        inputs=SPARSE, N=N, D=D, seed=3, features=features, solver=solver, noise=0.1, estimator=estimator,
        n_test=TEST,
    )  # fmt: skip
    assert run(task).loss == pytest.approx(twin_loss(task), rel=1e-7)


@pytest.mark.parametrize("features", NONLINEAR)
@pytest.mark.parametrize("solver", [MinNorm(), SGD(passes=2)], ids=lambda solver: solver.name)
def test_the_population_error_is_the_sum_over_all_samples(solver, features):
    """Four coordinates have 81 samples. |z| < 4 against 50,000 test inputs, a false alarm once in 16,000."""
    task = Task(inputs=TINY, N=6, D=200, seed=1, features=features, solver=solver, noise=0.1)
    f = layer(task.features, task.N)
    active, u, w, theta = train(task)
    assert len(active) == 4
    X, chance = recipe.every_pattern(TINY)
    z = u @ X
    whole = ((w.T @ X - theta.T @ f(z)) ** 2).sum(axis=0)
    exact = chance @ whole
    even = ((theta.T @ (f(z) + f(-z)) / 2) ** 2).sum(axis=0)
    measured = even if features in SLOPES else whole
    error = np.sqrt((chance @ measured**2 - (chance @ measured) ** 2) / population.MOST_TESTS)
    loss = run(task).loss
    assert error < 0.02 * exact
    assert abs(loss - exact) < 4 * error
    assert abs(loss - 1.1 * exact) > 4 * error


@pytest.mark.usefixtures("_few_tests")
def test_many_coordinates_are_served_by_drawn_teachers(monkeypatch):
    """The same mean as the exact average: z = 4 over 40 paired trials, false alarm 6e-5."""
    from sparselaw.trials import nonlinear_activations

    tasks = [Task(inputs=SPARSE, N=8, D=300, seed=seed, features="relu") for seed in range(40)]
    exact = [run(task) for task in tasks]
    monkeypatch.setattr(nonlinear_activations, "EXACT_TEACHERS", 0)
    drawn = [run(task) for task in tasks]
    assert exact[0].averaged == ("teacher", "unseen")
    assert drawn[0].averaged == ("unseen",)
    gap = np.array([a.loss - b.loss for a, b in zip(exact, drawn, strict=True)])
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    assert 0 < abs(gap.mean()) < 4 * error
    assert error < 0.05 * np.mean([record.loss for record in exact])
