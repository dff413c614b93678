"""Where finished runs are kept. One kind of store is one file of this room and one line of this one."""

from __future__ import annotations

import os
from pathlib import Path

from sparselaw.errors import InputError
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
