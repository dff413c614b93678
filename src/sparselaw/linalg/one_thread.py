"""One thread for linear algebra: sums then round alike whatever the number of cores."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

_one_at_a_time = threading.RLock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, BLAS and LAPACK use one thread.

    The limit belongs to the process. So callers in several threads take turns: one that leaves would take the
    limit from the others.

    >>> import numpy as np
    >>> with one_thread():
    ...     product = np.ones((2, 3)) @ np.ones((3, 1))
    """
    with _one_at_a_time, _controller().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  # its BLAS must be loaded to be found

    return ThreadpoolController()
