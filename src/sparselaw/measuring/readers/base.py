"""What a reader of a format is given, and how every way in which a file can be broken is said."""

from __future__ import annotations

import codecs
import gzip
import re
import zipfile
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.errors import InputError, one_line
from sparselaw.measuring.nonzeros import Nonzeros, whole_numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read where they do not say it themselves: arguments of ``measure``."""

    format: str | None = None
    encoding: str = "utf-8"
    split: str = "line"
    tokens: str = "words"
    ngram: int = 1
    pattern: str | None = None
    keep_case: bool = False
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            known = codecs.lookup(self.encoding)._is_text_encoding
        except (LookupError, ValueError, TypeError):
            known = False
        if not known:
            raise InputError(
                "encoding", self.encoding, "is no encoding of text", "write utf-8 or latin-1, say"
            )


class Vocabulary(dict[Hashable, int]):
    """Words and their columns, in the order in which they appeared.

    >>> words = Vocabulary()
    >>> words.columns(["a", "b", "a"]).tolist(), list(words)
    ([0, 1, 0], ['a', 'b'])
    """

    def columns(self, words: Iterable[Hashable]) -> NDArray[np.int64]:
        """The column of each word."""
        return np.fromiter((self.setdefault(word, len(self)) for word in words), np.int64)

    def columns_of_array(self, words: NDArray[np.generic]) -> NDArray[np.int64]:
        """The column of each entry of an array with many repeats."""
        import pandas as pd

        places, distinct = pd.factorize(words)
        return self.columns(distinct.tolist())[places]


@dataclass(frozen=True, slots=True)
class FeatureFile:
    """A file to read; its words are put into the vocabulary."""

    path: Path
    reading: Reading
    vocabulary: Vocabulary

    def refuse(self, condition: str, remedy: str) -> InputError:
        return InputError("file", str(self.path), condition, remedy)

    def library(self, name: str, extra: str, module: str = "") -> Any:
        """A module of a package that only some people have."""
        if find_spec(name) is None:
            raise self.refuse(f"needs {name}", f"pip install 'sparselaw[{extra}]'")
        return import_module(module or name)


class Format(NamedTuple):
    """How files of a format are read, part by part: what is in the parts is checked by whoever takes them."""

    endings: tuple[str, ...]
    parts: Callable[[FeatureFile], Iterator[Nonzeros]]
    sized: bool = False  # the first part says how many rows the file has
    lines: Callable[[FeatureFile], Iterator[Any]] | None = None  # one for each row, where that is quicker


def two_sizes(given: Any) -> tuple[int, int]:
    """The rows and columns that an array of a file says, or why it says none."""
    sizes = whole_numbers("its sizes", given)
    if sizes.size != 2 or (sizes < 0).any():
        raise ValueError("its shape is not rows and columns")
    return int(sizes[0]), int(sizes[1])


AGAIN = "fetch or write it again"
REASONS: tuple[tuple[tuple[type[Exception], ...], str, str], ...] = (
    ((FileNotFoundError,), "does not exist", "check the path"),
    ((IsADirectoryError,), "is a folder", "name a file in it, or the folder itself"),
    ((PermissionError,), "may not be read", "change its permissions"),
    ((EOFError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile), "is truncated or damaged ({})", AGAIN),
    ((UnicodeDecodeError,), "is no text in this encoding ({})", "give --encoding, latin-1 say"),
    ((MemoryError,), "asks for more memory than there is", "check that it is whole, or give less of it"),
    ((RecursionError,), "is nested too deeply", "check its contents"),
    ((Exception,), "cannot be read ({})", "check that it is whole, or say what it is with --format"),
)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Every way in which a file can be broken, in one line: whatever a library that reads may raise."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        text = one_line(re.sub(r"\s+", " ", str(error))) or type(error).__name__
        shown = text if len(text) <= 100 else text[:97] + "..."
        condition, remedy = next(said for kinds, *said in REASONS if isinstance(error, kinds))
        raise InputError("file", str(path), condition.format(shown), remedy) from None
