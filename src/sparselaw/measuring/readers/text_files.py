"""Text and Python source: a row a document or a logical line, a column a token, counted."""

from __future__ import annotations

import io
import os
import re
import sysconfig
import tokenize
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np

from sparselaw.errors import InputError, check_choice, check_size
from sparselaw.files import LINES_IN_LIMIT, MAX_SIZE, check_bytes, open_unpacked
from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import Reader, Reading, Vocabulary

TOKENS = ("words", "characters")
ROWS_AT_ONCE, TOKENS_AT_ONCE = 1 << 13, 1 << 20


class TextReader(Reader):
    """Lower case, unless asked otherwise. Documents without a token are rows without nonzeros."""

    name: ClassVar[str] = "text"
    endings: ClassVar[tuple[str, ...]] = (".txt", ".txt.gz", ".text", ".md", ".rst")
    worded: ClassVar[bool] = True

    def rows(self) -> int:
        return sum(1 for _ in self.documents())

    def parts(self) -> Iterator[Nonzeros]:
        tokens = tokenizer(self.reading)
        yield from parts_of_bags((tokens(text) for text in self.documents()), self.vocabulary)

    def documents(self) -> Iterator[str]:
        split = self.reading.split
        with (
            open_unpacked(self.path, lines=split in ("line", "blank")) as file,
            io.TextIOWrapper(file, encoding=self.reading.encoding) as text,
        ):
            if split == "line":
                yield from (line for line in text if line.strip())
            elif split == "blank":
                yield from self._paragraphs(text)
            elif split == "file":
                yield self._whole(text)
            else:
                pattern = compiled("split", split)
                yield from (part for part in pattern.split(self._whole(text)) if part and part.strip())

    def _whole(self, text: io.TextIOWrapper) -> str:
        found = text.read(MAX_SIZE.get() // LINES_IN_LIMIT + 1)
        self._check(len(found))
        return found

    def _check(self, size: int) -> None:
        check_bytes(self.path, LINES_IN_LIMIT * size, "a document")

    def _paragraphs(self, lines: Iterable[str]) -> Iterator[str]:
        held: list[str] = []
        size = 0
        for line in lines:
            if line.strip():
                held.append(line)
                self._check(size := size + len(line))
            elif held:
                yield "".join(held)
                held, size = [], 0
        if held:
            yield "".join(held)


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


def parts_of_bags(bags: Iterable[Iterable[Hashable]], vocabulary: Vocabulary) -> Iterator[Nonzeros]:
    """A row a bag of tokens, each a feature that counts how often it is there, in parts of some rows."""
    done = 0
    lengths: list[int] = []
    words: list[Hashable] = []
    values: list[int] = []

    def part() -> Nonzeros:
        row = np.repeat(np.arange(done, done + len(lengths)), lengths)
        return Nonzeros(row, vocabulary.columns(words), np.array(values, np.float64), done + len(lengths))

    for bag in bags:
        counts = Counter(bag)
        lengths.append(len(counts))
        words += counts
        values += counts.values()
        if len(lengths) == ROWS_AT_ONCE or len(words) > TOKENS_AT_ONCE:
            yield part()
            done += len(lengths)
            lengths, words, values = [], [], []
    yield part()


STANDARD_LIBRARY = "stdlib"  # in place of a path: every machine with Python has it
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
        with open_unpacked(self.path, lines=True) as file:
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
