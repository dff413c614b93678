"""ReLU trials against the paper's recipe, and a planted error that the comparison must notice.

Two means over independent trials are compared at z = 4: a false alarm has probability 6e-5 for each of about
40 comparisons, 3e-3 in all, and the seeds are fixed.
"""

import numpy as np
import pytest

import oracles_relu as recipe
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge
from sparselaw.trials import relu_dense, relu_dense_wide, relu_population, relu_sparse
from sparselaw.trials.task import Task

SPARSE = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=50)
CROWDED = SparseInputs(alpha1=-0.3, alpha2=0.8, dimension=30)
DENSE = DenseInputs(alpha=2.3, dimension=40)
UNDER, OVER = (20, 200), (60, 12)
TRIALS = 150


def z_score(ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return (ours.mean() - theirs.mean()) / np.sqrt(
        ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs)
    )


def ours(run, problem, size, solver=None, trials=TRIALS, **options):
    N, D = size
    solver = solver or MinNorm()
    tasks = (
        Task(inputs=problem, N=N, D=D, seed=seed, features="relu", solver=solver, **options)
        for seed in range(trials)
    )
    return [run(task).loss for task in tasks]


def theirs(problem, size, solver=None, trials=TRIALS, n_test=500, **options):
    solver = solver or MinNorm()
    if not isinstance(solver, Nesterov | SGD):
        options["teachers"] = 30
    return [
        recipe.trial(problem, *size, np.random.default_rng([7, seed]), solver, n_test=n_test, **options)
        for seed in range(trials)
    ]


@pytest.fixture(autouse=True)
def _few_test_samples(monkeypatch):
    """The estimate is unbiased for any number of them."""
    monkeypatch.setattr(relu_population, "MOST", 500)
    monkeypatch.setattr(relu_population, "FEWEST", 500)


@pytest.mark.parametrize("size", [UNDER, OVER])
@pytest.mark.parametrize("problem", [SPARSE, CROWDED, DENSE])
class TestMinNorm:
    def test_exact(self, problem, size):
        run = relu_dense.trial if problem is DENSE else relu_sparse.trial
        assert abs(z_score(ours(run, problem, size), theirs(problem, size))) < 4

    def test_raw_with_label_noise(self, problem, size):
        run = relu_dense.trial if problem is DENSE else relu_sparse.trial
        mine = ours(run, problem, size, noise=0.3, estimator="raw", n_test=500)
        assert abs(z_score(mine, theirs(problem, size, noise=0.3, n_test=500))) < 4

    def test_exact_with_label_noise(self, problem, size):
        run = relu_dense.trial if problem is DENSE else relu_sparse.trial
        assert abs(z_score(ours(run, problem, size, noise=0.3), theirs(problem, size, noise=0.3))) < 4


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("size", [(60, 12), (45, 30)])
def test_wide_layers(size, noise):
    mine = ours(lambda task: relu_dense_wide.trial(task, _spectrum()), DENSE, size, noise=noise)
    assert abs(z_score(mine, theirs(DENSE, size, noise=noise))) < 4


@pytest.mark.parametrize("problem", [SPARSE, DENSE])
@pytest.mark.parametrize(
    "solver",
    [
        Ridge(ridge=2.0),
        GradientDescent(steps=20),
        Nesterov(tolerance=1e-4, max_iterations=100),
        SGD(passes=2, batch=3),
    ],
    ids=lambda solver: solver.name,
)
@pytest.mark.parametrize("size", [UNDER, OVER])
def test_other_solvers(problem, solver, size):
    run = relu_dense.trial if problem is DENSE else relu_sparse.trial
    mine = ours(run, problem, size, solver, noise=0.1)
    assert abs(z_score(mine, theirs(problem, size, solver, noise=0.1, n_test=500))) < 4


@pytest.mark.parametrize("solver", [Nesterov(tolerance=1e-4), SGD(passes=2)], ids=lambda solver: solver.name)
def test_one_teacher_in_a_wide_layer(solver):
    mine = ours(lambda task: relu_dense_wide.trial(task, _spectrum()), DENSE, OVER, solver, noise=0.1)
    assert abs(z_score(mine, theirs(DENSE, OVER, solver, noise=0.1, n_test=500))) < 4


@pytest.mark.parametrize(
    ("problem", "size", "solver"), [(SPARSE, OVER, Ridge(ridge=2.0)), (DENSE, UNDER, MinNorm())]
)
def test_a_planted_error_is_noticed(problem, size, solver):
    """A loss 15 % too large, or label noise left out, must not pass."""
    run = relu_dense.trial if problem is DENSE else relu_sparse.trial
    expected = theirs(problem, size, solver, noise=1.0)
    mine = np.array(ours(run, problem, size, solver, noise=1.0))
    assert abs(z_score(mine, expected)) < 4
    assert abs(z_score(1.15 * mine, expected)) > 4
    assert abs(z_score(ours(run, problem, size, solver), expected)) > 4


def _spectrum():
    return np.arange(1.0, DENSE.dimension + 1) ** -DENSE.spectrum
