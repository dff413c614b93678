"""Which file is an SQLite store, and making a new one.

A file is looked at with plain reads before SQLite may touch it: SQLite would leave its own files beside
something that is not ours. The first 100 bytes of an SQLite file say what it is: its page size (byte 16),
how many pages it has (28), and two numbers of the application, the version (60) and its mark (68).
"""

from __future__ import annotations

import os
import sqlite3
import struct
import tempfile
from pathlib import Path

from sparselaw.errors import InputError
from sparselaw.files import umask

APPLICATION = 0x53504C57  # "SPLW"
VERSION = 2  # 1 had no checksums
_HEADER = 100
MAGIC = b"SQLite format 3\0"
_OTHER_FILE = "name another file with --store"

_SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    study TEXT NOT NULL,
    N REAL NOT NULL,
    D REAL NOT NULL,
    seed REAL NOT NULL,
    status TEXT NOT NULL,
    finished REAL NOT NULL,
    seconds REAL NOT NULL,
    task TEXT NOT NULL,
    record TEXT NOT NULL,
    checksum TEXT NOT NULL DEFAULT ''
);
CREATE INDEX runs_by_study ON runs (study, N, D, seed, status, finished);
PRAGMA journal_mode = WAL;
"""  # sizes and seeds are REAL because they may exceed 2^63; the exact ones are in the task


def check_store(path: Path) -> None:
    """Raise InputError unless ``path`` is a whole store of a version that is understood. Writes nothing."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist" if not path.exists() else "is not a file"
        raise InputError("store", path, what, _OTHER_FILE)
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError as error:
        raise InputError(
            "store", path, f"cannot be read ({error.strerror})", "ask for access to it"
        ) from None
    if not header.startswith(MAGIC):
        raise InputError("store", path, "is not a store of sparselaw", _OTHER_FILE)
    if len(header) < _HEADER:
        raise InputError("store", path, "is cut short", "restore a copy of it, or " + _OTHER_FILE)
    version, application = struct.unpack_from(">i4xi", header, 60)
    if application != APPLICATION:
        raise InputError("store", path, "is a database of another program", _OTHER_FILE)
    if version > VERSION:
        condition = f"was written by a newer sparselaw (version {version}, this one reads {VERSION})"
        raise InputError("store", path, condition, "upgrade sparselaw, or " + _OTHER_FILE)
    if has_log(path):  # a log may hold the missing pages: SQLite has to judge
        _check_pages(path)
    elif path.stat().st_size < _size_in_header(header):
        raise InputError("store", path, "is cut short", "restore a copy of it, or " + _OTHER_FILE)


def create_store(path: Path) -> None:
    """Make an empty store at ``path`` unless something is there: complete, or not at all."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    except OSError as error:
        condition = f"cannot be made ({error.strerror})"
        raise InputError(
            "store", path, condition, "name a file in a folder that you can write to with --store"
        ) from None
    os.close(handle)
    fresh = Path(name)
    try:
        connection = sqlite3.connect(fresh)
        try:
            connection.executescript(_SCHEMA)
        finally:
            connection.close()
        os.chmod(fresh, 0o666 & ~umask())
        _move_if_absent(fresh, path)
    except sqlite3.Error as error:
        raise refusal(path, error) from None
    except OSError as error:
        raise InputError(
            "store", path, f"cannot be made ({error.strerror})", "name another file with --store"
        ) from None
    finally:
        for leftover in (fresh, Path(f"{fresh}-wal"), Path(f"{fresh}-shm"), Path(f"{fresh}-journal")):
            leftover.unlink(missing_ok=True)


def has_log(path: Path) -> bool:
    """Whether SQLite's write-ahead log is there: the store is in use, or was when its program was killed."""
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def refusal(path: Path, error: sqlite3.Error) -> InputError:
    """What SQLite complained about, in one line for the person who named the file."""
    code = getattr(error, "sqlite_errorcode", 0)
    kind = code & 0xFF
    if kind == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return InputError(
            "store", path, "the disk is full", "free some space and run again: what is committed is kept"
        )
    if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return InputError(
            "store", path, "cannot be written", "name a file in a folder that you can write to with --store"
        )
    if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return InputError("store", path, "is damaged", "restore a copy of it, or " + _OTHER_FILE)
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return InputError("store", path, "is held by another program", "close that program and run again")
    return InputError("store", path, f"cannot be used ({error})", "free the disk, or " + _OTHER_FILE)


def _size_in_header(header: bytes) -> int:
    page = int.from_bytes(header[16:18], "big")
    return (65536 if page == 1 else page) * int.from_bytes(header[28:32], "big")


def _check_pages(path: Path) -> None:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        raise refusal(path, error) from None
    finally:
        connection.close()
    if verdict != "ok":
        raise InputError("store", path, "is damaged", "restore a copy of it, or " + _OTHER_FILE)


def _move_if_absent(fresh: Path, path: Path) -> None:
    try:
        os.link(fresh, path)  # fails if another command made the store in the meantime: theirs is as good
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not path.exists():
            os.rename(fresh, path)
