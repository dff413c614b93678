"""The local page on which theory, trials and fits can be looked at, and the same in a notebook.

The module itself can be called: ``sl.explore()``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from sparselaw.explore.serve import explore, serve

__all__ = ["explore", "serve"]


class _Room(ModuleType):
    """A package and its main function share the name that people type."""

    def __call__(self, **state: Any) -> Any:
        return explore(**state)


sys.modules[__name__].__class__ = _Room
