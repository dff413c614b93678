"""Where finished runs are kept. One kind of store is one file of this room and one line of this one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparselaw.errors import InputError
from sparselaw.files import beside, same_file
from sparselaw.sweeps.store.base import Store, Study
from sparselaw.sweeps.store.sqlite import SqliteStore

__all__ = ["KINDS", "SqliteStore", "Store", "Study", "default_store", "kind_of_file", "open_store"]

# The first is what a new file with any other ending becomes.
KINDS: list[type[Store]] = [SqliteStore]
_START = 100


def open_store(path: str | os.PathLike[str], *, read_only: bool = False) -> Store:
    """The store at ``path``: of the kind of the file that is there, or else of its ending."""
    named = (kind for kind in KINDS if Path(path).suffix.lower() in kind.endings)
    kind = kind_of_file(path) or next(named, KINDS[0])
    return kind(path, read_only=read_only)


def kind_of_file(path: str | os.PathLike[str]) -> type[Store] | None:
    """The kind of store that the file at ``path`` is; None if it is none, or not there. A device is none."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            start = file.read(_START)
    except OSError:
        return None
    return next((kind for kind in KINDS if kind.recognises(start)), None)


def default_store() -> Path:
    """The store used where none is named: in the user's data folder, made if need be."""
    from platformdirs import user_data_path

    folder = user_data_path("sparselaw", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        condition = f"the folder cannot be made ({error.strerror})"
        raise InputError("store", folder, condition, "name a file with --store") from None
    return folder / "runs.sqlite"


# A file that a command is to write: looked at before the work, and never a store of runs.

StorePath = str | os.PathLike[str] | None


def check_out_file(name: str, out: str, store: StorePath = None) -> Path:
    """Check, before the work begins, that the file can be written; return its real path.

    A store is never written over: neither ``store``, which may not be there yet, nor any other.
    """
    path = Path(os.path.realpath(out))
    if os.path.isdir(path) or not os.path.isdir(path.parent):
        why = "is a folder" if os.path.isdir(path) else "no such folder"
        raise InputError(name, out, f"cannot be written ({why})", "name a file in a folder that exists")
    check_no_store(name, path, out, store)
    with writing(name, out):
        if os.path.exists(path) and not os.access(path, os.W_OK):
            raise PermissionError(13, "Permission denied")
        if os.path.isfile(path) or not os.path.exists(path):  # as ``write_atomically``: a file beside it
            with tempfile.NamedTemporaryFile(prefix=beside(path), dir=path.parent):
                pass
    return path


def check_no_store(name: str, path: Path, out: str | Path, store: StorePath = None) -> None:
    """Refuse ``path``, given as ``out``, where its runs would be lost."""
    same = store is not None and same_file(path, store)
    if same or kind_of_file(path) is not None:
        raise InputError(name, out, "is a store of runs", "name another file: its runs would be lost")


@contextmanager
def writing(name: str, out: str | Path) -> Iterator[None]:
    """Turn an error of the system while a file is written into one line for the user."""
    try:
        yield
    except OSError as error:
        why = f"cannot be written ({error.strerror})"
        raise InputError(name, out, why, "name a file that you can write") from None
