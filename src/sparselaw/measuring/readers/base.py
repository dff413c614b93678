"""What a reader of a format must answer. One file a format."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

from sparselaw.errors import InputError
from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.vocabulary import Vocabulary

PART = 1 << 21  # nonzeros handed out at once, about
LINES = 1 << 15  # lines read at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How to read what does not say it itself.

    Text: ``split`` is ``line`` (a document a line), ``blank`` (blank lines between documents), ``file`` or a
    regular expression between documents; ``tokens`` is ``words``, ``characters`` or ``pattern``'s matches;
    ``ngram`` that many of them in a row. ``columns`` names sample, feature and value of triplets.
    """

    format: str | None = None
    encoding: str = "utf-8"
    split: str = "line"
    tokens: str = "words"
    ngram: int = 1
    pattern: str | None = None
    keep_case: bool = False
    columns: tuple[str, ...] = ()


class Reader(ABC):
    """The rows of one file as parts that fit in memory."""

    name: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]
    worded: ClassVar[bool] = False  # features are words of a vocabulary, not numbered columns

    def __init__(self, path: Path, reading: Reading, vocabulary: Vocabulary) -> None:
        self.path, self.reading, self.vocabulary = path, reading, vocabulary

    @abstractmethod
    def parts(self) -> Iterator[Nonzeros]:
        """The nonzeros, part by part."""

    def features(self) -> int | None:
        """How many columns the file says it has; None where it does not say."""
        return None

    def rows(self) -> int:
        """How many rows the file has: cheap where the file says it, else it is read."""
        rows = 0
        for part in self.parts():
            rows = max(rows, part.rows)
        return rows

    def refuse(self, condition: str, remedy: str) -> InputError:
        return InputError("file", str(self.path), condition, remedy)


def open_bytes(path: Path) -> IO[bytes]:
    """A file, unpacked where its name ends in .gz."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Every way in which a file can be broken, in one line."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError("file", str(path), "does not exist", "check the path") from None
    except IsADirectoryError:
        raise InputError(
            "file", str(path), "is a folder", "name a file in it, or the folder itself"
        ) from None
    except PermissionError:
        raise InputError("file", str(path), "may not be read", "change its permissions") from None
    except (EOFError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile) as error:
        condition = f"is truncated or damaged ({_short(error)})"
        raise InputError("file", str(path), condition, "fetch or write it again") from None
    except UnicodeDecodeError as error:
        condition = f"is not {error.encoding} text (byte {error.start} of a piece)"
        raise InputError("file", str(path), condition, "give --encoding, latin-1 say") from None
    except (ValueError, KeyError, OSError, OverflowError) as error:
        remedy = "check that it is whole, or say what it is with --format"
        raise InputError("file", str(path), f"cannot be read ({_short(error)})", remedy) from None


def _short(error: BaseException) -> str:
    text = re.sub(r"\s+", " ", str(error)) or type(error).__name__
    return text if len(text) <= 100 else text[:97] + "..."
