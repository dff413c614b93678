"""Text, Python source, baskets: a row a document, a logical line or a basket, a column a token, counted."""

from __future__ import annotations

import io
import os
import re
import sysconfig
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

import numpy as np

from sparselaw.errors import InputError, check_choice, check_size
from sparselaw.files import LINES_IN_LIMIT, MAX_SIZE, check_bytes, open_unpacked
from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import FeatureFile, Reading

TOKENS = ("words", "characters")
ROWS_AT_ONCE, TOKENS_AT_ONCE = 1 << 13, 1 << 20


def _counted(file: FeatureFile, rows: Iterable[Mapping[str, int]]) -> Iterator[Nonzeros]:
    """A row a document, of which tokens are counted, each a feature by its name."""
    done = 0
    lengths: list[int] = []
    words: list[str] = []
    values: list[int] = []

    def part() -> Nonzeros:
        row = np.repeat(np.arange(done, done + len(lengths)), lengths)
        column = file.vocabulary.columns(words)
        return Nonzeros(row, column, np.array(values, np.float64), done + len(lengths))

    for found in rows:
        lengths.append(len(found))
        words += found
        values += found.values()
        if len(lengths) == ROWS_AT_ONCE or len(words) > TOKENS_AT_ONCE:
            yield part()
            done += len(lengths)
            lengths, words, values = [], [], []
    yield part()


def read_transactions(file: FeatureFile) -> Iterator[Nonzeros]:
    """Transactions, as in the FIMI collection: a line a basket, its items between blanks, on or off."""
    return _counted(file, (dict.fromkeys(items, 1) for items in baskets(file)))


def baskets(file: FeatureFile) -> Iterator[list[str]]:
    """The items of each line."""
    with open_unpacked(file.path, lines=True) as lines:
        for line in lines:
            items = line.decode(file.reading.encoding).split()
            if wrong := [item for item in items if item[0] == "-" and item[1:].isdigit()]:
                raise file.refuse(f"has the negative item {wrong[0]}", "number items from 0")
            if items:
                yield items


def read_text(file: FeatureFile) -> Iterator[Nonzeros]:
    """Lower case, unless asked otherwise. Documents without a token are rows without nonzeros."""
    tokens = tokenizer(file.reading)
    return _counted(file, (Counter(tokens(document)) for document in documents(file)))


def documents(file: FeatureFile) -> Iterator[str]:
    """The documents of a text."""
    split = file.reading.split
    with (
        open_unpacked(file.path, lines=split in ("line", "blank")) as opened,
        io.TextIOWrapper(opened, encoding=file.reading.encoding) as content,
    ):
        if split in ("line", "blank"):
            for full, lines in groupby(content, lambda line: bool(line.strip())):
                if full and split == "line":
                    yield from lines
                elif full:
                    yield "".join(_held(file, lines))
            return
        whole = next(_held(file, [content.read(MAX_SIZE.get() // LINES_IN_LIMIT + 1)]))
        if split == "file":
            yield whole
        else:
            yield from (part for part in compiled("split", split).split(whole) if part and part.strip())


def _held(file: FeatureFile, lines: Iterable[str]) -> Iterator[str]:
    """The lines, as long as together they fit in memory."""
    size = 0
    for line in lines:
        check_bytes(file.path, LINES_IN_LIMIT * (size := size + len(line)), "a document")
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


def read_python(file: FeatureFile) -> Iterator[Nonzeros]:
    """Names and operators as they are written, on or off; any string is one token, and so is any number."""
    return _counted(file, (dict.fromkeys(line, 1) for line in python_lines(file)))


def python_lines(file: FeatureFile) -> Iterator[list[str]]:
    """The tokens of each logical line; comments and layout are not read."""
    with open_unpacked(file.path, lines=True) as opened:
        line: list[str] = []
        try:
            for token in tokenize.tokenize(opened.readline):
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
