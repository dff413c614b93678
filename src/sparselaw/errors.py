"""The one way bad input is reported, and the one way a library function says something beside its result."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any

LONGEST_VALUE, LONGEST = 300, 1000  # characters of a value that a message repeats, and of a message


class InputError(ValueError):
    """A value that cannot be used: its name, the condition it breaks, and the remedy.

    The message is one line, whatever the value holds.

    >>> print(InputError("file", "a\\nb", "does not exist", "check the path"))
    file=a\\nb: does not exist; check the path
    >>> print(InputError("alpha1", -2.0, "must be at least -1", "choose alpha1 >= -1"))
    alpha1=-2: must be at least -1; choose alpha1 >= -1
    """

    def __init__(self, name: str, value: Any, condition: str, remedy: str) -> None:
        shown = f"{value:.12g}" if isinstance(value, float) else value
        text = _cut(f"{name}={_cut(one_line(shown), LONGEST_VALUE)}: {one_line(condition)}", LONGEST)
        super().__init__(f"{text}; {one_line(remedy)}")
        self.name, self.value, self.condition, self.remedy = name, value, condition, remedy

    def __reduce__(self) -> tuple[Any, ...]:  # so that it survives the trip back from a worker process
        return type(self), (self.name, self.value, self.condition, self.remedy)


class SparselawWarning(UserWarning):
    """What a result says of itself, as in its ``warnings``: filter it as any other category of warnings.

    The same words go to the logger ``sparselaw``, which is silent until somebody gives it a handler.
    """


class Notice(SparselawWarning):
    """Something left out or done anew that the person should know of; the command prints it as one line."""


def warn_of(said: Iterable[str], of: str = "") -> None:
    """Issue each of the warnings of a result for whoever called the function that calls this one."""
    import logging

    logger = logging.getLogger("sparselaw")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    for words in said:
        warnings.warn(of + words, SparselawWarning, stacklevel=3)
        logger.warning("%s%s", of, words)


def notice(text: str) -> None:
    """Say ``text`` beside the result, as a warning of the kind ``Notice``."""
    warnings.warn(one_line(text), Notice, stacklevel=2)


def one_line(value: Any) -> str:
    """The text of a value with its line breaks and other unprintable characters written out.

    >>> one_line("two\\nlines"), one_line("tab\\t, bell\\a")
    ('two\\\\nlines', 'tab\\\\t, bell\\\\x07')
    """
    try:
        text = str(value)
    except ValueError:  # a whole number of thousands of digits
        text = "a very long number"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def check_finite(name: str, value: float) -> float:
    """Return ``value`` as a float, or say that it is not a finite number."""
    try:
        number = float(value)
    except OverflowError:
        raise InputError(
            name, f"{one_line(value)[:12]}...", "is too large", f"give a smaller {name}"
        ) from None
    except (TypeError, ValueError):
        raise InputError(name, value, "is not a number", f"give a number for {name}") from None
    if not math.isfinite(number):
        raise InputError(name, value, "is not finite", f"give a finite number for {name}")
    return number


def check_size(name: str, value: float) -> int:
    """Return ``value`` as a whole number of at least one, or say why it cannot be a size.

    >>> check_size("N", 1e6)
    1000000
    """
    number = check_finite(name, value)
    if number != int(number):
        raise InputError(name, value, "is not a whole number", f"round {name}")
    if number < 1:
        raise InputError(name, value, "must be at least 1", f"choose {name} >= 1")
    return int(value)


def check_not_negative(name: str, value: float) -> float:
    """Return ``value`` as a float of at least zero."""
    number = check_finite(name, value)
    if number < 0:
        raise InputError(name, value, "must not be negative", f"choose {name} >= 0")
    return number


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return ``value``, one of a few words."""
    if value not in (allowed := list(choices)):
        raise InputError(name, value, "is not one of the choices", f"choose {' or '.join(allowed)}")
    return str(value)


def check_positive(name: str, value: float) -> float:
    """Return ``value`` as a float above zero."""
    number = check_finite(name, value)
    if number <= 0:
        raise InputError(name, value, "must be positive", f"choose {name} > 0")
    return number


def check_step(value: float) -> float:
    """Return a step size above zero, within what times and squares of it can be computed."""
    number = check_positive("step", value)
    if not 1e-50 <= number <= 1e50:
        raise InputError("step", value, "must lie between 1e-50 and 1e50", "scale the inputs instead")
    return number
