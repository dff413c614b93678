"""Keeps the result of a computation that is not a trial in a file named after what was computed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sparselaw.trials.task import ENGINE_VERSION


def remember(folder: Path, name: str, settings: dict[str, Any], compute: Callable[[], Any]) -> Any:
    """The value of ``compute()``, plain JSON values only; computed once for the same name and settings."""
    key = json.dumps({"name": name, "engine": ENGINE_VERSION, **settings}, sort_keys=True)
    path = folder / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    if path.exists():
        return json.loads(path.read_text("utf-8"))
    value = compute()
    fresh = path.with_suffix(f".{os.getpid()}.part")
    fresh.write_text(json.dumps(value), "utf-8")
    os.replace(fresh, path)
    return json.loads(path.read_text("utf-8"))
