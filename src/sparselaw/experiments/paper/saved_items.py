"""A finished item in the folder: its picture, its table, and what the report says of it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sparselaw.experiments.paper.contents import NAMES
from sparselaw.experiments.paper.item import Item, Quantity, Result, Row
from sparselaw.files import write_atomically
from sparselaw.interval import Interval
from sparselaw.sweeps.runs_table import write_table
from sparselaw.trials.task import ENGINE_VERSION

KEPT = "kept"
# The row of an item that has no number, so that the summary lists it too.
PICTURE = Quantity(quantity="a picture, no number to compare", printed=None, measured=None).as_dict()


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedItem:
    """What is kept of an item besides its picture and its table."""

    title: str
    caption: str
    notes: list[str]
    quick: bool
    seconds: float
    processor_seconds: float | None = None  # not kept by earlier versions
    quantities: list[Row]
    tables: list[dict[str, Any]] = field(default_factory=list)  # title, columns, rows

    @property
    def rows(self) -> list[Row]:
        """Its rows in the summary: at least one, so that every item is listed."""
        return self.quantities or [PICTURE]


def save_item(folder: Path, item: Item, result: Result, quick: bool, spent: tuple[float, float]) -> None:
    """Picture and table first: what is kept says that they are there. ``spent``: clock, processor (s)."""
    _write_pictures(folder, item.name, result, quick)
    write_table(folder / f"{item.name}.csv", list(result.rows), always=())
    saved = SavedItem(
        title=item.title,
        caption=result.caption,
        notes=list(result.notes),
        quick=quick,
        seconds=spent[0],
        processor_seconds=spent[1],
        quantities=[quantity.as_dict() for quantity in result.quantities],
        tables=[asdict(table) for table in result.tables],
    )
    write_text(folder / KEPT / f"{item.name}.json", json.dumps(asdict(saved), indent=1, allow_nan=False))


def load_items(folder: Path) -> tuple[dict[str, SavedItem], list[str]]:
    """The finished items of the folder in the paper's order, and the names of those that cannot be read."""
    saved: dict[str, SavedItem] = {}
    lost = []
    for name in NAMES:
        path = folder / KEPT / f"{name}.json"
        if path.exists():
            found = read_json(path, _checked)
            if found is None or not (folder / f"{name}.svg").is_file():
                lost.append(name)
            else:
                saved[name] = found
    return saved, lost


def _checked(content: Mapping[str, Any]) -> SavedItem:
    """What a kept file says; ValueError, TypeError or KeyError where it is not what ``write_made`` writes."""
    json.dumps(content, allow_nan=False, ensure_ascii=False).encode()  # every number finite, every text whole
    saved = SavedItem(**content)
    _must_be(str, saved.title, saved.caption, *_list(saved.notes))
    _must_be(bool, saved.quick)
    _must_be(float, saved.seconds, *_given(saved.processor_seconds))
    for row in _list(saved.quantities):
        _check_row(row)
    for table in _list(saved.tables):
        _must_be(str, table["title"], *_list(table["columns"]))
        for line in _list(table["rows"]):
            _must_be(str, *_list(line))
    return saved


def _check_row(row: Row) -> None:
    _must_be(str, *(row[key] for key in ("quantity", "interval", "verdict", "reason", "why")))
    _must_be(float, *_given(row["paper"]), *_given(row["theory"]))
    _must_be(bool, row["paper_is_bound"])
    if row["measured"] is not None:
        _must_be(float, *Interval(**row["measured"]).as_dict().values())


def _must_be(kind: type, *values: Any) -> None:
    """A number may be written whole; neither a number nor a text is a truth value."""
    for value in values:
        if type(value) is not kind and not (kind is float and type(value) is int and math.isfinite(value)):
            raise TypeError(f"{value!r} is not {kind.__name__}")


def _given(value: Any) -> list[Any]:
    return [] if value is None else [value]


def _list(value: Any) -> list[Any]:
    _must_be(list, value)
    return list(value)


def _write_pictures(folder: Path, name: str, result: Result, quick: bool) -> None:
    from matplotlib.figure import Figure

    from sparselaw.plotting import style

    with style():
        figure = Figure(figsize=result.size, layout="constrained")
        result.draw(figure)
        if quick:
            words = "quick run: fewer seeds and smaller sizes than the paper"
            figure.suptitle(words, fontsize="small", x=0.99, ha="right")
        for ending, dated in (("svg", "Date"), ("png", "Software")):
            with write_atomically(folder / f"{name}.{ending}") as file:
                figure.savefig(file, format=ending, metadata={dated: None})


# Results of computations that are not trials, each in a file named after what was computed.
#
# A file that cannot be read, whatever became of it, counts as missing: its value is computed again.

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
