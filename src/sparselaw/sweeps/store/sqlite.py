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
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sparselaw.errors import InputError, notice
from sparselaw.sweeps.store.base import (
    Store,
    Study,
    decode_record,
    encode_identity,
    encode_record,
    study_id,
    study_of,
)
from sparselaw.sweeps.store.sqlite_file import MAGIC, VERSION, check_store, create_store, has_log, refusal
from sparselaw.trials.task import Record, Task

_PATIENCE = 120.0  # seconds to wait for another command's commit; one takes milliseconds
_IDS_PER_QUERY = 500

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
_SHOWN = 3  # damaged runs that are named


class SqliteStore(Store):
    """An open SQLite file of runs."""

    endings = (".sqlite", ".sqlite3", ".db")

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = Path(os.path.realpath(path))
        with self._refusing():
            if not read_only and not self.path.exists():
                create_store(self.path)
            check_store(self.path)
        # A reader changes no row, but SQLite must clear its log away when the last one closes, which takes
        # write access. Where there is none, and no log either, nobody writes: the file is read as it is.
        frozen = read_only and not os.access(self.path.parent, os.W_OK) and not has_log(self.path)
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
        rows = [_row(task, record, seconds, now) for task, record, seconds in runs]
        with self._refusing(), self._writing():
            self._connection.executemany(_ADD, rows)

    def find(self, ids: Sequence[str]) -> dict[str, Record]:
        found: dict[str, Record] = {}
        damaged: list[str] = []
        for start in range(0, len(ids), _IDS_PER_QUERY):
            some = ids[start : start + _IDS_PER_QUERY]
            marks = ",".join("?" * len(some))
            wanted = set(some)
            for row in self._rows(f"WHERE id IN ({marks})", some):
                record = self._record(row)
                if record is None or row[0] not in wanted:
                    damaged.append(str(row[0]))
                else:
                    found[row[0]] = record
        if damaged:
            self._forget(damaged)
        return found

    def studies(self) -> list[Study]:
        found: dict[str, _Summary] = {}
        for row in self._sound_rows():
            found.setdefault(row[1], _Summary(row[8])).add(row)
        studies = [summary.study(name) for name, summary in found.items()]
        return sorted(studies, key=lambda study: (study.finished, study.id))

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
        where, values = _conditions(study=study, status=status, before=before, engine=other_engine_than)
        with self._refusing():
            with self._writing():
                count = self._connection.execute(f"DELETE FROM runs {where}", values).rowcount
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
            raise refusal(self.path, error) from None
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


class _Summary:
    """What a store holds of one study, row by row."""

    def __init__(self, task: str) -> None:
        self._task, self._cells, self._seeds = task, set[tuple[float, float]](), set[float]()
        self._runs = self._failed = 0
        self._finished = self._seconds = 0.0

    def add(self, row: tuple[Any, ...]) -> None:
        _, _, N, D, seed, status, finished, seconds, task, *_ = row
        self._task = min(self._task, task)
        self._cells.add((N, D))
        self._seeds.add(seed)
        self._runs, self._failed = self._runs + 1, self._failed + (status == "failed")
        self._finished, self._seconds = max(self._finished, finished), self._seconds + seconds

    def study(self, name: str) -> Study:
        return Study(
            id=name,
            identity=study_of(json.loads(self._task)),
            runs=self._runs,
            cells=len(self._cells),
            seeds=len(self._seeds),
            N=(int(min(N for N, _ in self._cells)), int(max(N for N, _ in self._cells))),
            D=(int(min(D for _, D in self._cells)), int(max(D for _, D in self._cells))),
            failed=self._failed,
            finished=self._finished,
            seconds=self._seconds,
        )


def _row(task: Task, record: Record, seconds: float, now: float) -> tuple[Any, ...]:
    identity = task.identity()
    sizes = (float(task.N), float(task.D), float(task.seed))
    text = (encode_identity(identity), encode_record(record))
    row = (task.id, study_id(identity), *sizes, record.status, now, float(seconds), *text)
    return (*row, _checksum(row))


def _conditions(
    *,
    study: str | None = None,
    status: str | None = None,
    before: float | None = None,
    engine: int | None = None,
) -> tuple[str, list[Any]]:
    conditions: list[tuple[str, Any]] = [
        ("study = ?", study),
        ("status = ?", status),
        ("finished < ?", before),
        ("json_valid(task) AND json_extract(task, '$.engine') <> ?", engine),
    ]
    given = [(text, value) for text, value in conditions if value is not None]
    where = "WHERE " + " AND ".join(text for text, _ in given) if given else ""
    return where, [value for _, value in given]
