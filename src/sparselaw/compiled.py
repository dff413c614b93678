"""Loops that numba compiles: ``njit`` at once, ``lazy_njit`` when there is enough for them to do.

To load numba, and the machine code that it keeps on disk, takes half a second of work; a small trial takes a
millisecond. So numba is never loaded by importing this file. A loop of ``lazy_njit`` loads it by its first
call, and a program runs its first few small calls as the Python that they are: as many as take about a fifth
of that time. Both ways do the same operations in the same order and give the same bits.

Machine code is kept beside its source or in the user's cache folder. Where neither can be written, as in a
container with a read-only install and home, numba gives up with an error; here a folder of the user's own
among the temporary files takes their place, and where there is none either, nothing is kept.
"""

from __future__ import annotations

import os
import stat
import tempfile
import types
from collections.abc import Callable
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

FREE_STEPS = 100_000  # of a loop in Python, in one process, at about a microsecond each

Function = Callable[..., Any]


def _njit(**options: Any) -> Callable[[Function], Any]:
    """``numba.njit(cache=True, **options)``, or without the cache where there is no place for one."""
    import numba as untyped

    numba: Any = untyped  # what it has of types is not ours to follow

    def compiled(function: Function) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "locator" not in str(error):  # "cannot cache function: no locator available"
                raise
        return numba.njit(cache=_use_temporary_folder(), **options)(function)

    return compiled


if TYPE_CHECKING:  # numba's own has no types, and functions it compiles need none
    from numba import njit as njit
else:
    njit = _njit


class Kernel:
    """A function of arrays and numbers, compiled when it is first called."""

    _steps_left = FREE_STEPS
    _loaded = False

    def __init__(self, function: Function, options: dict[str, Any]) -> None:
        self._function, self._options = function, options
        update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        return self.fast(*args)

    def after(self, steps: float) -> Function:
        """The way to run a call of so many steps, about: plain, while the program has free ones left."""
        if Kernel._loaded or steps > Kernel._steps_left:
            return self.fast
        Kernel._steps_left -= int(steps)
        return self.plain

    @cached_property
    def fast(self) -> Function:
        Kernel._loaded = True
        compiled: Function = _njit(**self._options)(self._with_helpers("fast"))
        return compiled

    @cached_property
    def plain(self) -> Function:
        return self._with_helpers("plain")

    def _with_helpers(self, way: str) -> Function:
        """The function, with the kernels that it calls itself taken the same way."""
        function = self._function
        assert isinstance(function, types.FunctionType)
        seen = function.__globals__
        called = [n for n in function.__code__.co_names if isinstance(seen.get(n), Kernel)]
        if not called:
            return function
        helpers = {name: getattr(seen[name], way) for name in called}
        bound = types.FunctionType(function.__code__, {**seen, **helpers}, function.__name__)
        bound.__module__, bound.__qualname__ = function.__module__, function.__qualname__
        return bound


def lazy_njit(**options: Any) -> Callable[[Function], Kernel]:
    """As ``njit``, with the same options, but compiled by the first call that is worth it."""
    return lambda function: Kernel(function, options)


def _use_temporary_folder() -> bool:
    """Tell numba, and processes started later, of a temporary folder; False where there is none."""
    folder = _temporary_folder()
    if folder is None:
        return False
    from numba import config as untyped

    config: Any = untyped
    os.environ["NUMBA_CACHE_DIR"] = config.CACHE_DIR = folder
    return True


def _temporary_folder() -> str | None:
    """The same folder every time, but never one that others may write: the cache is code that will run."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    try:
        folder = Path(tempfile.gettempdir()) / f"sparselaw-numba-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        own = not hasattr(os, "getuid") or (found.st_uid == user and not found.st_mode & 0o077)
        private = own and stat.S_ISDIR(found.st_mode)
        return str(folder) if private else tempfile.mkdtemp(prefix="sparselaw-numba-")
    except OSError:
        return None
