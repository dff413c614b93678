"""Linear trials against their naive twins: the mean over seeds, every solver, both sides of N = K."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.linear import trial_loss
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge
from sparselaw.trials.run import run
from sparselaw.trials.task import Task

ASYMMETRIC = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=60)
SLOW_TAIL = SparseInputs(alpha1=0.3, alpha2=0.5, dimension=60)
SYMMETRIC = SparseInputs(alpha1=-0.5, alpha2=1.0, dimension=25)
LOUD = SparseInputs(alpha1=1.5, alpha2=-1.5, dimension=12)  # amplitudes that grow with j
DENSE = DenseInputs(alpha=1.3, dimension=40)

# inputs, N, D, solver, noise. N and D are kept apart from the peak, where means are heavy-tailed.
CASES = [
    (ASYMMETRIC, 3, 60, MinNorm(), 0.0),
    (ASYMMETRIC, 40, 30, MinNorm(), 0.0),
    (ASYMMETRIC, 3, 60, MinNorm(), 1.0),
    (ASYMMETRIC, 40, 30, MinNorm(), 1.0),
    (SLOW_TAIL, 5, 40, MinNorm(), 1.0),
    (SLOW_TAIL, 60, 12, MinNorm(), 0.0),
    (SYMMETRIC, 5, 60, MinNorm(), 1.0),
    (SYMMETRIC, 40, 12, MinNorm(), 1.0),
    (LOUD, 2, 200, MinNorm(), 0.0),
    (ASYMMETRIC, 4, 40, Ridge(ridge=0.5), 1.0),
    (ASYMMETRIC, 40, 15, Ridge(ridge=0.5), 1.0),
    (SYMMETRIC, 40, 12, Ridge(ridge=0.5), 1.0),
    (ASYMMETRIC, 4, 40, GradientDescent(steps=15), 1.0),
    (ASYMMETRIC, 30, 12, GradientDescent(steps=15, step=0.5), 1.0),
    (ASYMMETRIC, 3, 40, Nesterov(), 1.0),
    (ASYMMETRIC, 30, 12, Nesterov(), 1.0),
    (ASYMMETRIC, 3, 20, SGD(passes=2, batch=2), 1.0),
    (ASYMMETRIC, 30, 12, SGD(passes=2, step=0.3), 1.0),
    (DENSE, 4, 25, MinNorm(), 1.0),
    (DENSE, 30, 5, MinNorm(), 1.0),
    (DENSE, 50, 60, MinNorm(), 1.0),
    (DENSE, 4, 25, Ridge(ridge=0.5), 1.0),
    (DENSE, 30, 5, Ridge(ridge=0.5), 1.0),
    (DENSE, 50, 60, Ridge(ridge=0.5), 1.0),
    (DENSE, 4, 20, GradientDescent(steps=10), 1.0),
    (DENSE, 4, 25, Nesterov(), 1.0),
    (DENSE, 30, 5, Nesterov(), 1.0),
    (DENSE, 4, 15, SGD(passes=2, step=0.1), 1.0),
    (DENSE, 20, 6, SGD(passes=2, batch=3), 1.0),
]
OURS, NAIVE = 200, 600  # a naive trial of these sizes is cheaper
# One case of each solver and side is enough for every day: a trial's data and its solver are drawn apart.
EVERY_DAY = (1, 2, 4, 7, 8, 10, 12, 15, 16, 19, 20, 21, 24, 26, 27)
RAW, EVERY_DAY_RAW = (0, 1, 4, 7, 10, 14, 16, 18, 19, 20, 25, 26, 27, 28), (1, 7, 10, 16, 20, 27)


def chosen(indices, every_day):
    return [
        pytest.param(
            index,
            id=f"{CASES[index][0]}-N{CASES[index][1]}-D{CASES[index][2]}-{CASES[index][3]}",
            marks=() if index in every_day else pytest.mark.slow,
        )
        for index in indices
    ]


def mean_and_error(losses):
    losses = np.asarray(losses)
    assert losses.std() > 0
    return losses.mean(), losses.std(ddof=1) / np.sqrt(losses.size)


def z_score(index, estimator="exact", naives=NAIVE, n_test=40):
    inputs, N, D, solver, noise = CASES[index]
    rng = np.random.default_rng(index + 1000)
    naive, naive_error = mean_and_error([trial_loss(inputs, N, D, solver, noise, rng) for _ in range(naives)])
    losses = [
        run(
            Task(
                inputs=inputs, N=N, D=D, seed=seed, solver=solver, noise=noise,
                estimator=estimator, n_test=n_test,
            )
        ).loss
        for seed in range(OURS)
    ]  # fmt: skip
    if np.ptp(losses) == 0.0:  # everything averaged exactly
        ours, error = losses[0], 0.0
    else:
        ours, error = mean_and_error(losses)
    return (ours - naive) / np.hypot(error, naive_error)


# 4 standard errors: a false alarm once in 16,000 for each case; the seeds are fixed.
@pytest.mark.parametrize("index", chosen(range(len(CASES)), EVERY_DAY))
def test_mean_loss_is_the_naive_one(index):
    assert abs(z_score(index)) < 4.0


@pytest.mark.parametrize("index", chosen(RAW, EVERY_DAY_RAW))
def test_raw_estimator_has_the_naive_mean(index):
    assert abs(z_score(index, estimator="raw", naives=OURS)) < 4.0


def test_a_planted_error_is_seen():
    """The same comparison with the noise of the twin half as large again must fail."""
    inputs, N, D, solver, noise = CASES[10]
    rng = np.random.default_rng(5)
    twin = [trial_loss(inputs, N, D, solver, 1.5 * noise, rng) for _ in range(NAIVE)]
    naive, error = mean_and_error(twin)
    tasks = [Task(inputs=inputs, N=N, D=D, seed=s, solver=solver, noise=noise) for s in range(OURS)]
    ours, our_error = mean_and_error([run(task).loss for task in tasks])
    assert abs(ours - naive) / np.hypot(error, our_error) > 4.0
