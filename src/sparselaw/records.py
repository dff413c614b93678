"""Results in plain form: values fit for JSON, and a short table for notebooks."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def finite(value: float | None) -> float | None:
    """The value, or None where it is missing, infinite or not a number."""
    return value if value is not None and math.isfinite(value) else None


def strict_json(value: Any, indent: int | None = None) -> str:
    """JSON as every reader takes it: a number that is infinite or none is null.

    >>> strict_json({"loss": math.inf, "N": 3})
    '{"loss": null, "N": 3}'
    """
    try:
        return json.dumps(value, allow_nan=False, indent=indent)
    except ValueError:
        return json.dumps(_finite_only(value), allow_nan=False, indent=indent)


def _finite_only(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite_only(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite_only(part) for part in value]
    return finite(value) if isinstance(value, float) else value


def put(result: dict[str, Any], key: str, value: Any, reason: str) -> None:
    """Store a number, or a record with ``as_dict``; where there is none, None and beside it the reason.

    >>> result = {}
    >>> put(result, "dimension", math.inf, "infinitely many coordinates")
    >>> result
    {'dimension': None, 'dimension_reason': 'infinitely many coordinates'}
    """
    plain = value.as_dict() if hasattr(value, "as_dict") else finite(value)
    result[key] = plain
    if plain is None:
        result[f"{key}_reason"] = reason


def html_record(title: str, values: Mapping[str, Any], notes: Iterable[str] = ()) -> str:
    """A record for a notebook: what there is to say first, then a row for each value that there is."""
    rows = [[name, f"{value:.6g}" if isinstance(value, float) else value] for name, value in values.items()]
    return html_table(title, ["quantity", "value"], [row for row in rows if row[1] is not None], notes)


def html_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], notes: Iterable[str] = ()
) -> str:
    """A table for a notebook: title, what there is to say (status, warnings) first, then the rows.

    >>> html_table("x < y", ["N"], [[4]])[:24]
    '<div><p><b>x &lt; y</b><'
    """
    from html import escape

    def line(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    said = "".join(f"<p>{escape(note)}</p>" for note in notes)
    body = "".join(line(row, "td") for row in rows)
    head = f"<thead>{line(columns, 'th')}</thead>"
    return f"<div><p><b>{escape(title)}</b></p>{said}<table>{head}<tbody>{body}</tbody></table></div>"
