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
from sparselaw.fitting.fitted_law import FittedLaw
from sparselaw.fitting.goodness import goodness
from sparselaw.fitting.minimise import Minimum
from sparselaw.interval import Interval
from sparselaw.laws import law_named

KIND = "sparselaw fitted law"
FIELDS = (
    "objective", "delta", "value", "gradient_norm", "status", "starts_tried", "starts_agreeing", "rows_used",
    "sparsity_reason", "level", "seed",
)  # fmt: skip


def data_hash(runs: Runs) -> str:
    """Of the runs: see above."""
    digest = hashlib.sha256()
    for name, values in sorted(runs.sizes.items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(values, "<f8").tobytes())
    for values in (runs.loss, runs.scale):
        digest.update(np.ascontiguousarray(values, "<f8").tobytes())
    return digest.hexdigest()


def _columns(runs: Runs) -> dict[str, Any]:
    return {name: getattr(runs, name) for name in ("loss", "scale", "group", "row", "compute", "seed")}


def law_content(fitted: FittedLaw) -> dict[str, Any]:
    """Everything of a fitted law, ready for JSON."""
    runs, minimum = fitted.runs, fitted.minimum
    return {
        "data_hash": data_hash(runs),
        "law": fitted.name,
        **{name: _json(getattr(fitted, name)) for name in FIELDS},
        "leave_out": fitted.wants_leave_out,
        "params": {name: list(map(_json, value)) for name, value in fitted.params.items()},
        "sparsity": None
        if fitted.sparsity is None
        else {name: list(map(_json, value)) for name, value in fitted.sparsity.items()},
        "values": {name: _json(getattr(fitted.law, name)) for name in fitted.law.parameters()},
        "draws": fitted.draws.tolist(),
        "residuals": fitted.residuals.tolist(),
        "minimum": {"theta": minimum.theta.tolist(), "basins": minimum.basins.tolist()},
        "runs": {
            "sizes": {name: values.tolist() for name, values in runs.sizes.items()},
            **{name: None if v is None else v.tolist() for name, v in _columns(runs).items()},
            "sweeps": None
            if runs.sweeps is None
            else {name: v if isinstance(v, str) else v.tolist() for name, v in asdict(runs.sweeps).items()},
        },
        "dropped": dict(fitted.dropped),
        "warnings": list(fitted.warnings),
    }


def law_of(content: dict[str, Any]) -> FittedLaw:
    """The law that ``law_content`` kept."""
    kind = law_named(content["law"])
    values = {name: _number(content["values"][name]) for name in kind.parameters()}
    runs = _runs_of(content["runs"])
    params = {str(name): Interval(*map(_number, ends)) for name, ends in content["params"].items()}
    draws = _array(content["draws"]).reshape(-1, len(params))
    residuals = _array(content["residuals"])
    if residuals.size != len(runs) or data_hash(runs) != content["data_hash"]:
        raise ValueError
    sparsity = content["sparsity"]
    fields: dict[str, Any] = {name: content[name] for name in FIELDS}
    if not all(value is None or isinstance(value, (str, int, float)) for value in fields.values()):
        raise TypeError
    return FittedLaw(
        law=kind(**values),
        params=params,
        sparsity=None
        if sparsity is None
        else {str(name): Interval(*map(_number, ends)) for name, ends in sparsity.items()},
        goodness=goodness(residuals, runs, len(params)),
        draws=draws,
        runs=runs,
        residuals=residuals,
        minimum=Minimum(
            theta=_array(content["minimum"]["theta"]),
            basins=_array(content["minimum"]["basins"]),
            value=_number(content["value"]),
            gradient_norm=_number(content["gradient_norm"]),
            converged=content["status"] != "not-converged",
            starts_tried=int(content["starts_tried"]),
            starts_agreeing=int(content["starts_agreeing"]),
        ),
        wants_leave_out=bool(content["leave_out"]),
        dropped={str(name): int(count) for name, count in content["dropped"].items()},
        warnings=tuple(map(str, content["warnings"])),
        **fields | {"value": _number(content["value"]), "gradient_norm": _number(content["gradient_norm"])},
    )


def _runs_of(content: dict[str, Any]) -> Runs:
    loss = _array(content["loss"])
    sizes = {str(name): _array(values) for name, values in content["sizes"].items()}
    kinds = {
        "scale": np.float64,
        "group": np.int64,
        "row": np.int64,
        "compute": np.float64,
        "seed": np.float64,
    }
    arrays: dict[str, Any] = {
        name: None if content.get(name) is None else _array(content[name]).astype(kind)
        for name, kind in kinds.items()
    }
    given = [*sizes.values(), *(values for values in arrays.values() if values is not None)]
    positive = all(bool((values > 0.0).all()) for values in (loss, *sizes.values(), arrays["scale"]))
    if not loss.size or not positive or any(values.shape != loss.shape for values in given):
        raise ValueError
    sweeps = content["sweeps"]
    if sweeps is not None:
        index = np.asarray(sweeps["index"], np.int64)
        sweeps = Sweeps(
            size=str(sweeps["size"]), other=str(sweeps["other"]), values=_array(sweeps["values"]), index=index
        )
        if index.shape != loss.shape or index.min() < 0 or index.max() >= sweeps.values.size:
            raise ValueError
    return Runs(sizes=sizes, loss=loss, sweeps=sweeps, **arrays)


def _array(values: Any) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError
    return found


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _json(value: Any) -> Any:
    """Plain values; None for a number that is none."""
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
