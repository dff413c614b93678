"""Stores of runs with damaged rows, pages and headers; the sweep that made them says what the answer is."""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import sys
import tempfile
from pathlib import Path

from fuzz.cases import Case, Draw

SWEEP = ("simulate", "--alpha1", "1", "--alpha2", "0.3", "-N", "4,8", "-D", "8", "--seeds", "4", "--quiet",
         "--workers", "1", "--store", "s.sqlite", "--out", "out.csv")  # fmt: skip
COLUMNS = ("id", "study", "N", "D", "seed", "status", "finished", "seconds", "task", "record", "checksum")
VALUES = (
    "NULL",
    "''",
    "'x'",
    "x'ff00'",
    "0",
    "-1",
    "1e999",
    "'[]'",
    "'{}'",
    "CAST(x'ff' AS TEXT)",
    "'{\"loss\":3}'",
)


@functools.cache
def whole() -> tuple[bytes, bytes]:
    """A sound store, and what its sweep writes."""
    from sparselaw.cli import main

    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        out, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115
        try:
            with contextlib.suppress(SystemExit):
                main([*SWEEP])
            return Path("s.sqlite").read_bytes(), Path("out.csv").read_bytes()
        finally:
            sys.stdout = out
            os.chdir(before)


def store(draw: Draw) -> Case:
    """A damaged store, looked at or gone on with."""
    content = whole()[0]
    if draw.chance(0.5):
        content = changed(draw, content)
    if draw.chance(0.6):
        content = draw.noise(content)
    commands = (SWEEP, SWEEP, ("runs", "list", "--store", "s.sqlite"), ("runs", "--store", "s.sqlite",
    "--json"),
                ("runs", "export", "--store", "s.sqlite", "--out", "out.csv"),
                ("runs", "prune", "--store", "s.sqlite", "--old-engine"),
                ("runs", "prune", "--store", "s.sqlite", "--status", "failed"))  # fmt: skip
    return Case(kind="stores", arguments=draw.pick(commands), files={"s.sqlite": content})


def changed(draw: Draw, content: bytes) -> bytes:
    """Some cells with other values; the checksums stay."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.sqlite")
        path.write_bytes(content)
        connection = sqlite3.connect(path)
        for _ in range(draw.whole(1, 3)):
            where = f"WHERE seed = {draw.whole(0, 4)}" if draw.chance(0.8) else ""
            query = f"UPDATE runs SET {draw.pick(COLUMNS)} = {draw.pick(VALUES)} {where}"
            with contextlib.suppress(sqlite3.Error), connection:
                connection.execute(query)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path.read_bytes()
