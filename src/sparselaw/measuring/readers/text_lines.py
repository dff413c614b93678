"""Plain text: a row a document, a column a word (a character, a match, several of them in a row), counted."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterator
from typing import ClassVar

from sparselaw.errors import InputError, check_choice, check_size
from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.bags import parts_of_bags
from sparselaw.measuring.readers.base import Reader, Reading, open_bytes

TOKENS = ("words", "characters")


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
        encoding = self.reading.encoding
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise InputError("encoding", encoding, "is not known", "write utf-8 or latin-1, say") from None
        with open_bytes(self.path) as file, io.TextIOWrapper(file, encoding=encoding) as text:
            split = self.reading.split
            if split == "line":
                yield from (line for line in text if line.strip())
            elif split == "blank":
                yield from _paragraphs(text)
            elif split == "file":
                yield text.read()
            else:
                pattern = compiled("split", split)
                yield from (part for part in pattern.split(text.read()) if part and part.strip())


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
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InputError(name, pattern, f"is no regular expression ({error})", "correct it") from None


def _paragraphs(lines: Iterator[str]) -> Iterator[str]:
    held: list[str] = []
    for line in lines:
        if line.strip():
            held.append(line)
        elif held:
            yield "".join(held)
            held = []
    if held:
        yield "".join(held)
