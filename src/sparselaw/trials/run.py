"""A task in, a record out; which trial it takes is in ``table``."""

from __future__ import annotations

from sparselaw.linalg.one_thread import one_thread
from sparselaw.trials.needs import check_fits
from sparselaw.trials.table import trial_of
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
    with one_thread():  # trials are small; what parallelism there is goes to running many of them
        return trial_of(task)(task)
