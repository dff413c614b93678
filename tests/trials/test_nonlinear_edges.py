"""Nonlinear trials at the smallest sizes, far above the dimension, and where descents diverge."""

import numpy as np
import pytest

from sparselaw.errors import InputError
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov
from sparselaw.trials.run import run
from sparselaw.trials.task import Task

SPARSE = SparseInputs(alpha1=1.0, alpha2=0.3)
DENSE = DenseInputs(alpha=2.3, dimension=40)


def relu_task(inputs, size, **options):
    return Task(inputs=inputs, N=size[0], D=size[1], features="relu", **options)


@pytest.mark.parametrize("inputs", [SPARSE, DENSE, DenseInputs(alpha=12.0, dimension=2000)])
@pytest.mark.parametrize("size", [(1, 1), (1, 5), (5, 1), (900, 1), (1000, 20), (3, 3)])
@pytest.mark.parametrize("solver", [MinNorm(), Nesterov(max_iterations=50), SGD(passes=1)])
def test_edges(inputs, size, solver):
    record = run(relu_task(inputs, size, solver=solver))
    assert np.isfinite(record.loss)
    assert record.loss >= 0
    assert record == run(relu_task(inputs, size, solver=solver))


@pytest.mark.parametrize("inputs", [SPARSE, DENSE])
@pytest.mark.parametrize("size", [(6, 60), (60, 6), (900, 6)])
@pytest.mark.parametrize("solver", [GradientDescent(steps=10**5, step=100.0), SGD(passes=900, step=100.0)])
def test_divergence_is_a_record(inputs, size, solver):
    record = run(relu_task(inputs, size, solver=solver))
    assert (record.status, record.loss) == ("diverged", np.inf)


def test_an_infinite_dense_dimension_is_refused():
    with pytest.raises(InputError, match="dimension=inf"):
        run(relu_task(DenseInputs(alpha=2.3, dimension=np.inf), (4, 4)))
