"""Runs that wandb kept on disk (``run-*.wandb``): what was logged at each step, with the config beside it.

The file is a log in blocks of 32 KiB: a header of seven bytes, then pieces, each a checksum, a length, and
whether it is a whole record (1), or the first (2), a middle (3) or the last piece (4) of one. The checksum is
the CRC-32 of that number and the piece. A record is a
message in protobuf's wire format; of its fields three are read: history (2), config (5) and run (17).
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparselaw.errors import InputError, notice

if TYPE_CHECKING:
    import pandas as pd

BLOCK, HEADER = 32_768, 7
MAGIC = b":W&B"
HISTORY, CONFIG, RUN = 2, 5, 17  # of a record
RUN_CONFIG, RUN_NAME = 4, 8  # of the run
WHOLE_OR_PART = (1, 2, 3, 4)
MOST_BITS = 70  # of a number: ten bytes of seven
KEY, NESTED_KEY, VALUE = 1, 2, 16  # of an item of history or config


def read_wandb(file: Path) -> pd.DataFrame:
    """One row for each step, with the column ``run``; numbers of the config stand in every row."""
    import pandas as pd

    config: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    name = file.stem
    for record in _records(file):
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
    known = {key: value for key, value in config.items() if key not in frame}
    return frame.assign(**known, run=name)


def _items(message: bytes) -> dict[str, Any]:
    """The numbers and words of a history or a config by their names; deeper ones by the last name."""
    found: dict[str, Any] = {}
    for number, item in _fields(message):
        if number != 1 or not isinstance(item, bytes):
            continue
        names, text = [], ""
        for part, value in _fields(item):
            if part in (KEY, NESTED_KEY):
                names.append(value.decode())
            elif part == VALUE:
                text = value.decode()
        if not names or names[0].startswith("_wandb"):
            continue
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


def _records(file: Path) -> Iterator[bytes]:
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
        if kind in WHOLE_OR_PART and end > len(content):
            notice(f"{file}: the last record is half-written and left out")
            return
        piece = content[place + HEADER : end]
        if kind not in WHOLE_OR_PART or zlib.crc32(piece, zlib.crc32(bytes([kind]))) != check:
            raise InputError(
                "file", file, f"is damaged (the piece at byte {place} does not match its checksum)",
                "copy it again, or take it out of the folder",
            )  # fmt: skip
        pieces = piece if kind in (1, 2) else pieces + piece
        if kind in (1, 4):
            yield pieces
        place = end
