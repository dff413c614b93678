"""What a chart is told: axes, series with their cautions, marks and notes, as plain values for JSON.

The page draws every chart from this one shape, and makes its table and its CSV from it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sparselaw.plain import finite

Chart = dict[str, Any]


def axis(label: str, *, log: bool = True) -> dict[str, Any]:
    """``label`` may have markup of formulas: alpha_N, N^{-2.3}, xi."""
    return {"label": label, "log": log}


def line(
    label: str,
    x: Sequence[float],
    y: Sequence[float | None],
    *,
    colour: int | None = 0,
    dash: str = "",
    caution: Sequence[str] = (),
    reason: Sequence[str] = (),
) -> dict[str, Any]:
    """A curve. A value that is infinite or missing is a gap, with its ``reason``.

    ``colour`` counts through the palette, None is the colour of the text; ``dash`` is "", "dashed", "dotted".
    Where ``caution`` has words the curve is dashed, and the words are shown.
    """
    series = {"kind": "line", "label": label, "x": list(x), "y": [finite(value) for value in y]}
    texts = {"caution": list(caution), "reason": list(reason)}
    return (
        series | {"colour": colour, "dash": dash} | {name: text for name, text in texts.items() if any(text)}
    )


def points(
    label: str,
    x: Sequence[float],
    y: Sequence[float | None],
    low: Sequence[float | None] = (),
    high: Sequence[float | None] = (),
    *,
    colour: int | None = 0,
) -> dict[str, Any]:
    """Single points, with error bars from ``low`` to ``high`` where they are given."""
    series = {"kind": "points", "label": label, "x": list(x), "y": [finite(value) for value in y]}
    bars = {"low": [finite(v) for v in low], "high": [finite(v) for v in high]} if len(low) else {}
    return series | {"colour": colour} | bars


def mark(at: float, label: str, *, colour: int | None = None) -> dict[str, Any]:
    """An upright line at ``at`` on the x axis."""
    return {"at": at, "label": label, "colour": colour}


def stretches(label: str, name: str, x: Sequence[float], texts: Sequence[str]) -> list[str]:
    """A line for each run of points that share a word of caution, whatever the numbers in it.

    >>> stretches("D = 100", "N", [4, 5, 6, 7], ["off by 4 %", "off by 3 %", "", "infinite"])
    ['D = 100, N = 4 to 5: off by 4 %', 'D = 100, N = 7: infinite']
    """
    found: list[str] = []
    start = 0
    for i in range(1, len(texts) + 1):
        if i < len(texts) and _same(texts[i], texts[start]):
            continue
        if texts[start]:
            last = x[i - 1]
            span = f"{x[start]:,.4g}" if last == x[start] else f"{x[start]:,.4g} to {last:,.4g}"
            found.append(f"{label}, {name} = {span}: {texts[start]}")
        start = i
    return found


def _same(text: str, other: str) -> bool:
    return re.sub(r"[\d.,e+-]+", "0", text) == re.sub(r"[\d.,e+-]+", "0", other)
