"""The one way bad input is reported."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


class InputError(ValueError):
    """A value that cannot be used: its name, the condition it breaks, and the remedy.

    >>> print(InputError("alpha1", -2.0, "must be at least -1", "choose alpha1 >= -1"))
    alpha1=-2: must be at least -1; choose alpha1 >= -1
    """

    def __init__(self, name: str, value: Any, condition: str, remedy: str) -> None:
        shown = f"{value:.12g}" if isinstance(value, float) else value
        super().__init__(f"{name}={shown}: {condition}; {remedy}")
        self.name, self.value, self.condition, self.remedy = name, value, condition, remedy

    def __reduce__(self) -> tuple[Any, ...]:  # so that it survives the trip back from a worker process
        return type(self), (self.name, self.value, self.condition, self.remedy)


def check_finite(name: str, value: float) -> float:
    """Return ``value`` as a float, or say that it is not a finite number."""
    try:
        number = float(value)
    except OverflowError:
        raise InputError(name, f"{str(value)[:12]}...", "is too large", f"give a smaller {name}") from None
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
