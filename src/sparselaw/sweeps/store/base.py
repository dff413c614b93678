"""What a store must answer: it keeps records by the id of their task, and gives them back as they were."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from sparselaw.trials.task import Record, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What a store holds of one study."""

    id: str
    identity: dict[str, Any]  # of its tasks, without sizes and seed
    runs: int
    cells: int
    seeds: int
    N: tuple[int, int]
    D: tuple[int, int]
    failed: int
    finished: float  # when the last run ended, in seconds since 1970
    seconds: float  # that all runs took together

    def as_dict(self) -> dict[str, Any]:
        """Plain values: the settings of the study, its sizes, and what is there of it."""
        sizes = {"N": self.N, "D": self.D}
        return {
            "study": self.id,
            **self.identity,
            **{name: {"smallest": low, "largest": high} for name, (low, high) in sizes.items()},
            **{name: getattr(self, name) for name in ("cells", "seeds", "runs", "failed", "seconds")},
            "finished": datetime.fromtimestamp(self.finished, UTC).isoformat(timespec="seconds"),
        }


class Store(ABC):
    """An open store. A sweep needs ``find`` and ``add``; the rest is for those who look at what is kept.

    What ``add`` has returned from must survive the death of the program. A file that is not a store of its
    kind is refused with an InputError named "store", and not touched.
    """

    endings: ClassVar[tuple[str, ...]] = ()  # of the names of new files of this kind
    path: Path

    @abstractmethod
    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        """Open what is there; make it if nothing is, unless it is opened to be read only."""

    @classmethod
    @abstractmethod
    def recognises(cls, start: bytes) -> bool:
        """Whether a file whose first bytes these are is of this kind."""

    @abstractmethod
    def add(self, runs: Iterable[tuple[Task, Record, float]]) -> None:
        """Keep tasks with their records and the seconds each took: all of them, or none.

        A task that is there stays as it is, unless it had failed.
        """

    @abstractmethod
    def find(self, ids: Sequence[str]) -> dict[str, Record]:
        """The records of those tasks that are there, by id."""

    @abstractmethod
    def studies(self) -> list[Study]:
        """One entry per study, the most recent last."""

    @abstractmethod
    def runs(
        self, *, study: str | None = None, status: str | None = None
    ) -> list[tuple[dict[str, Any], Record]]:
        """Tasks (as plain values) with their records, sorted by study, sizes and seed."""

    @abstractmethod
    def prune(
        self,
        *,
        study: str | None = None,
        status: str | None = None,
        before: float | None = None,
        other_engine_than: int | None = None,
    ) -> int:
        """Delete the runs for which all the given conditions hold, and count them."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# Tasks and records as text: one spelling for each value, so that equal records are equal bytes.
#
# Numbers are written by their shortest exact decimal and come back bit for bit. JSON has no infinity, so a
# number that is not finite is written as {"float": "inf"}.


_FIELDS = {field.name: field.default for field in dataclasses.fields(Record)}
_OF_ONE_CELL = ("N", "D", "seed")


def encode_record(record: Record) -> str:
    """A record as one line of JSON, without the fields that have their default.

    >>> encode_record(Record(loss=float("inf"), status="infinite"))
    '{"loss":{"float":"inf"},"status":"infinite"}'
    """
    values = {name: getattr(record, name) for name in _FIELDS}
    return one_line({name: _json_value(value) for name, value in values.items() if value != _FIELDS[name]})


def decode_record(text: str) -> Record:
    """The record that was encoded. Fields this version does not know are left out."""
    found = json.loads(text, object_hook=lambda v: float(v["float"]) if v.keys() == {"float"} else v)
    values: dict[str, Any] = {name: value for name, value in found.items() if name in _FIELDS}
    if isinstance(values.get("averaged"), list):
        values["averaged"] = tuple(values["averaged"])
    return Record(**values)


def one_line(values: dict[str, Any]) -> str:
    """As JSON: what a task is, say."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)


def study_of(identity: dict[str, Any]) -> dict[str, Any]:
    """What the cells of one study have in common: everything but the sizes and the seed."""
    return {name: value for name, value in identity.items() if name not in _OF_ONE_CELL}


def study_id(identity: dict[str, Any]) -> str:
    """A short name of the study that a task belongs to."""
    return hashlib.sha256(one_line(study_of(identity)).encode()).hexdigest()[:8]


def _json_value(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_json_value(item) for item in value]
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value
