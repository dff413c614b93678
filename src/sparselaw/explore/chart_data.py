"""What a chart is told: axes, series with their cautions, marks and notes, as plain values for JSON.

The page draws every chart from this one shape, and makes its table and its CSV from it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sparselaw.records import finite

Chart = dict[str, Any]


def chart(
    x: dict[str, Any],
    y: dict[str, Any],
    series: Sequence[dict[str, Any]],
    *,
    marks: Sequence[dict[str, Any]] = (),
    notes: Sequence[str] = (),
) -> Chart:
    """Series over two axes, with upright marks, and notes below."""
    return {"x": x, "y": y, "series": list(series), "marks": list(marks), "notes": list(notes)}


def axis(label: str, *, log: bool = True, sizes: bool = False) -> dict[str, Any]:
    """``label`` may have markup of formulas: alpha_N, N^{-2.3}, xi. ``sizes`` are written as 57M and 2.1B."""
    return {"label": label, "log": log, "sizes": sizes}


def line(
    label: str,
    x: Sequence[float],
    y: Sequence[float | None],
    *,
    colour: int | None = 0,
    dash: str = "",
    caution: Sequence[str] = (),
    reason: Sequence[str] = (),
    low: Sequence[float | None] = (),
    high: Sequence[float | None] = (),
) -> dict[str, Any]:
    """A curve. A value that is infinite or missing is a gap, with its ``reason``.

    From ``low`` to ``high``, where they are given, the curve has a band.
    ``colour`` counts through the palette, None is the colour of the text; ``dash`` is "", "dashed", "dotted".
    Where ``caution`` has words the curve is dashed, and the words are shown.
    """
    texts = {"caution": list(caution), "reason": list(reason)}
    words = {name: text for name, text in texts.items() if any(text)}
    return _series("line", label, x, y, low, high) | {"colour": colour, "dash": dash} | words


def points(
    label: str,
    x: Sequence[float],
    y: Sequence[float | None],
    low: Sequence[float | None] = (),
    high: Sequence[float | None] = (),
    *,
    colour: int | None = 0,
    large: bool = False,
) -> dict[str, Any]:
    """Single points, with error bars from ``low`` to ``high`` where they are given."""
    return _series("points", label, x, y, low, high) | {"colour": colour, "large": large}


def _series(kind: str, label: str, x: Sequence[float], *values: Sequence[float | None]) -> dict[str, Any]:
    y, low, high = ([finite(value) for value in part] for part in values)
    return {"kind": kind, "label": label, "x": list(x), "y": y} | ({"low": low, "high": high} if low else {})


def mark(at: float, label: str, *, colour: int | None = None) -> dict[str, Any]:
    """An upright line at ``at`` on the x axis."""
    return {"at": at, "label": label, "colour": colour}


def cautions(name: str, curves: Sequence[tuple[str, Sequence[float], Sequence[str]]]) -> list[str]:
    """A line for each caution with all its stretches; numbers that change along them are left out.

    >>> curves = [("D = 10", [4, 5, 6], ["K = 3: few", "K = 3: few", ""]), ("D = 20", [4], ["K = 5: few"])]
    >>> cautions("N", curves)
    ['K = …: few (D = 10, N = 4 to 5; D = 20, N = 4)']
    """
    where: dict[str, list[str]] = defaultdict(list)
    words: dict[str, list[str]] = defaultdict(list)
    for label, x, texts in curves:
        clauses = [{_NUMBER.sub("0", c): c for c in text.split("; ") if c} for text in texts]
        for shape in dict.fromkeys(shape for found in clauses for shape in found):
            said = [(at, found.get(shape)) for at, found in zip(x, clauses, strict=True)]
            for there, run in groupby(said, lambda one: one[1] is not None):
                if there:
                    stretch = list(run)
                    ends = dict.fromkeys(_readable(stretch[end][0]) for end in (0, -1))
                    where[shape].append(f"{label}, {name} = {' to '.join(ends)}")
                    words[shape] += [clause for _, clause in stretch if clause]
    return [f"{_common(words[shape])} ({'; '.join(spans)})" for shape, spans in where.items()]


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")


def _common(texts: Sequence[str]) -> str:
    """The text with the numbers in which all agree."""
    columns = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    kept = iter(["…" if len(set(column)) > 1 else column[0] for column in columns])
    return _NUMBER.sub(lambda _: next(kept), texts[0])


def _readable(x: float) -> str:
    """A size in words.

    >>> _readable(17810), _readable(0.51764), _readable(2.5e9)
    ('17,810', '0.5176', '2.5e+09')
    """
    return f"{x:,.0f}" if 1e4 <= x < 1e7 else f"{x:,.4g}"
