"""A fitted law in a file: everything that its predictions, plans and forecasts need, as JSON.

``data_hash`` is the SHA-256 of the runs (names of sizes, then N, D, loss and scale as little-endian doubles,
in their own order): two files with one hash were fitted to the same runs, whatever the order of the rows.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.clean_runs import Runs, Sweeps
from sparselaw.fitting.design import by_name, prepare
from sparselaw.fitting.fitted_law import FittedLaw, fitted_law
from sparselaw.fitting.goodness import goodness
from sparselaw.fitting.minimise import Minimum, parse_objective
from sparselaw.interval import Interval, check_level
from sparselaw.laws import law_named

KIND = "sparselaw fitted law"
FIELDS = (
    "objective", "delta", "value", "gradient_norm", "status", "starts_tried", "starts_agreeing", "params",
    "sparsity", "draws", "level", "seed",
)  # fmt: skip
COLUMNS = {"loss": float, "scale": float, "group": np.int64, "row": np.int64, "compute": float, "seed": float}


def data_hash(runs: Runs) -> str:
    """Of the runs: see above."""
    digest = hashlib.sha256()
    for name, values in (*sorted(runs.sizes.items()), ("", runs.loss), ("", runs.scale)):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(values, "<f8").tobytes())
    return digest.hexdigest()


def law_content(fitted: FittedLaw) -> dict[str, Any]:
    """Everything of a fitted law, ready for JSON."""
    runs, minimum = fitted.runs, fitted.minimum
    columns = {name: getattr(runs, name) for name in COLUMNS}
    return {
        "data_hash": data_hash(runs),
        "law": fitted.name,
        **{name: _json(getattr(fitted, name)) for name in FIELDS},
        "leave_out": fitted.wants_leave_out,
        "values": _json({name: getattr(fitted.law, name) for name in fitted.law.parameters()}),
        "minimum": _json({"theta": minimum.theta, "basins": minimum.basins}),
        "runs": _json(
            {"sizes": runs.sizes, **columns, "sweeps": None if runs.sweeps is None else asdict(runs.sweeps)}
        ),
        "dropped": dict(fitted.dropped),
        "warnings": list(fitted.warnings),
    }


def law_of(content: dict[str, Any]) -> FittedLaw:
    """The law that ``law_content`` kept, made again from its runs, minimum and draws."""
    runs = _runs_of(content["runs"])
    if data_hash(runs) != content["data_hash"] or not isinstance(content["status"], str):
        raise ValueError
    design = prepare(law_named(content["law"]), runs)
    minimum = Minimum(
        theta=_array(content["minimum"]["theta"]),
        basins=_array(content["minimum"]["basins"]),
        value=_number(content["value"]),
        gradient_norm=_number(content["gradient_norm"]),
        converged=content["status"] != "not-converged",
        starts_tried=int(content["starts_tried"]),
        starts_agreeing=int(content["starts_agreeing"]),
    )
    drawn = _array(content["draws"]).reshape(-1, design.free)
    return fitted_law(
        design,
        parse_objective(content["objective"], content["delta"]),
        minimum,
        by_name(design.names, design.natural(minimum.theta), drawn),
        level=check_level(content["level"]),
        runs=runs,
        goodness=goodness(design.residuals(minimum.theta), runs, design.free),
        status=content["status"],
        wants_leave_out=bool(content["leave_out"]),
        dropped={str(name): int(count) for name, count in content["dropped"].items()},
        warnings=tuple(map(str, content["warnings"])),
        seed=int(content["seed"]),
    )


def _runs_of(content: dict[str, Any]) -> Runs:
    sizes = {str(name): _array(values) for name, values in content["sizes"].items()}
    known = {name: kind for name, kind in COLUMNS.items() if content.get(name) is not None}
    columns: dict[str, Any] = {name: _array(content[name]).astype(kind) for name, kind in known.items()}
    loss, sweeps = columns["loss"], content["sweeps"]
    positive = all((values > 0.0).all() for values in (loss, columns["scale"], *sizes.values()))
    if not positive or any(
        v.shape != (loss.size,) or not v.size for v in (*sizes.values(), *columns.values())
    ):
        raise ValueError
    if sweeps is not None:
        index, values = np.asarray(sweeps["index"], np.int64), _array(sweeps["values"])
        if index.shape != loss.shape or index.min() < 0 or index.max() >= values.size:
            raise ValueError
        sweeps = Sweeps(size=str(sweeps["size"]), other=str(sweeps["other"]), values=values, index=index)
    return Runs(sizes=sizes, sweeps=sweeps, **columns)


def _array(values: Any) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError
    return found


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _json(value: Any) -> Any:
    """Plain values; None for a number that is none."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: _json(part) for name, part in value.items()}
    if isinstance(value, Interval):
        return [_json(end) for end in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
