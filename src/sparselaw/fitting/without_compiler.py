"""Fits by array operations alone, for a process that fits once.

Sums of powers are minimised by compiled loops, five times as fast as array operations on a few hundred runs.
But to load the compiler and the code that it keeps takes three quarters of a second of the processor, more
than a table without draws has to do. Both take the same steps and end at the same minimum, to rounding;
which of them it was hangs on this switch alone and never on what the process did before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_ROWS = 1000
_without: ContextVar[bool] = ContextVar("without_compiler", default=False)


@contextmanager
def without_compiler(wanted: bool = True) -> Iterator[None]:
    """Where ``wanted``, fits made in this context do not load numba."""
    token = _without.set(wanted)
    try:
        yield
    finally:
        _without.reset(token)


def by_arrays(rows: int) -> bool:
    """Is a fit of so many rows made by array operations? Of a large table the compiled loops are worth it."""
    return _without.get() and rows <= MOST_ROWS
