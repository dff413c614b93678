"""Runs as experiment trackers leave them in a folder.

TensorBoard's event files, wandb's own, or the exported history of one run in each file.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparselaw.errors import InputError, notice
from sparselaw.files import files_below

if TYPE_CHECKING:
    import pandas as pd

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".csv.gz", ".jsonl.gz")
PANEL = re.compile(r"^(?P<run>.+) - (?P<metric>.+?)(?P<end>__MIN|__MAX)?$")  # a chart exported from wandb
STEPS = ("Step", "_step", "step")


def read_folder(folder: Path, read_table: Callable[[Path], pd.DataFrame]) -> pd.DataFrame:
    """One table with the column ``run``: every step of every run that has a loss or what its columns are.

    Quantities that are logged less often than the loss, such as the number of parameters, are carried along
    the run.
    """
    import pandas as pd

    every = files_below(folder)
    events: dict[str, list[Path]] = defaultdict(list)
    for file in every:
        if "tfevents" in file.name:
            events["" if file.parent == folder else str(file.parent.relative_to(folder))].append(file)
    kept = [file for file in every if file.name.endswith(".wandb")]
    files = [file for file in every if file.name.lower().endswith(TABLES)]
    if events:
        parts = [read_events(events[run]).assign(run=run or folder.name) for run in sorted(events)]
    elif kept:
        parts = [read_table(file) for file in kept]
    elif files:
        parts = [_without_panels(file, read_table(file)) for file in files]
        if any("run" in table for table in parts):  # charts: one metric in each file, all runs in it
            joined = pd.concat(parts, ignore_index=True)
            step = next((name for name in STEPS if name in joined), None)
            parts = [joined if step is None else _first_of_each(joined, step)]
        else:
            names = [file.name.split(".")[0] for file in files]
            if len(set(names)) < len(names):  # a/log.csv and b/log.csv: their folders tell them apart
                names = [f"{file.parent.relative_to(folder).as_posix()}/{file.name}" for file in files]
            parts = [table.assign(run=name) for name, table in zip(names, parts, strict=True)]
    else:
        condition = "is a folder without event files or tables"
        raise InputError("file", folder, condition, "give a file, or exported runs")
    return _carried(pd.concat(parts, ignore_index=True))


def _without_panels(file: Path, table: pd.DataFrame) -> pd.DataFrame:
    """A chart exported from wandb has a column "run - metric" for each run: here one row for run and step."""
    import pandas as pd

    twice = table.columns[table.columns.duplicated()]
    if twice.size:  # which of two is meant cannot be told
        raise InputError("file", file, f"has the column {str(twice[0])[:60]} twice", "rename one of them")
    found = {name: PANEL.match(str(name)) for name in table.columns}
    step = next((name for name in STEPS if name in table.columns), None)
    if step is None or not any(found.values()):
        return table
    parts = [
        pd.DataFrame({"run": match["run"], step: table[step], match["metric"]: table[name]}).dropna()
        for name, match in found.items()
        if match is not None and match["end"] is None
    ]
    return _first_of_each(pd.concat(parts, ignore_index=True), step)


def _first_of_each(table: pd.DataFrame, step: str) -> pd.DataFrame:
    return table.groupby(["run", step], as_index=False, sort=False).first()


def _carried(table: pd.DataFrame) -> pd.DataFrame:
    """Gaps filled within a run, but not in losses: only steps where one was measured are rows."""
    losses = [name for name in table.columns if "loss" in str(name).lower()]
    others = [name for name in table.columns if name not in losses and name != "run"]
    filled = table.copy()
    filled[others] = table.groupby("run", sort=False)[others].transform(lambda c: c.ffill().bfill())
    held_out = [name for name in losses if "train" not in str(name).lower()] or losses
    return filled.dropna(subset=held_out, how="all").reset_index(drop=True) if held_out else filled


# TensorBoard's event files are records one after the other, each a length, an event, and a checksum of both.
# Scalars are stored as single numbers or, by newer writers, as tensors of one.
TENSORS = {1: "<f", 2: "<d"}  # by the kind of a tensor: floats and doubles
OURS = ("step", "run")  # columns that a scalar of the same name must not replace


def read_events(files: Sequence[Path]) -> pd.DataFrame:
    """One row for each step, one column for each scalar; the last value of a step counts."""
    import pandas as pd

    try:
        from tensorboardX.proto.event_pb2 import Event
    except ImportError:
        remedy = "pip install 'sparselaw[tensorboard]'"
        raise InputError("file", files[0], "needs tensorboardX to be read", remedy) from None
    steps: dict[int, dict[str, float]] = defaultdict(dict)
    for file in files:
        for data in _event_records(file):
            try:
                event = Event.FromString(data)
            except Exception:  # of the library: another one in each of its versions
                raise _damaged(file, "a record is no event") from None
            for value in event.summary.value:
                number = _scalar(value)
                if number is not None:
                    steps[event.step][f"{value.tag} (logged)" if value.tag in OURS else value.tag] = number
    if not steps:
        raise InputError("file", files[0], "holds no scalars", "give runs that logged their loss")
    return pd.DataFrame([{"step": step, **values} for step, values in sorted(steps.items())])


def _event_records(file: Path) -> Iterator[bytes]:
    """The records of a file, each held against its checksum; a half-written last one is said."""
    from tensorboardX.record_writer import masked_crc32c

    try:
        content = file.read_bytes()
    except OSError as error:
        condition = f"may not be read ({error.strerror})"
        raise InputError("file", file, condition, "check its permissions") from None
    place, number = 0, 0
    while place < len(content):
        number += 1
        head, end = content[place : place + 12], len(content)
        if len(head) == 12:
            length, check = struct.unpack("<QI", head)
            if masked_crc32c(head[:8]) != check:
                raise _damaged(file, f"the length of record {number} does not match its checksum")
            end = place + 12 + length
        if len(head) < 12 or end + 4 > len(content):
            notice(f"{file}: record {number}, the last, is half-written and left out")
            return
        data = content[place + 12 : end]
        if masked_crc32c(data) != struct.unpack_from("<I", content, end)[0]:
            raise _damaged(file, f"record {number} does not match its checksum")
        yield data
        place = end + 4


def _damaged(file: Path, why: str) -> InputError:
    return InputError("file", file, f"is damaged ({why})", "copy it again, or take it out of the folder")


def _scalar(value: Any) -> float | None:
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if not value.HasField("tensor"):
        return None
    for numbers in (value.tensor.float_val, value.tensor.double_val):
        if len(numbers) == 1:
            return float(numbers[0])
    form, content = TENSORS.get(value.tensor.dtype), value.tensor.tensor_content
    if form is None or len(content) != struct.calcsize(form):
        return None
    return float(struct.unpack(form, content)[0])


# A run that wandb kept on disk (run-*.wandb) is a log in blocks of 32 KiB: a header of seven bytes, then
# pieces, each a checksum, a length, and whether it is a whole record (1), or the first (2), a middle (3) or
# the last piece (4) of one. The checksum is the CRC-32 of that number and the piece. A record is a message in
# protobuf's wire format; of its fields three are read: history (2), config (5) and run (17).
BLOCK, HEADER = 32_768, 7
MAGIC = b":W&B"
HISTORY, CONFIG, RUN = 2, 5, 17  # of a record
RUN_CONFIG, RUN_NAME = 4, 8  # of the run
MOST_BITS = 70  # of a number: ten bytes of seven
KEY, NESTED_KEY, VALUE = 1, 2, 16  # of an item of history or config


def read_wandb(file: Path) -> pd.DataFrame:
    """One row for each step, with the column ``run``; numbers of the config stand in every row."""
    import pandas as pd

    config: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    name = file.stem
    for record in _wandb_records(file):
        for number, value in _fields(record):
            if number == HISTORY:
                rows.append(_items(value))
            elif number == CONFIG:
                config |= _items(value)
            elif number == RUN:
                for part, inner in _fields(value):
                    if part == RUN_CONFIG:
                        config |= _items(inner)
                    elif part == RUN_NAME:
                        name = inner.decode() or name
    if not rows:
        raise InputError("file", file, "holds no history", "give a run that logged its loss")
    frame = pd.DataFrame(rows).rename(columns={"run": "run (logged)"})
    config = {"run (config)" if key == "run" else key: value for key, value in config.items()}
    return frame.assign(**{key: value for key, value in config.items() if key not in frame}, run=name)


def _items(message: bytes) -> dict[str, Any]:
    """The numbers and words of a history or a config by their names; deeper ones by the last name."""
    found: dict[str, Any] = {}
    for number, item in _fields(message):
        if number != 1 or not isinstance(item, bytes):
            continue
        fields = list(_fields(item))
        names = [value.decode() for part, value in fields if part in (KEY, NESTED_KEY)]
        if not names or names[0].startswith("_wandb"):
            continue
        text = next((content for part, content in reversed(fields) if part == VALUE), b"").decode()
        try:
            value = json.loads(text)
        except ValueError:  # NaN and Infinity are read; anything else is none of ours
            continue
        except RecursionError:
            raise ValueError(f"{names[0][:40]} is nested too deeply") from None
        inner = value if isinstance(value, dict) else {"/".join(names): value}
        found |= {str(k): v for k, v in inner.items() if isinstance(v, (int, float, str))}
    return found


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """(number, content) of a message in wire format; content is bytes where it has a length."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        kind = tag & 7
        if kind == 0:
            value, place = _varint(message, place)
            yield tag >> 3, value
        elif kind == 2:
            length, place = _varint(message, place)
            if place + length > len(message):
                raise ValueError("a field ends beyond its message")
            yield tag >> 3, message[place : place + length]
            place += length
        elif kind in (1, 5):
            place += 8 if kind == 1 else 4
        else:
            raise ValueError("not a message")


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while shift < MOST_BITS and place < len(message):
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
    raise ValueError("a number without an end")


def _wandb_records(file: Path) -> Iterator[bytes]:
    """Whole records, each held against its checksums; one that a killed run left half-written is said."""
    content = file.read_bytes()
    if content[:4] != MAGIC:
        raise InputError("file", file, "is no run of wandb", "give the run-*.wandb of a run")
    place, pieces = HEADER, b""
    while place + HEADER <= len(content):
        left = BLOCK - place % BLOCK
        if left < HEADER:  # too little of the block for another piece
            place += left
            continue
        check, length, kind = struct.unpack_from("<IHB", content, place)
        end = place + HEADER + length
        if kind == 0 and not any(content[place:]):  # room that was never written
            return
        if 1 <= kind <= 4 and end > len(content):
            notice(f"{file}: the last record is half-written and left out")
            return
        piece = content[place + HEADER : end]
        if not 1 <= kind <= 4 or zlib.crc32(piece, zlib.crc32(bytes([kind]))) != check:
            raise _damaged(file, f"the piece at byte {place} does not match its checksum")
        pieces = piece if kind in (1, 2) else pieces + piece
        if kind in (1, 4):
            yield pieces
        place = end
