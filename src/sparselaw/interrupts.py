"""Ctrl-C as what it is, also where it comes while a compiled loop hands its result to Python.

The loop itself does not see it. It is raised in what numba calls to make the result, an array's type say, and
Python then complains with a SystemError of a result with an exception set.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ctrl_c_kept() -> Iterator[None]:
    """Raise KeyboardInterrupt where a SystemError comes of one."""
    try:
        yield
    except SystemError as error:
        if _comes_of_ctrl_c(error):
            raise KeyboardInterrupt from None
        raise


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
