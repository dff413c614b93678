"""Results of computations that are not trials, each in a file named after what was computed.

A file that cannot be read, whatever became of it, counts as missing: its value is computed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sparselaw.files import write_atomically
from sparselaw.trials.task import ENGINE_VERSION

T = TypeVar("T")
UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError
)  # fmt: skip


def remember(
    folder: Path, name: str, settings: dict[str, Any], compute: Callable[[], Any], read: Callable[[Any], T]
) -> T:
    """``read`` of the plain JSON values that ``compute()`` gives; computed once for a name and settings."""
    key = json.dumps({"name": name, "engine": ENGINE_VERSION, **settings}, sort_keys=True)
    path = folder / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    found = read_json(path, read)
    if found is None:
        write_text(path, json.dumps(compute()))
        return read(json.loads(path.read_text("utf-8")))
    return found


def read_json(path: Path, read: Callable[[Any], T]) -> T | None:
    """What ``read`` makes of a file's values; None where there is no such file or it makes no sense."""
    try:
        return read(json.loads(path.read_text("utf-8")))
    except UNREADABLE:
        return None


def write_text(path: Path, text: str) -> None:
    """The whole file or nothing of it."""
    with write_atomically(path) as file:
        file.write(text.encode("utf-8"))
