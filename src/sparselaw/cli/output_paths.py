"""No output over an input: looked at for every command, before it runs, by what the paths lead to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sparselaw.files import check_not_read

if TYPE_CHECKING:
    from typer.core import TyperCommand as Base
else:
    Base = object

OUTPUTS = ("out", "plot", "report")
STDIN = "-"


class ChecksPaths(Base):
    """Mixed into a command: an output may not be any other file that its arguments name."""

    def invoke(self, ctx: Any) -> Any:
        check_outputs(ctx.params)
        return super().invoke(ctx)


def check_outputs(given: Mapping[str, Any]) -> None:
    """Refuse an output that is a file, or lies in a folder, named by any other argument."""
    read = [path for name, value in given.items() if name not in OUTPUTS for path in _paths(value)]
    outputs = [(name, str(given[name])) for name in OUTPUTS if given.get(name) is not None]
    for index, (name, out) in enumerate(outputs):
        others = [path for _, path in outputs[:index]]
        check_not_read(name, out, read, any_ending=given.get("format") is not None)
        check_not_read(name, out, [path for path in others if not os.path.isdir(path)])


def _paths(value: Any) -> Iterator[str]:
    """The files and folders that an argument may name: anything that is there."""
    for text in value if isinstance(value, (list, tuple)) else [value]:
        if not isinstance(text, (str, os.PathLike)):
            continue
        path = "/dev/stdin" if str(text) == STDIN else os.fspath(text)
        if os.path.isfile(path) or os.path.isdir(path):
            yield path
