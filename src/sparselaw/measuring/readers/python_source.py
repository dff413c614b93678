"""Python source: a row a logical line, a column a token. Every machine has the standard library."""

from __future__ import annotations

import os
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.bags import parts_of_bags
from sparselaw.measuring.readers.base import Reader

STANDARD_LIBRARY = "stdlib"  # in place of a path
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test", "lib2to3", "__pycache__"}
SILENT = {
    tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE,
    tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip

PLACES = {"STRI": '""', "FSTR": '""', "TSTR": '""', "NUMB": "0"}  # by the first letters of the token's kind


class PythonReader(Reader):
    """Names and operators as they are written, on or off; any string is one token, and so is any number.

    Comments and layout are not read.
    """

    name: ClassVar[str] = "python"
    endings: ClassVar[tuple[str, ...]] = (".py",)
    worded: ClassVar[bool] = True

    def parts(self) -> Iterator[Nonzeros]:
        yield from parts_of_bags(self._lines(), self.vocabulary)

    def _lines(self) -> Iterator[list[str]]:
        with self.path.open("rb") as file:
            line: list[str] = []
            try:
                for token in tokenize.tokenize(file.readline):
                    if token.type == tokenize.NEWLINE:
                        yield list(dict.fromkeys(line))
                        line = []
                    elif token.type not in SILENT:
                        line.append(PLACES.get(tokenize.tok_name[token.type][:4], token.string))
            except (tokenize.TokenError, SyntaxError) as error:
                raise ValueError(f"is no Python source: {error}") from None


def standard_library() -> list[Path]:
    """The modules of the running Python's standard library, without its tests, by name."""
    found: list[Path] = []
    for folder, inside, names in os.walk(sysconfig.get_paths()["stdlib"]):
        inside[:] = set(inside) - LEFT_OUT  # what is left out is not gone through
        found += [Path(folder, name) for name in names if name.endswith(".py")]
    return sorted(found)
