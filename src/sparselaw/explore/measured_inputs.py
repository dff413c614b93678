"""Measured inputs: a measurement dropped on the page, kept for the session and found by its key."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sparselaw.errors import InputError
from sparselaw.explore.call import Call, View
from sparselaw.inputs import ActivationInputs, TabulatedInputs

MEASURED = "measured"
USUAL_NAME = "measured.json"


def keep(call: Call) -> Iterator[dict[str, Any]]:
    """Read the file that was dropped; its key, and what it describes."""
    name = file_name(call.text("file_name"))
    if not call.body:
        raise InputError("inputs", name, "is empty", "drop the JSON of 'sparselaw measure FILE --json'")
    key = call.session.uploads.keep("measured.json", call.body)
    found = _read(call.session.uploads.find(key), name)
    yield {
        "table": key,
        "name": name,
        "coordinates": int(found.dimension),
        "active": found.expected_nonzeros(),
    }


def measured_inputs(call: Call) -> ActivationInputs:
    """The inputs of the state: its ``table`` is a key of this session, never a path."""
    key = call.text("table")
    if not key:
        raise InputError(
            "inputs", MEASURED, "needs a measurement", "drop the JSON of 'sparselaw measure FILE --json'"
        )
    return _read(call.session.uploads.find(key), file_name(call.text("table_name")))


@functools.lru_cache(maxsize=8)
def _read(path: Path, name: str) -> TabulatedInputs:
    """The name is the person's: for words and for the code that is taken away."""
    try:
        found = TabulatedInputs.from_file(path)
    except InputError as error:
        said = name if error.value == str(path) else error.value
        raise InputError(error.name, said, error.condition, error.remedy) from None
    return found.named(name)


def file_name(given: str) -> str:
    """The last part of the name, ending as the command line wants it.

    >>> file_name("C:\\\\data\\\\words.json"), file_name("../x"), file_name("")
    ('words.json', 'x.json', 'measured.json')
    """
    last = given.replace("\\", "/").split("/")[-1][:80]
    if not last:
        return USUAL_NAME
    return last if last.lower().endswith(".json") else f"{last}.json"


VIEW = View(streams={"inputs/measured": keep})
