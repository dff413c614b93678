"""The one way a thing becomes known by its name: each room has a dictionary of them and a ``register``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from sparselaw.errors import InputError


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
