"""The command `sparselaw`: one file per command; each parses, calls one library function, prints."""

from __future__ import annotations

from sparselaw import numbers as numbers
from sparselaw.cli.app import main

__all__ = ["main", "numbers"]
