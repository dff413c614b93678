"""The items of the reproduction, in the paper's order. Each is loaded only when it is made."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from sparselaw.errors import InputError
from sparselaw.experiments.paper.item import Item

NAMES = (
    "figure-1",
    "figure-2",
    "figure-3",
    "figure-4",
    "figure-5",
    "figure-6",
    "table-3",
    "table-4",
    "checks",
    "beyond-networks",
    "beyond-passes",
)


def item(name: str) -> Item:
    """The item of that name."""
    found: Item = import_module(f"sparselaw.experiments.paper.{name.replace('-', '_')}").ITEM
    return found


def chosen(names: Sequence[str]) -> list[str]:
    """The names asked for, all of them when none is named, in the paper's order."""
    for name in names:
        if name not in NAMES:
            raise InputError("names", name, "is not an item of the paper", f"choose from {', '.join(NAMES)}")
    return [name for name in NAMES if not names or name in names]
