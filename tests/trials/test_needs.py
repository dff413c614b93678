"""What a trial needs, before it starts."""

from __future__ import annotations

import pytest

from sparselaw.errors import InputError
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers import SGD
from sparselaw.trials.run import check_fits, needs_of
from sparselaw.trials.task import Task

INPUTS = SparseInputs(alpha1=1.0, alpha2=0.3)


@pytest.mark.parametrize(
    "task",
    [
        Task(inputs=INPUTS, N=4, D=10**13),
        Task(inputs=DenseInputs(alpha=2.3, dimension=10**9), N=10**6, D=10**7),
        Task(inputs=INPUTS, N=10**9, D=10**8, features="relu"),
        Task(inputs=INPUTS, N=4, D=1000, solver=SGD(passes=10**12)),
    ],
)
def test_cells_that_cannot_fit_are_refused_with_the_estimate(task):
    with pytest.raises(InputError, match=r"needs about .* GiB and .* s.*reduce"):
        check_fits(task)


def test_estimate_grows_with_the_cell():
    small, large = (needs_of(Task(inputs=INPUTS, N=100, D=D)) for D in (10**4, 10**7))
    assert small.memory < large.memory < 8 * 2**30
    assert small.seconds < large.seconds
