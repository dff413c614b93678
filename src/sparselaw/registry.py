"""How a thing becomes known by its name, and its fields are read from text or from the row of a table.

Each room that can be extended has a dictionary of its things and a function ``register``.
"""

from __future__ import annotations

import functools
import sys
import typing
from collections.abc import Callable
from typing import Any

from sparselaw.errors import InputError
from sparselaw.numbers import real


def add(
    known: dict[str, Any],
    what: str,
    name: str,
    thing: Any,
    definition: Callable[[Any], Any] = lambda thing: thing,
) -> None:
    """Put ``thing`` under its name, or refuse a name that another has.

    ``definition`` gives the class or the function that somebody wrote. The same one again takes the place of
    the old: the cell of a notebook that is run twice, a module that is imported under two names.

    >>> add({"sum": sum}, "function", "sum", max)
    Traceback (most recent call last):
    sparselaw.errors.InputError: function=sum: is the name of sum in builtins; choose another name
    """
    if name in known:
        old, new = definition(known[name]), definition(thing)
        if _place(old) != _place(new):
            taken = f"is the name of {getattr(old, '__qualname__', old)} in {old.__module__}"
            raise InputError(what, name, taken, "choose another name")
    known[name] = thing


def _place(definition: Any) -> tuple[str, str]:
    """Where it was written: the file, or the module where that has none, and the name within."""
    module = str(definition.__module__)
    file = getattr(sys.modules.get(module), "__file__", None)
    return file or module, str(getattr(definition, "__qualname__", definition))


@functools.cache
def hints(record: type) -> dict[str, Any]:
    """The types of the fields: half a millisecond each time, and every row of a table asks."""
    return typing.get_type_hints(record)


def from_text(name: str, value: Any, hint: Any) -> Any:
    """Text as a number: exact where it is a whole one, since a float beyond 2^53 would round it.

    >>> from_text("steps", "12", int), from_text("rate", "0.5", float), from_text("shape", "flat", str)
    (12, 0.5, 'flat')
    """
    kinds = typing.get_args(hint) or (hint,)
    if not isinstance(value, str) or str in kinds:
        return value
    if float not in kinds and value.isdecimal() and len(value) <= 300:
        return int(value)
    return real(name, value)


def from_row(value: Any, hint: Any) -> Any:
    """A value of an identity or of a table's row: numbers may be of numpy, or written out as inf.

    >>> from_row("inf", float), from_row(3.0, int), from_row("flat", str)
    (inf, 3, 'flat')
    """
    kinds = typing.get_args(hint) or (hint,)
    if value is None or str in kinds:
        return value
    if float in kinds:
        return float(value)
    return int(value) if int in kinds else value
