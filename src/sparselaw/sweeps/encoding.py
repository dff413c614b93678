"""Tasks and records as text: one spelling for each value, so that equal records are equal bytes.

FloatArray are written by their shortest exact decimal and come back bit for bit. JSON has no infinity, so a
number that is not finite is written as {"float": "inf"}.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from typing import Any

from sparselaw.trials.task import Record

_FIELDS = {field.name: field.default for field in dataclasses.fields(Record)}
_OF_ONE_CELL = ("N", "D", "seed")


def encode_record(record: Record) -> str:
    """A record as one line of JSON, without the fields that have their default.

    >>> encode_record(Record(loss=float("inf"), status="infinite"))
    '{"loss":{"float":"inf"},"status":"infinite"}'
    """
    values = {name: getattr(record, name) for name in _FIELDS}
    return _dump({name: _plain(value) for name, value in values.items() if value != _FIELDS[name]})


def decode_record(text: str) -> Record:
    """The record that was encoded. Fields this version does not know are left out."""
    values: dict[str, Any] = {}
    for name, value in json.loads(text, object_hook=_number).items():
        if name in _FIELDS:
            values[name] = tuple(value) if isinstance(value, list) else value
    return Record(**values)


def encode_identity(identity: dict[str, Any]) -> str:
    """What a task is, as one line of JSON."""
    return _dump(identity)


def study_of(identity: dict[str, Any]) -> dict[str, Any]:
    """What the cells of one study have in common: everything but the sizes and the seed."""
    return {name: value for name, value in identity.items() if name not in _OF_ONE_CELL}


def study_id(identity: dict[str, Any]) -> str:
    """A short name of the study that a task belongs to."""
    return hashlib.sha256(encode_identity(study_of(identity)).encode()).hexdigest()[:8]


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def _number(values: dict[str, Any]) -> Any:
    return float(values["float"]) if values.keys() == {"float"} else values
