"""Nonlinear trials against the paper's recipe on independent draws, and planted errors that must be noticed.

Given the draws every trial is equal to its twin (test_nonlinear_exact, test_nonlinear_dense); here the draws
are put to the test. Two means over independent trials are compared at z = 4: a false alarm has probability
6e-5 for each of about 15 comparisons, 1e-3 in all, and the seeds are fixed. Four errors are below 20 % of the
mean in every comparison of exact estimates, which is checked.
"""

import functools

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import sparselaw.trials.nonlinear_activations as population
import sparselaw.trials.nonlinear_gaussian as engine
from oracles import nonlinear as recipe
from oracles.features import OTHERS, layer
from sparselaw.features import FEATURES
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers import MinNorm, Ridge
from sparselaw.trials.run import run
from sparselaw.trials.task import Task

SPARSE = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=50)
CROWDED = SparseInputs(alpha1=-0.3, alpha2=0.8, dimension=30)
DENSE = DenseInputs(alpha=2.3, dimension=40)
UNDER, OVER = (12, 150), (60, 12)
TRIALS = 300


@pytest.fixture(autouse=True)
def _few_test_samples(monkeypatch):
    """The estimate is unbiased for any number of them."""
    for module in (population, engine):
        monkeypatch.setattr(module, "MOST_TESTS", 500)
        monkeypatch.setattr(module, "FEWEST_TESTS", 500)
    for features in OTHERS:
        monkeypatch.setitem(FEATURES, features.name, features)
    with threadpool_limits(1):
        yield


def z_score(ours, theirs, within=0.2):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    error = np.sqrt(ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs))
    assert 0 < 4 * error < within * theirs.mean()
    return (ours.mean() - theirs.mean()) / error


def ours(inputs, size, solver=None, trial=run, features="relu", **options):
    N, D = size
    tasks = [
        Task(inputs=inputs, N=N, D=D, seed=s, features=features, solver=solver or MinNorm(), **options)
        for s in range(TRIALS)
    ]
    return [trial(task).loss for task in tasks]


@functools.cache
def theirs(inputs, size, solver=None, n_test=500, **options):
    return [
        recipe.trial(
            inputs, *size, np.random.default_rng([7, s]), solver or MinNorm(), n_test=n_test, teachers=10,
            **options,
        )
        for s in range(TRIALS)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("inputs", "size", "noise"),
    [
        pytest.param(SPARSE, UNDER, 0.3, id="sparse-under"),
        pytest.param(SPARSE, OVER, 0.0, id="sparse-over"),
        pytest.param(CROWDED, UNDER, 0.3, id="crowded-under", marks=pytest.mark.slow),
        pytest.param(CROWDED, OVER, 0.0, id="crowded-over", marks=pytest.mark.slow),
        pytest.param(DENSE, UNDER, 0.3, id="dense-under"),
        pytest.param(DENSE, OVER, 0.0, id="dense-over", marks=pytest.mark.slow),
    ],
)
def test_min_norm(inputs, size, noise):
    assert abs(z_score(ours(inputs, size, noise=noise), theirs(inputs, size, noise=noise))) < 4


@pytest.mark.parametrize("inputs", [SPARSE, DENSE], ids=["sparse", "dense"])
def test_raw_with_label_noise(inputs):
    mine = ours(inputs, UNDER, noise=0.3, estimator="raw", n_test=500)
    assert abs(z_score(mine, theirs(inputs, UNDER, noise=0.3), within=0.25)) < 4


@pytest.mark.parametrize("size", [(60, 12), (45, 30)])
def test_wide_layers(size):
    spectrum = np.arange(1.0, DENSE.dimension + 1) ** -DENSE.power_law().spectrum
    mine = ours(DENSE, size, Ridge(ridge=0.1), trial=lambda task: engine.wide_trial(task, spectrum))
    assert abs(z_score(mine, theirs(DENSE, size, Ridge(ridge=0.1)))) < 4


@pytest.mark.parametrize("inputs", [SPARSE, DENSE], ids=["sparse", "dense"])
def test_features_that_know_nothing_of_themselves(inputs):
    mine = ours(inputs, UNDER, Ridge(ridge=0.5), features="plain-tanh", noise=0.3)
    assert (
        abs(z_score(mine, theirs(inputs, UNDER, Ridge(ridge=0.5), noise=0.3, f=layer("tanh", UNDER[0])))) < 4
    )


@pytest.mark.parametrize(
    ("inputs", "size", "solver"),
    [
        pytest.param(SPARSE, OVER, Ridge(ridge=2.0), id="sparse", marks=pytest.mark.slow),
        pytest.param(DENSE, UNDER, MinNorm(), id="dense"),
    ],
)
def test_a_planted_error_is_noticed(inputs, size, solver):
    """A loss 15 % too large, or label noise left out, must not pass."""
    expected = theirs(inputs, size, solver, noise=1.0)
    mine = np.array(ours(inputs, size, solver, noise=1.0))
    assert abs(z_score(mine, expected)) < 4
    assert abs(z_score(1.15 * mine, expected)) > 4
    assert abs(z_score(ours(inputs, size, solver), expected)) > 4
