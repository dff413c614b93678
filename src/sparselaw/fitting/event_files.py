"""TensorBoard's event files: records one after the other, each a length, an event, and a checksum of both.

Scalars are stored as single numbers or, by newer writers, as tensors of one. The checksums are CRC-32C with
its bits turned and a constant added.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import IntArray
from sparselaw.compiled import lazy_njit
from sparselaw.errors import InputError, notice
from sparselaw.files import files_below

if TYPE_CHECKING:
    import pandas as pd

FLOAT, DOUBLE = 1, 2  # kinds of a tensor
CASTAGNOLI, MASK = 0x82F63B78, 0xA282EAD8  # the polynomial with its bits reversed, and the constant added
OURS = ("step", "run")  # columns that a scalar of the same name must not replace


def event_files(folder: Path) -> dict[Path, list[Path]]:
    """Folder -> its event files, for every folder below that has some: one run each."""
    found: dict[Path, list[Path]] = defaultdict(list)
    for file in files_below(folder):
        if "tfevents" in file.name:
            found[file.parent].append(file)
    return dict(found)


def read_events(files: Sequence[Path]) -> pd.DataFrame:
    """One row for each step, one column for each scalar; the last value of a step counts."""
    import pandas as pd

    try:
        from tensorboardX.proto.event_pb2 import Event
    except ImportError:
        raise InputError(
            "file", files[0], "needs tensorboardX to be read", "pip install 'sparselaw[tensorboard]'"
        ) from None
    steps: dict[int, dict[str, float]] = defaultdict(dict)
    for file in files:
        for data in _records(file):
            try:
                event = Event.FromString(data)
            except Exception:  # of the library: another one in each of its versions
                raise _damaged(file, "a record is no event") from None
            for value in event.summary.value:
                number = _scalar(value)
                if number is not None:
                    name = f"{value.tag} (logged)" if value.tag in OURS else value.tag
                    steps[event.step][name] = number
    if not steps:
        raise InputError("file", files[0], "holds no scalars", "give runs that logged their loss")
    rows = [{"step": step, **values} for step, values in sorted(steps.items())]
    return pd.DataFrame(rows)


def _records(file: Path) -> Iterator[bytes]:
    """The records of a file, each held against its checksum; a half-written last one is said."""
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
            if masked_crc(head[:8]) != check:
                raise _damaged(file, f"the length of record {number} does not match its checksum")
            end = place + 12 + length
        if len(head) < 12 or end + 4 > len(content):
            notice(f"{file}: record {number}, the last, is half-written and left out")
            return
        data = content[place + 12 : end]
        if masked_crc(data) != struct.unpack_from("<I", content, end)[0]:
            raise _damaged(file, f"record {number} does not match its checksum")
        yield data
        place = end + 4


def _damaged(file: Path, why: str) -> InputError:
    return InputError("file", file, f"is damaged ({why})", "copy it again, or take it out of the folder")


def masked_crc(data: bytes) -> int:
    """The checksum that TensorBoard writes.

    >>> hex(masked_crc(b"123456789"))
    '0xc78ab0e5'
    """
    crc = int(_crc.after(len(data))(np.frombuffer(data, np.uint8).astype(np.int64), _table()))
    return (((crc >> 15) | (crc << 17)) + MASK) & 0xFFFFFFFF


def _table() -> IntArray:
    """The remainder of each byte."""
    remainder = np.arange(256, dtype=np.int64)
    for _ in range(8):
        remainder = (remainder >> 1) ^ (CASTAGNOLI * (remainder & 1))
    return remainder


@lazy_njit()
def _crc(data, table):  # type: ignore[no-untyped-def]
    crc = 0xFFFFFFFF
    for i in range(len(data)):
        crc = table[(crc ^ data[i]) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _scalar(value: Any) -> float | None:
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if not value.HasField("tensor"):
        return None
    tensor = value.tensor
    for numbers in (tensor.float_val, tensor.double_val):
        if len(numbers) == 1:
            return float(numbers[0])
    form = {FLOAT: "<f", DOUBLE: "<d"}.get(tensor.dtype)
    if form is not None and len(tensor.tensor_content) == struct.calcsize(form):
        return float(struct.unpack(form, tensor.tensor_content)[0])
    return None
