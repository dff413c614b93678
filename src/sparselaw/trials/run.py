"""The one place where data, features, solver and risk meet: a task in, a record out."""

from __future__ import annotations

import functools

from threadpoolctl import ThreadpoolController

from sparselaw.trials.needs import check_fits
from sparselaw.trials.task import Record, Task


def run(task: Task) -> Record:
    """One trial. Same task, same bytes; a task that cannot fit in memory is refused before it starts.

    >>> from sparselaw.inputs import SparseInputs
    >>> record = run(Task(inputs=SparseInputs(alpha1=1.0, alpha2=0.3), N=10**12, D=1000))
    >>> record.status, record.averaged
    ('ok', ('teacher', 'test', 'unseen', 'u'))
    """
    task.inputs.check_drawable()
    check_fits(task)
    with _controller().limit(limits=1, user_api="blas"):
        return _dispatch(task)


def _dispatch(task: Task) -> Record:
    dense = task.inputs.sampling == "gaussian"
    if task.features == "relu":
        if dense:
            from sparselaw.trials.relu_dense import trial
        else:
            from sparselaw.trials.relu_sparse import trial
    elif dense:
        from sparselaw.trials.linear_dense import trial
    else:
        from sparselaw.trials.linear_sparse import trial
    return trial(task)


@functools.cache
def _controller() -> ThreadpoolController:
    """One BLAS thread a trial: sums are then the same to the last bit whatever the number of cores.

    Trials are small; what parallelism there is goes to running many of them.
    """
    import scipy.linalg  # noqa: F401  # its BLAS must be loaded to be found

    return ThreadpoolController()
