"""Results in files: JSON with the version, the settings and the runs, from which the result is made again.

A forecast, a plan and a comparison follow from their runs and settings alone, so these are what is kept. The
runs are a few numbers each, and making the result again takes a second or less. ``data_hash`` is the SHA-256
of N, D, loss and scale as little-endian doubles, in an order that depends on their values alone: two files
with one hash have the same runs, whatever the order of the rows. Nothing in a file is trusted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.forecasting.forecast_result import Forecast, Prepared, prepare
from sparselaw.forecasting.known_runs import KnownRuns
from sparselaw.records import FORMAT

MOST_BYTES = 1_000_000_000
DAMAGED = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError)


def load_saved(path: str | Path, makers: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Any:
    """What the maker for the kind of this file makes of its content; one line where it cannot."""
    file = Path(path)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise InputError("path", path, "is larger than any saved result", "check the name")
        content = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise InputError("path", path, "does not exist", "check the name") from None
    except OSError as error:
        raise InputError("path", path, f"cannot be read ({error.strerror})", "check the name") from None
    except (ValueError, RecursionError):
        raise _refused(path, "is not JSON") from None
    kind = content.get("kind") if isinstance(content, dict) else None
    make = makers.get(kind) if isinstance(kind, str) else None
    if make is None:
        raise _refused(path, "is no saved result")
    if content.get("format") != FORMAT:
        written = str(content.get("version"))[:20]
        raise InputError("path", path, f"was written by another version ({written})", "make it again")
    try:
        return make(content)
    except InputError as error:
        raise _refused(path, f"is damaged ({error})") from None
    except DAMAGED as error:
        raise _refused(path, f"is damaged ({type(error).__name__})") from None


def _refused(path: str | Path, condition: str) -> InputError:
    return InputError("path", path, condition, "give a file that save(path) or --out wrote")


def data_hash(runs: KnownRuns) -> str:
    """Of the runs: see above."""
    ordered, digest = runs.in_order(), hashlib.sha256()
    for values in (ordered.N, ordered.D, ordered.loss, ordered.scale):
        digest.update(np.ascontiguousarray(values, "<f8").tobytes())
    return digest.hexdigest()


def runs_content(runs: KnownRuns) -> dict[str, Any]:
    """Runs for a file, and their hash."""
    columns = {name: getattr(runs, name) for name in ("N", "D", "loss", "scale", "group", "row", "seed")}
    return {
        "data_hash": data_hash(runs),
        "runs": {name: None if v is None else v.tolist() for name, v in columns.items()},
    }


def runs_of(content: Mapping[str, Any]) -> KnownRuns:
    """The runs that ``runs_content`` kept."""
    given = content["runs"]
    N, D, loss, scale = (positive(given[name]) for name in ("N", "D", "loss", "scale"))
    group, row = (
        None if given[name] is None else np.asarray(given[name], np.int64) for name in ("group", "row")
    )
    seed = None if given.get("seed") is None else np.asarray(given["seed"], np.float64)
    runs = KnownRuns(N=N, D=D, loss=loss, scale=scale, group=group, row=row, seed=seed)
    sizes = {v.shape for v in (N, D, loss, scale, group, row, seed) if v is not None}
    if len(sizes) != 1 or loss.ndim != 1 or data_hash(runs) != content["data_hash"]:
        raise ValueError
    return runs


def prepared_of(content: Mapping[str, Any]) -> Prepared:
    """The runs that ``Prepared.kept`` gave, with their posterior."""
    return replace(
        prepare(runs_of(content)),
        dropped={str(name): int(count) for name, count in content["dropped"].items()},
        notes=tuple(map(str, content["notes"])),
        pooled=tuple(map(str, content["pooled"])),
    )


def forecast_of(content: Mapping[str, Any]) -> Forecast:
    """The forecast that ``Forecast.kept`` gave, made again."""
    points = [(number(p["N"]), number(p["D"])) for p in content["points"]]
    budgets = [number(p["budget"]) for p in content["points"] if p["budget"] is not None]
    if budgets and len(budgets) != len(points):
        raise ValueError
    return prepared_of(content).forecast(points, budgets, number(content["level"]))


def number(value: Any) -> float:
    """A number, and not what Python would take for one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return float(value)


def positive(values: Any) -> FloatArray:
    """An array of positive numbers."""
    found = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(found) & (found > 0.0)).all():
        raise ValueError
    return found
