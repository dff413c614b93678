"""The fields of a record from what was typed, or from what was kept of it: each is read as its type says."""

from __future__ import annotations

import functools
import typing
from typing import Any

from sparselaw.numbers import real


@functools.cache
def hints(record: type) -> dict[str, Any]:
    """The types of the fields: half a millisecond each time, and every row of a table asks."""
    return typing.get_type_hints(record)


def read(name: str, value: Any, hint: Any) -> Any:
    """Text as a number: exact where it is a whole one, since a float beyond 2^53 would round it.

    >>> read("steps", "12", int), read("rate", "0.5", float), read("shape", "flat", str)
    (12, 0.5, 'flat')
    """
    kinds = typing.get_args(hint) or (hint,)
    if not isinstance(value, str) or str in kinds:
        return value
    if float not in kinds and value.isdecimal() and len(value) <= 300:
        return int(value)
    return real(name, value)


def kept(value: Any, hint: Any) -> Any:
    """A value of an identity or of a table's row: numbers may be of numpy, or written out as inf.

    >>> kept("inf", float), kept(3.0, int), kept("flat", str)
    (inf, 3, 'flat')
    """
    kinds = typing.get_args(hint) or (hint,)
    if value is None or str in kinds:
        return value
    if float in kinds:
        return float(value)
    return int(value) if int in kinds else value
