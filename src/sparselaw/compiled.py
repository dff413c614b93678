"""Numba's compiler with a cache that is always somewhere.

Compiled code is kept beside its source or in the user's cache folder. Where neither can be written, as in a
container with a read-only install and home, numba gives up with an error; here a folder of the user's own
among the temporary files takes their place, and where there is none either, nothing is kept.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba as typed_numba

Function = Callable[..., Any]
numba: Any = typed_numba  # what it has of types is not ours to follow


def _njit(**options: Any) -> Callable[[Function], Any]:
    """``numba.njit(cache=True, **options)``, or without the cache where there is no place for one."""

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


def _use_temporary_folder() -> bool:
    """Tell numba, and processes started later, of a temporary folder; False where there is none."""
    folder = _temporary_folder()
    if folder is None:
        return False
    os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = folder
    return True


def _temporary_folder() -> str | None:
    """The same folder every time, but never one that others may write: the cache is code that will run."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    try:
        folder = Path(tempfile.gettempdir()) / f"sparselaw-numba-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        return str(folder) if _is_private(folder) else tempfile.mkdtemp(prefix="sparselaw-numba-")
    except OSError:
        return None


def _is_private(folder: Path) -> bool:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return False
    return not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
