"""Text, Python source, baskets: a row a document, a logical line or a basket, a column a token, counted."""

from __future__ import annotations

import io
import os
import re
import sysconfig
import tokenize
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sparselaw.errors import InputError, check_choice, check_size
from sparselaw.files import LINES_IN_LIMIT, MAX_SIZE, check_bytes, open_unpacked
from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import Reader, Reading

TOKENS = ("words", "characters")
ROWS_AT_ONCE, TOKENS_AT_ONCE = 1 << 13, 1 << 20


class DocumentReader(Reader):
    """A row a document, of which tokens are counted, each a feature by its name."""

    worded: ClassVar[bool] = True

    @abstractmethod
    def documents(self) -> Iterator[Any]:
        """What the rows are made of."""

    def counts(self) -> Callable[[Any], Mapping[str, int]]:
        """From a document to its tokens and how often each is there; here every one counts once."""
        return lambda document: dict.fromkeys(document, 1)

    def rows(self) -> int:
        return sum(1 for _ in self.documents())

    def parts(self) -> Iterator[Nonzeros]:
        counts = self.counts()
        done = 0
        lengths: list[int] = []
        words: list[str] = []
        values: list[int] = []

        def part() -> Nonzeros:
            row = np.repeat(np.arange(done, done + len(lengths)), lengths)
            column = self.vocabulary.columns(words)
            return Nonzeros(row, column, np.array(values, np.float64), done + len(lengths))

        for document in self.documents():
            found = counts(document)
            lengths.append(len(found))
            words += found
            values += found.values()
            if len(lengths) == ROWS_AT_ONCE or len(words) > TOKENS_AT_ONCE:
                yield part()
                done += len(lengths)
                lengths, words, values = [], [], []
        yield part()


class TransactionReader(DocumentReader):
    """Transactions, as in the FIMI collection: a line a basket, its items between blanks, on or off."""

    name: ClassVar[str] = "transactions"
    endings: ClassVar[tuple[str, ...]] = (".dat", ".dat.gz", ".basket")

    def documents(self) -> Iterator[list[str]]:
        with open_unpacked(self.path, lines=True) as file:
            for line in file:
                items = line.decode(self.reading.encoding).split()
                if wrong := [item for item in items if item[0] == "-" and item[1:].isdigit()]:
                    raise self.refuse(f"has the negative item {wrong[0]}", "number items from 0")
                if items:
                    yield items


class TextReader(DocumentReader):
    """Lower case, unless asked otherwise. Documents without a token are rows without nonzeros."""

    name: ClassVar[str] = "text"
    endings: ClassVar[tuple[str, ...]] = (".txt", ".txt.gz", ".text", ".md", ".rst")

    def counts(self) -> Callable[[str], Mapping[str, int]]:
        tokens = tokenizer(self.reading)
        return lambda document: Counter(tokens(document))

    def documents(self) -> Iterator[str]:
        split = self.reading.split
        with (
            open_unpacked(self.path, lines=split in ("line", "blank")) as file,
            io.TextIOWrapper(file, encoding=self.reading.encoding) as text,
        ):
            if split in ("line", "blank"):
                for full, lines in groupby(text, lambda line: bool(line.strip())):
                    if full and split == "line":
                        yield from lines
                    elif full:
                        yield "".join(self._held(lines))
                return
            whole = next(self._held([text.read(MAX_SIZE.get() // LINES_IN_LIMIT + 1)]))
            if split == "file":
                yield whole
            else:
                found = compiled("split", split).split(whole)
                yield from (part for part in found if part and part.strip())

    def _held(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines, as long as together they fit in memory."""
        size = 0
        for line in lines:
            check_bytes(self.path, LINES_IN_LIMIT * (size := size + len(line)), "a document")
            yield line


def tokenizer(reading: Reading) -> Callable[[str], list[str]]:
    """From a document to its tokens.

    >>> tokenizer(Reading(ngram=2))("A rose is a rose")
    ['a rose', 'rose is', 'is a', 'a rose']
    """
    check_choice("tokens", reading.tokens, TOKENS)
    pattern = compiled("pattern", reading.pattern if reading.pattern is not None else r"\w+")
    characters = reading.tokens == "characters" and reading.pattern is None
    n = check_size("ngram", reading.ngram)

    def tokens(text: str) -> list[str]:
        cased = text if reading.keep_case else text.lower()
        found = list(cased.strip("\n")) if characters else [m.group() for m in pattern.finditer(cased)]
        if n == 1:
            return found
        between = "" if characters else " "
        return [between.join(found[i : i + n]) for i in range(len(found) - n + 1)]

    return tokens


def compiled(name: str, pattern: str) -> re.Pattern[str]:
    """A regular expression that somebody wrote."""
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(name, pattern, f"is no regular expression ({error})", "correct it") from None


STANDARD_LIBRARY = "stdlib"  # in place of a path: every machine with Python has it
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test", "lib2to3", "__pycache__"}
SILENT = {
    tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE,
    tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
PLACES = {"STRI": '""', "FSTR": '""', "TSTR": '""', "NUMB": "0"}  # by the first letters of the token's kind


class PythonReader(DocumentReader):
    """Names and operators as they are written, on or off; any string is one token, and so is any number.

    Comments and layout are not read.
    """

    name: ClassVar[str] = "python"
    endings: ClassVar[tuple[str, ...]] = (".py",)

    def documents(self) -> Iterator[list[str]]:
        with open_unpacked(self.path, lines=True) as file:
            line: list[str] = []
            try:
                for token in tokenize.tokenize(file.readline):
                    if token.type == tokenize.NEWLINE:
                        yield line
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
