"""Trials whose rows are dependent: the sparse factor against the dense one with pivoting, same seeds."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import sparselaw.data.factor as factor_of_rows
import sparselaw.trials.linear_trials as engine
from sparselaw.data.factor import factorise
from sparselaw.inputs import SparseInputs
from sparselaw.solvers import GradientDescent, MinNorm, Ridge
from sparselaw.trials.run import run
from sparselaw.trials.task import Task

SOLVERS = [MinNorm(), MinNorm(rtol=1e-4), Ridge(ridge=0.01), GradientDescent(steps=30)]


@pytest.fixture(autouse=True)
def sparse_however_small(monkeypatch):
    monkeypatch.setattr(factor_of_rows, "LAPACK_ROWS", 0)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize(
    ("alpha1", "alpha2", "dimension", "D"),
    [(0.2, 0.3, np.inf, 100), (0.3, 1.0, np.inf, 300), (0.45, -1.0, 1000, 400)],
)
def test_records_are_those_of_the_dense_factor(alpha1, alpha2, dimension, D, solver, monkeypatch):
    """Below, above and far above the rank, with label noise and without."""
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=dimension)
    tasks = [
        Task(inputs=inputs, N=N, D=D, solver=solver, noise=noise, seed=seed)
        for N, noise in ((20, 0.0), (400, 0.0), (400, 0.1), (10**6, 0.0))
        for seed in range(2)
    ]
    sparse = [run(task) for task in tasks]
    calls = []
    monkeypatch.setattr(engine, "sparse_factor", lambda gram: calls.append(1) or factorise(gram))
    dense = [run(task) for task in tasks]
    assert len(calls) == len(tasks)
    for one, other in zip(sparse, dense, strict=True):
        assert one.rank < one.seen
        assert one.loss == pytest.approx(other.loss, rel=1e-9, abs=0.0)
        assert same_but_numbers(one) == same_but_numbers(other)


def same_but_numbers(record):
    return dataclasses.replace(record, loss=0.0, gradient=None)
