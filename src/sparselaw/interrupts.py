"""Ctrl-C: as what it is where a compiled loop hides it, and not twice where a program is stopping already.

A compiled loop itself does not see it. It is raised in what numba calls to make the result, an array's type
say, and Python then complains with a SystemError of a result with an exception set.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ctrl_c_kept() -> Iterator[None]:
    """Raise KeyboardInterrupt where another error comes of one: a SystemError, an import that was cut off."""
    try:
        yield
    except Exception as error:
        if _comes_of_ctrl_c(error):
            raise KeyboardInterrupt from None
        raise


@contextmanager
def no_more_ctrl_c() -> Iterator[None]:
    """For the short while in which a program that was told to stop puts away what it has."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def _comes_of_ctrl_c(error: BaseException) -> bool:
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        found = waiting.pop()
        if isinstance(found, KeyboardInterrupt):
            return True
        if found is not None and id(found) not in seen:
            seen.add(id(found))
            waiting += [found.__cause__, found.__context__]
    return False
