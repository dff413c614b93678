"""Numbers as people write sizes."""

from __future__ import annotations

import re

UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}
WRITTEN = re.compile(
    r"^(\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d{1,3}(?:_\d{3})+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*([kKmMbBgGtT]?)"
    r"(?:\s*(?:params|parameters|tokens))?$"
)


def written_number(text: str) -> float:
    """A number as people write sizes; nan where it is none.

    >>> [written_number(t) for t in ("10M", "1.5 B", "1,000,000", "7_000", "300k", "2T", "many")]
    [10000000.0, 1500000000.0, 1000000.0, 7000.0, 300000.0, 2000000000000.0, nan]
    """
    match = WRITTEN.match(text.strip())
    if match is None:
        return float("nan")
    digits, unit = match.groups()
    return float(digits.replace(",", "").replace("_", "")) * UNITS[unit.lower()]
