"""Numbers and lists of numbers as people type them: on the command line and in the page."""

from __future__ import annotations

import math
import re
from typing import Any

from sparselaw.errors import InputError, check_finite, check_size

LIST_REMEDY = "write 4,8,16 or start:stop:count"
UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}
WRITTEN = re.compile(
    r"^(\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d{1,3}(?:_\d{3})+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*([kKmMbBgGtT]?)"
    r"(?:\s*(?:params|parameters|tokens))?$"
)


def written_number(text: str) -> float:
    """A size as people write it; nan where the text is none.

    >>> [written_number(t) for t in ("10M", "1.5 B", "1,000,000", "7_000", "300k", "2T", "many")]
    [10000000.0, 1500000000.0, 1000000.0, 7000.0, 300000.0, 2000000000000.0, nan]
    """
    match = WRITTEN.match(text.strip())
    if match is None:
        return math.nan
    digits, unit = match.groups()
    return float(digits.replace(",", "").replace("_", "")) * UNITS[unit.lower()]


def amount(name: str, text: str) -> float:
    """A finite number, which may be written as sizes are: 7B, 350M, 1.5T.

    >>> amount("N", "7B"), amount("D", "1.4e11")
    (7000000000.0, 140000000000.0)
    """
    written = written_number(text) if text.strip()[-1:].isalpha() else math.nan
    return real(name, text) if math.isnan(written) else written


def real(name: str, text: str) -> float:
    """A finite number.

    >>> real("alpha1", "0.5")
    0.5
    """
    try:
        number = float(text)
    except ValueError:
        raise InputError(name, text, "is not a number", f"give a number for {name}") from None
    return check_finite(name, number)


def size(name: str, text: str) -> int:
    """A whole number of at least 1; 1e6 and 7B are.

    >>> size("D", "1e6"), size("N", "7B")
    (1000000, 7000000000)
    """
    exact = len(text) <= 300 and text.isdecimal() and int(text) > 0  # beyond 2^53 a float would round it
    return int(text) if exact else check_size(name, amount(name, text))


def sizes(name: str, text: str) -> list[int]:
    """A list: separated by commas, or start:stop:count, log-spaced, rounded, distinct.

    >>> sizes("N", "4,8,16"), sizes("N", "4:256:4")
    ([4, 8, 16], [4, 16, 64, 256])
    """
    if ":" not in text:
        items = [size(name, item.strip()) for item in text.split(",")]
        return list(dict.fromkeys(items))
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError(name, text, "is not a list", LIST_REMEDY)
    start, stop = size(name, parts[0]), size(name, parts[1])
    count = size(f"count of {name}", parts[2])
    if stop < start:
        raise InputError(name, text, "stops before it starts", LIST_REMEDY)
    if count > 1_000_000:
        raise InputError(name, text, "asks for over a million values", "ask for fewer")
    if count == 1:
        return [start]
    ratio = math.log(stop / start) / (count - 1)
    return sorted({start, stop, *(round(start * math.exp(i * ratio)) for i in range(1, count - 1))})


def widths(name: str, text: str) -> list[float]:
    """Sizes of which one may be ``inf``.

    >>> widths("N", "64,inf")
    [64, inf]
    """
    if ":" in text:
        return list(sizes(name, text))
    return list(dict.fromkeys(_size_or_inf(name, item.strip()) for item in text.split(",")))


def _size_or_inf(name: str, text: str) -> float:
    return math.inf if text.lower() in {"inf", "infinity"} else size(name, text)


def whole(name: str, text: str) -> int:
    """A whole number of at least zero.

    >>> whole("seed", "0")
    0
    """
    number = real(name, text)
    if number < 0 or number != int(number):
        raise InputError(name, text, "must be a whole number of at least 0", f"choose {name} >= 0")
    return int(text) if text.isdecimal() else int(number)


def dimension(text: str | None) -> float | None:
    """A size, ``inf``, or None for the default."""
    return None if text is None else float(_size_or_inf("dimension", text.strip()))


def byte_size(name: str, text: str) -> int:
    """A number of bytes: 800MB, 4GB, 1e9.

    >>> byte_size("max-size", "4GB"), byte_size("max-size", "1e9")
    (4294967296, 1000000000)
    """
    found = re.fullmatch(r"\s*([0-9.eE+]+)\s*([kKmMgGtT]?)(?:i?[bB])?\s*", text)
    if found is None:
        raise InputError(name, text, "is not a size", "write 800MB or 4GB")
    number = real(name, found[1]) * 1024 ** "_kmgt".index(found[2].lower() or "_")
    return check_size(name, float(int(check_finite(name, number))))


def typed(value: Any) -> str:
    """A number as a person would type it.

    >>> typed(0.1), typed(1e-7), typed(50000.0)
    ('0.1', '1e-07', '50000')
    """
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def short_number(value: float, digits: int = 4) -> str:
    """A number in few digits, written out up to a million and as a multiple of a power of ten from there.

    >>> [short_number(v) for v in (0.34931, 243_612.0, 1.3e23, 1e21)], short_number(304.0, 2)
    (['0.3493', '243600', '1.3 x 10^23', '10^21'], '300')
    """
    shown = f"{value:.{digits}g}"
    if "e+" not in shown:
        return shown
    return f"{float(shown):.0f}" if abs(value) < 1e6 else short_compute(value, digits)


def short_probability(p: float) -> str:
    """Of draws: none and all of them are not certain.

    >>> short_probability(0.0), short_probability(0.852), short_probability(0.9995)
    ('< 0.01', '0.85', '> 0.99')
    """
    return "< 0.01" if p < 0.005 else "> 0.99" if p > 0.995 else f"{p:.2f}"


SUFFIXES = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def short_size(value: float, digits: int = 3) -> str:
    """A number of parameters or tokens as people write it.

    >>> short_size(7e9), short_size(5.72342e7), short_size(1.5e12), short_size(256), short_size(3e20)
    ('7B', '57.2M', '1.5T', '256', '3 x 10^20')
    """
    for unit, letter in SUFFIXES:
        if unit <= value < 1e3 * unit and value >= 1e4:
            return f"{value / unit:.{digits}g}{letter}"
    return short_compute(value, digits) if value >= 1e15 else f"{value:.{max(digits, 4)}g}"


def short_compute(value: float, digits: int = 3) -> str:
    """Compute as people write it.

    >>> short_compute(1e21), short_compute(1.5e21), short_compute(64.0)
    ('10^21', '1.5 x 10^21', '64')
    """
    if not 1e4 <= abs(value) < math.inf:
        return f"{value:.{digits}g}"
    times, _, power = f"{value:.{digits - 1}e}".partition("e+")
    times = times.rstrip("0").rstrip(".")
    return f"10^{int(power)}" if times == "1" else f"{times} x 10^{int(power)}"
