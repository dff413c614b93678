"""A store in one SQLite file, one row per task, committed as cells finish.

Write-ahead logging lets several commands read and write at once. Every write is one short transaction that
waits for its turn. A program killed at any moment leaves the committed rows and nothing else; a power cut
may also cost the last few commits, which are then run again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sparselaw.errors import InputError
from sparselaw.sweeps.encoding import decode_record, encode_identity, encode_record, study_id, study_of
from sparselaw.sweeps.store.base import Store, Study
from sparselaw.sweeps.store.sqlite_file import MAGIC, check_store, create_store, has_log, refusal
from sparselaw.trials.task import Record, Task

_PATIENCE = 120.0  # seconds to wait for another command's commit; one takes milliseconds
_IDS_PER_QUERY = 500

# The same task again changes nothing, unless what is there is a failure.
_ADD = """
INSERT INTO runs (id, study, N, D, seed, status, finished, seconds, task, record)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    status = excluded.status, finished = excluded.finished,
    seconds = excluded.seconds, record = excluded.record
WHERE runs.status = 'failed'
"""
_STUDIES = """
SELECT study, min(task), count(*), count(DISTINCT N || ' ' || D), count(DISTINCT seed),
       min(N), max(N), min(D), max(D), sum(status = 'failed'), max(finished), sum(seconds)
FROM runs GROUP BY study ORDER BY max(finished), study
"""


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
            if read_only:
                self._connection.execute("PRAGMA query_only = ON")
            else:
                self._connection.execute("PRAGMA synchronous = NORMAL")
                with self._writing():  # a folder that cannot be written is found out before any work is done
                    pass

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
        for start in range(0, len(ids), _IDS_PER_QUERY):
            some = ids[start : start + _IDS_PER_QUERY]
            marks = ",".join("?" * len(some))
            rows = self._read(f"SELECT id, record FROM runs WHERE id IN ({marks})", some)
            found.update((name, decode_record(text)) for name, text in rows)
        return found

    def studies(self) -> list[Study]:
        return [_study(*row) for row in self._read(_STUDIES)]

    def runs(
        self, *, study: str | None = None, status: str | None = None
    ) -> list[tuple[dict[str, Any], Record]]:
        where, values = _conditions(study=study, status=status)
        rows = self._read(f"SELECT study, task, record FROM runs {where}", values)
        decoded = [(name, json.loads(task), decode_record(record)) for name, task, record in rows]
        decoded.sort(key=lambda run: (run[0], run[1]["N"], run[1]["D"], run[1]["seed"]))
        return [(identity, record) for _, identity, record in decoded]

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

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._refusing():
            return self._connection.execute(query, tuple(values)).fetchall()

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
        except OSError as error:
            condition = f"cannot be reached ({error.strerror})"
            raise InputError("store", self.path, condition, "name another file with --store") from None


def _study(name: str, task: str, runs: int, cells: int, seeds: int, *rest: Any) -> Study:
    n_low, n_high, d_low, d_high, failed, finished, seconds = rest
    return Study(
        id=name,
        identity=study_of(json.loads(task)),
        runs=runs,
        cells=cells,
        seeds=seeds,
        N=(int(n_low), int(n_high)),
        D=(int(d_low), int(d_high)),
        failed=failed,
        finished=finished,
        seconds=seconds,
    )


def _row(task: Task, record: Record, seconds: float, now: float) -> tuple[Any, ...]:
    identity = task.identity()
    sizes = (float(task.N), float(task.D), float(task.seed))
    text = (encode_identity(identity), encode_record(record))
    return (task.id, study_id(identity), *sizes, record.status, now, seconds, *text)


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
        ("json_extract(task, '$.engine') <> ?", engine),
    ]
    given = [(text, value) for text, value in conditions if value is not None]
    where = "WHERE " + " AND ".join(text for text, _ in given) if given else ""
    return where, [value for _, value in given]
