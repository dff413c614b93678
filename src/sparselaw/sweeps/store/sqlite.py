"""A store in one SQLite file, one row per task, committed as cells finish.

Write-ahead logging lets several commands read and write at once. Every write is one short transaction that
waits for its turn. A program killed at any moment leaves the committed rows and nothing else; a power cut
may also cost the last few commits, which are then run again.

Every row has a checksum of all its values. A row that does not match it is named and counts as not there, so
that it is computed again. A store of the first version, without checksums, is read as it is, and gets them
when it is opened to be written.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import struct
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sparselaw.errors import InputError, notice
from sparselaw.files import umask
from sparselaw.sweeps.store.base import (
    Store,
    Study,
    decode_record,
    encode_record,
    one_line,
    study_id,
    study_of,
)
from sparselaw.trials.task import Record, Task

APPLICATION = 0x53504C57  # "SPLW"
VERSION = 2  # 1 had no checksums
MAGIC = b"SQLite format 3\0"
_HEADER = 100
_PATIENCE = 120.0  # seconds to wait for another command's commit; one takes milliseconds
_SHOWN = 3  # damaged runs that are named
_OTHER_FILE = "name another file with --store"
_RESTORE = "restore a copy of it, or " + _OTHER_FILE
_OTHER_FOLDER = "name a file in a folder that you can write to with --store"

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

# The same task again changes nothing, unless what is there is a failure.
_ADD = """
INSERT INTO runs (id, study, N, D, seed, status, finished, seconds, task, record, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    status = excluded.status, finished = excluded.finished,
    seconds = excluded.seconds, record = excluded.record, checksum = excluded.checksum
WHERE runs.status = 'failed'
"""
_COLUMNS = "id, study, N, D, seed, status, finished, seconds, task, record"


class SqliteStore(Store):
    """An open SQLite file of runs."""

    endings = (".sqlite", ".sqlite3", ".db")

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = Path(os.path.realpath(path))
        with self._refusing():
            if not read_only and not self.path.exists():
                _create(self.path)
            _check(self.path)
        # A reader changes no row, but SQLite must clear its log away when the last one closes, which takes
        # write access. Where there is none, and no log either, nobody writes: the file is read as it is.
        frozen = read_only and not os.access(self.path.parent, os.W_OK) and not _has_log(self.path)
        mode = "ro&immutable=1" if frozen else "rw"
        with self._refusing():
            self._connection = sqlite3.connect(
                f"{self.path.as_uri()}?mode={mode}",
                uri=True,
                timeout=_PATIENCE,
                isolation_level=None,
                check_same_thread=False,  # a sweep may be left, and so closed, by another thread
            )
            self._connection.text_factory = lambda text: text.decode("utf-8", "replace")
            self._read_only = read_only
            if read_only:
                self._connection.execute("PRAGMA query_only = ON")
            else:
                self._connection.execute("PRAGMA synchronous = NORMAL")
                with self._writing():  # a folder that cannot be written is found out before any work is done
                    self._upgrade()
            self._checked = self._version() >= VERSION

    @classmethod
    def recognises(cls, start: bytes) -> bool:
        return start.startswith(MAGIC)

    def close(self) -> None:
        self._connection.close()

    def add(self, runs: Iterable[tuple[Task, Record, float]]) -> None:
        now = time.time()
        rows = []
        for task, record, seconds in runs:
            identity = task.identity()
            sizes = (float(task.N), float(task.D), float(task.seed))
            text = (one_line(identity), encode_record(record))
            row = (task.id, study_id(identity), *sizes, record.status, now, float(seconds), *text)
            rows.append((*row, _checksum(row)))
        with self._refusing(), self._writing():
            self._connection.executemany(_ADD, rows)

    def find(self, ids: Sequence[str]) -> dict[str, Record]:
        found: dict[str, Record] = {}
        damaged: list[str] = []
        wanted = set(ids)
        for row in self._rows("WHERE id IN (SELECT value FROM json_each(?))", [json.dumps(list(ids))]):
            record = self._record(row)
            if record is None or row[0] not in wanted:
                damaged.append(str(row[0]))
            else:
                found[row[0]] = record
        if damaged:
            self._forget(damaged)
        return found

    def studies(self) -> list[Study]:
        figures: dict[str, list[tuple[Any, ...]]] = {}
        tasks: dict[str, str] = {}
        for row in self._sound_rows():
            figures.setdefault(row[1], []).append(row[2:8])
            tasks[row[1]] = min(row[8], tasks.get(row[1], row[8]))
        found = []
        for name, rows in figures.items():
            N, D, seeds, statuses, finished, seconds = zip(*rows, strict=True)
            found.append(
                Study(
                    id=name,
                    identity=study_of(json.loads(tasks[name])),
                    runs=len(rows),
                    cells=len(set(zip(N, D, strict=True))),
                    seeds=len(set(seeds)),
                    N=(int(min(N)), int(max(N))),
                    D=(int(min(D)), int(max(D))),
                    failed=statuses.count("failed"),
                    finished=max(finished),
                    seconds=sum(seconds),
                )
            )
        return sorted(found, key=lambda study: (study.finished, study.id))

    def runs(
        self, *, study: str | None = None, status: str | None = None
    ) -> list[tuple[dict[str, Any], Record]]:
        kept = [
            (row[1], json.loads(row[8]), decode_record(row[9]))
            for row in self._sound_rows()
            if study in (None, row[1]) and status in (None, row[5])
        ]
        kept.sort(key=lambda run: (run[0], run[1]["N"], run[1]["D"], run[1]["seed"]))
        return [(identity, record) for _, identity, record in kept]

    def prune(
        self,
        *,
        study: str | None = None,
        status: str | None = None,
        before: float | None = None,
        other_engine_than: int | None = None,
    ) -> int:
        conditions = {
            "study = ?": study,
            "status = ?": status,
            "finished < ?": before,
            "json_valid(task) AND json_extract(task, '$.engine') <> ?": other_engine_than,
        }
        given = {text: value for text, value in conditions.items() if value is not None}
        where = "WHERE " + " AND ".join(given) if given else ""
        with self._refusing():
            with self._writing():
                delete = self._connection.execute(f"DELETE FROM runs {where}", [*given.values()])
                count = delete.rowcount
            if count:
                self._connection.execute("VACUUM")
        return count

    def _rows(self, where: str = "", values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Rows with all their values and the checksum, where they have one."""
        columns = f"{_COLUMNS}, checksum" if self._checked else _COLUMNS
        with self._refusing():
            yield from self._connection.execute(f"SELECT {columns} FROM runs {where}", tuple(values))

    def _sound_rows(self) -> Iterator[tuple[Any, ...]]:
        """Every row of the table that matches its checksum; the others are named. No index is trusted."""
        damaged = []
        for row in self._rows("NOT INDEXED"):
            if self._record(row) is None:
                damaged.append(str(row[0]))
            else:
                yield row
        if damaged:
            notice(f"{self.path}: {_named(damaged)} and left out; the sweep that made them runs them again")

    def _record(self, row: tuple[Any, ...]) -> Record | None:
        """The record of a row; None where it is damaged."""
        if self._checked and row[-1] != _checksum(row[:-1]):
            return None
        try:
            if not isinstance(json.loads(row[8]), dict):
                return None
            return decode_record(row[9])
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None

    def _forget(self, damaged: Sequence[str]) -> None:
        notice(f"{self.path}: {_named(damaged)} and run again")
        if not self._read_only:
            with self._refusing(), self._writing():
                self._connection.executemany("DELETE FROM runs WHERE id = ?", [(name,) for name in damaged])

    def _version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _upgrade(self) -> None:
        """Give the rows of the first version their checksums; one that is damaged already gets none."""
        if self._version() >= VERSION:
            return
        self._checked = False
        rows = [(_checksum(row), row[0]) for row in self._rows() if self._record(row) is not None]
        self._connection.execute("ALTER TABLE runs ADD COLUMN checksum TEXT NOT NULL DEFAULT ''")
        self._connection.executemany("UPDATE runs SET checksum = ? WHERE id = ?", rows)
        self._connection.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        # Asking for the write lock at the start: SQLite waits for it there, but not half-way.
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _refusal(self.path, error) from None
        except UnicodeDecodeError:  # SQLite's complaint quotes what is damaged
            raise InputError("store", self.path, "is damaged", "restore a copy of it") from None
        except OSError as error:
            condition = f"cannot be reached ({error.strerror})"
            raise InputError("store", self.path, condition, "name another file with --store") from None


def _checksum(row: Sequence[Any]) -> str:
    """A checksum of every value of a row, with its type."""
    return hashlib.blake2b(repr(tuple(row)).encode("utf-8", "replace"), digest_size=12).hexdigest()


def _named(damaged: Sequence[str]) -> str:
    shown = ", ".join(name[:16] for name in damaged[:_SHOWN])
    more = f" and {len(damaged) - _SHOWN} more" if len(damaged) > _SHOWN else ""
    return f"run {shown} is damaged" if len(damaged) == 1 else f"runs {shown}{more} are damaged"


# Which file is a store, and making a new one.
#
# A file is looked at with plain reads before SQLite may touch it: SQLite would leave its own files beside
# something that is not ours. The first 100 bytes of an SQLite file say what it is: its page size (byte 16),
# how many pages it has (28), and two numbers of the application, the version (60) and its mark (68).


def _check(path: Path) -> None:
    """Raise InputError unless ``path`` is a whole store of a version that is understood. Writes nothing."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist" if not path.exists() else "is not a file"
        raise InputError("store", path, what, _OTHER_FILE)
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError as error:
        condition = f"cannot be read ({error.strerror})"
        raise InputError("store", path, condition, "ask for access to it") from None
    if not header.startswith(MAGIC):
        raise InputError("store", path, "is not a store of sparselaw", _OTHER_FILE)
    if len(header) < _HEADER:
        raise InputError("store", path, "is cut short", _RESTORE)
    page, pages, version, application = struct.unpack_from(">16xH10xI28xi4xi", header)
    if application != APPLICATION:
        raise InputError("store", path, "is a database of another program", _OTHER_FILE)
    if version > VERSION:
        condition = f"was written by a newer sparselaw (version {version}, this one reads {VERSION})"
        raise InputError("store", path, condition, "upgrade sparselaw, or " + _OTHER_FILE)
    if _has_log(path):  # a log may hold the missing pages: SQLite has to judge
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as opened:
            (verdict,) = opened.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise InputError("store", path, "is damaged", _RESTORE)
    elif path.stat().st_size < (65536 if page == 1 else page) * pages:
        raise InputError("store", path, "is cut short", _RESTORE)


def _create(path: Path) -> None:
    """Make an empty store at ``path`` unless something is there: complete, or not at all."""
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", suffix=".new", dir=path.parent) as folder:
            fresh = Path(folder, "store")
            with closing(sqlite3.connect(fresh)) as connection:
                connection.executescript(_SCHEMA)
            os.chmod(fresh, 0o666 & ~umask())
            try:
                os.link(fresh, path)  # fails if another command made the store meanwhile: theirs is as good
            except FileExistsError:
                return
            except OSError:  # a file system without hard links
                if not path.exists():
                    os.rename(fresh, path)
    except OSError as error:
        condition = f"cannot be made ({error.strerror})"
        raise InputError("store", path, condition, _OTHER_FOLDER) from None


def _has_log(path: Path) -> bool:
    """Whether SQLite's write-ahead log is there: the store is in use, or was when its program was killed."""
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def _refusal(path: Path, error: sqlite3.Error) -> InputError:
    """What SQLite complained about, in one line for the person who named the file."""
    code = getattr(error, "sqlite_errorcode", 0)
    kind = code & 0xFF
    condition, remedy = f"cannot be used ({error})", "free the disk, or " + _OTHER_FILE
    if kind == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        condition, remedy = "the disk is full", "free some space and run again: what is committed is kept"
    elif kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        condition, remedy = "cannot be written", _OTHER_FOLDER
    elif kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        condition, remedy = "is damaged", _RESTORE
    elif kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        condition, remedy = "is held by another program", "close that program and run again"
    return InputError("store", path, condition, remedy)
