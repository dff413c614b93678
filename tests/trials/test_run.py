"""Every pair of inputs and solver: the same record twice, and what is known of single trials."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge
from sparselaw.trials.run import run
from sparselaw.trials.task import Task, random_stream

INPUTS = SparseInputs(alpha1=1.0, alpha2=0.3)
SOLVERS = [MinNorm(), Ridge(ridge=0.1), GradientDescent(steps=9), Nesterov(), SGD(passes=1)]


@pytest.mark.parametrize("inputs", [INPUTS, DenseInputs(alpha=2.3, dimension=50)], ids=["sparse", "dense"])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
@pytest.mark.parametrize("estimator", ["exact", "raw"])
@pytest.mark.parametrize(("N", "D"), [(1, 1), (1, 30), (30, 1), (5, 40), (70, 60)])
def test_every_combination_gives_the_same_record_twice(inputs, solver, estimator, N, D):
    task = Task(
        inputs=inputs, N=N, D=D, seed=3, solver=solver, noise=0.1, estimator=estimator, n_test=100
    )  # fmt: skip
    first, second = run(task), run(task)
    assert first == second
    assert first.loss > 0.0
    assert not math.isnan(first.loss)


def test_streams_differ_by_purpose_seed_and_size_but_not_by_solver():
    task = Task(inputs=INPUTS, N=4, D=9)
    draw = random_stream(task, "data").random()
    assert draw == random_stream(Task(inputs=INPUTS, N=4, D=9, solver=Nesterov(), noise=1.0), "data").random()
    assert draw != random_stream(task, "teacher").random()
    assert draw != random_stream(Task(inputs=INPUTS, N=5, D=9), "data").random()
    assert draw != random_stream(Task(inputs=INPUTS, N=4, D=9, seed=1), "data").random()


def test_width_of_a_million_million_is_the_limit_of_infinite_width():
    record = run(Task(inputs=INPUTS, N=10**12, D=2000))
    assert record.loss == pytest.approx(record.control, rel=1e-6)
    assert "u" in record.averaged


def test_peak_is_sampled_and_says_that_its_mean_is_infinite():
    D = 200
    rank = run(Task(inputs=INPUTS, N=10**6, D=D)).rank
    notes = []
    for seed in range(30):  # the data depend on N: look for cells that fall on their own rank
        record = run(Task(inputs=INPUTS, N=rank, D=D, seed=seed))
        near = abs(rank - record.rank) <= 1
        assert near == ("infinite" in record.reason)
        assert math.isfinite(record.loss)
        notes.append(near)
    assert 0 < sum(notes) < 30


@pytest.mark.parametrize(("N", "D"), [(20, 20), (20, 21), (21, 20)])
def test_dense_peak_is_infinite_and_says_so(N, D):
    record = run(Task(inputs=DenseInputs(alpha=1.0, dimension=300), N=N, D=D))
    assert (record.loss, record.status) == (math.inf, "infinite")
    assert "infinite" in record.reason


def test_dense_sides_are_mirrors():
    """The mean loss at (N, D) is that at (D, N): with the roles exchanged the law is the same. |z| < 4."""
    inputs = DenseInputs(alpha=1.5, dimension=80)
    wide, tall = (
        np.array([run(Task(inputs=inputs, N=N, D=D, seed=seed)).loss for seed in range(300)])
        for N, D in ((40, 8), (8, 40))
    )
    z = (wide.mean() - tall.mean()) / np.hypot(wide.std(), tall.std()) * np.sqrt(300)
    assert abs(z) < 4.0


def test_diverged_descent_is_a_status():
    record = run(Task(inputs=INPUTS, N=4, D=50, solver=GradientDescent(steps=10_000, step=50.0)))
    assert (record.status, record.loss) == ("diverged", math.inf)


def test_amplitudes_lost_to_rounding_do_no_harm():
    record = run(Task(inputs=SparseInputs(alpha1=0.2, alpha2=30.0), N=3, D=400))
    assert math.isfinite(record.loss)
    assert record.status in {"ok", "rank-deficient"}


def test_a_tolerance_of_zero_cuts_nothing():
    inputs = SparseInputs(alpha1=0.3, alpha2=0.3, dimension=50)
    record = run(Task(inputs=inputs, N=100, D=100, solver=MinNorm(rtol=0.0)))
    assert (record.status, record.rank) == ("ok", record.seen)


def test_control_mean_is_the_mean_of_the_control():
    """|z| < 4 over 400 data sets."""
    controls = np.array([run(Task(inputs=INPUTS, N=10**9, D=30, seed=s)).control for s in range(400)])
    assert abs(controls.mean() - INPUTS.expected_unseen(30)) < 4 * controls.std() / math.sqrt(400)
