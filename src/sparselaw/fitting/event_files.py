"""TensorBoard's event files: a sequence of records, each a length, a checksum and an event.

Scalars are stored as single numbers or, by newer writers, as tensors of one.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparselaw.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

FLOAT, DOUBLE = 1, 2  # kinds of a tensor


def event_files(folder: Path) -> dict[Path, list[Path]]:
    """Folder -> its event files, for every folder below that has some: one run each."""
    found: dict[Path, list[Path]] = defaultdict(list)
    for file in sorted(folder.rglob("*tfevents*")):
        if file.is_file():
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
            event = Event.FromString(data)
            for value in event.summary.value:
                number = _scalar(value)
                if number is not None:
                    steps[event.step][value.tag] = number
    rows = [{"step": step, **values} for step, values in sorted(steps.items())]
    return pd.DataFrame(rows)


def _records(file: Path) -> Iterator[bytes]:
    """The records of a file; one that a killed run left half-written is not there."""
    content = file.read_bytes()
    place = 0
    while place + 12 <= len(content):
        (length,) = struct.unpack_from("<Q", content, place)
        end = place + 12 + length
        if end + 4 > len(content):
            return
        yield content[place + 12 : end]
        place = end + 4


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
