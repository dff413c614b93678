"""One question of the page: its state as text, read and refused by the library's own rules."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparselaw import numbers
from sparselaw.errors import InputError, check_choice, check_not_negative, check_positive
from sparselaw.inputs import Inputs
from sparselaw.numbers import typed

if TYPE_CHECKING:
    from sparselaw.explore.session import Session
    from sparselaw.inputs import Inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """``given`` comes from the URL or a widget's message: nothing of it has been checked yet.

    ``stop`` is set when nobody waits for the answer any more.
    """

    given: Mapping[str, str]
    session: Session
    body: bytes = b""
    stop: threading.Event = field(default_factory=threading.Event)

    def text(self, name: str, default: str = "") -> str:
        return str(self.given.get(name, "")).strip() or default

    def real(self, name: str, default: float | None = None) -> float:
        return numbers.real(name, self._needed(name, default))

    def not_negative(self, name: str, default: float | None = None) -> float:
        return check_not_negative(name, self.real(name, default))

    def positive(self, name: str, default: float | None = None) -> float:
        return check_positive(name, self.real(name, default))

    def size(self, name: str, default: int | None = None) -> int:
        return numbers.size(name, self._needed(name, default))

    def sizes(self, name: str, default: str | None = None, *, most: int = 0) -> list[int]:
        """A list as on the command line: 4,8,16 or start:stop:count. ``most`` limits its length."""
        found = numbers.sizes(name, text := self._needed(name, default))
        if most and len(found) > most:
            raise InputError(name, text, f"has {len(found)} values", f"give at most {most}")
        return found

    def choice(self, name: str, allowed: list[str]) -> str:
        """One of a few words; the first where nothing is given."""
        return check_choice(name, self.text(name, allowed[0]), allowed)

    def inputs(self) -> Inputs:
        """The inputs that the state describes: kind, the two exponents, dimension, or a measurement."""
        from sparselaw.explore.uploads import MEASURED, measured_inputs
        from sparselaw.inputs import kind_of

        if self.text("inputs") == MEASURED:
            return measured_inputs(self)
        kind = kind_of(name := self.text("inputs", "sparse"))  # by its name alone: the page names no paths
        given = {option: text for option in kind.option_names() if (text := self.text(option))}
        return kind.from_written(name, given, self.text("dimension") or None)

    def _needed(self, name: str, default: object) -> str:
        text = self.text(name)
        if not text and default is None:
            raise InputError(name, "", "is missing", f"give {name}")
        return text or f"{default}"


Values = Callable[[Call], dict[str, Any]]
Stream = Callable[[Call], Iterator[dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What one view of the page may ask for: values at once, and streams of lines for what takes time."""

    values: Mapping[str, Values] = field(default_factory=dict)
    streams: Mapping[str, Stream] = field(default_factory=dict)


def refusal(error: InputError) -> dict[str, Any]:
    """The library's own line, and which control it is about."""
    return {"refused": str(error), "name": error.name, "condition": error.condition, "remedy": error.remedy}


def shell(command: str, **options: Any) -> str:
    """A line for the shell; what is None is left out.

    >>> shell("predict", alpha1=1.0, N="4,8", ridge=None)
    'sparselaw predict --alpha1 1 -N 4,8'
    """
    words = ["sparselaw", command]
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append(f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(typed(value))
    return shlex.join(words)


def input_python(inputs: Inputs) -> str:
    """The line that makes the inputs in Python.

    >>> from sparselaw.inputs import SparseInputs
    >>> input_python(SparseInputs(alpha1=1.0, alpha2=0.3))
    'model = sl.SparseInputs(alpha1=1, alpha2=0.3)'
    """
    return f"model = {inputs.as_python()}"
