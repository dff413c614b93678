"""The one place where data, features, solver and risk meet: a task in, a record out."""

from __future__ import annotations

from sparselaw.estimate import check_fits
from sparselaw.problem import DenseInputs
from sparselaw.task import Record, Task


def run(task: Task) -> Record:
    """One trial. Same task, same bytes; a task that cannot fit in memory is refused before it starts.

    >>> from sparselaw.problem import SparseInputs
    >>> record = run(Task(problem=SparseInputs(alpha1=1.0, alpha2=0.3), N=10**12, D=1000))
    >>> record.status, record.averaged
    ('ok', ('teacher', 'test', 'unseen', 'u'))
    """
    check_fits(task)
    dense = isinstance(task.problem, DenseInputs)
    if task.features == "relu":
        if dense:
            from sparselaw.risk.relu_dense import trial
        else:
            from sparselaw.risk.relu_sparse import trial
    elif dense:
        from sparselaw.risk.linear_dense import trial
    else:
        from sparselaw.risk.linear_sparse import trial
    return trial(task)
