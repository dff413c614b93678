"""Results in plain form: values fit for JSON, and a short table for notebooks."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    notes: Iterable[str] = (),
    formula: str = "",
) -> str:
    """A table for a notebook: title, formula, what there is to say (status, warnings), then the rows.

    >>> html_table("x < y", ["N"], [[4]])[:24]
    '<div><p><b>x &lt; y</b><'
    """
    from html import escape

    def line(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    said = "".join(f"<p>{escape(note)}</p>" for note in notes)
    if formula:
        said = f"<p>{html_formula(formula)}</p>{said}"
    body = "".join(line(row, "td") for row in rows)
    head = f"<thead>{line(columns, 'th')}</thead>"
    return f"<div><p><b>{escape(title)}</b></p>{said}<table>{head}<tbody>{body}</tbody></table></div>"


POWER = re.compile(r"\^(-?)(\((?:[^()]|\([^()]*\))*\)|\w+)")
NAME = re.compile(r"[A-Za-z]+(?:_([A-Za-z]+)|(\d))?")
GREEK = {"alpha": "α", "beta": "β", "tau": "τ", "eta": "η", "sum": "∑"}


def latex_formula(formula: str) -> str:
    r"""A formula as laws write it, in LaTeX.

    >>> latex_formula("L = E + A N^-alpha_N + (B D^-beta)^(1/g)")
    'L = E + A N^{-\\alpha_{N}} + (B D^{-\\beta})^{1/g}'
    """
    return _typeset(formula, "^{%s%s}", "-", "_{%s}", lambda name: f"\\{name}" if name in GREEK else name)


def html_formula(formula: str) -> str:
    """The same for a page that has no script for formulas.

    >>> html_formula("L = E + A N^-alpha_N")
    '<i>L</i> = <i>E</i> + <i>A</i> <i>N</i><sup>−<i>α</i><sub>N</sub></sup>'
    """
    return _typeset(
        formula, "<sup>%s%s</sup>", "−", "<sub>%s</sub>", lambda name: f"<i>{GREEK.get(name, name)}</i>"
    )


def _typeset(text: str, power: str, minus: str, below: str, symbol: Callable[[str], str]) -> str:
    text = text.partition(", the ")[0]  # words after a formula

    def named(found: re.Match[str]) -> str:
        index = found[1] or found[2]
        name = found[0].removesuffix(index or "").removesuffix("_")
        return symbol(name) + (below % index if index else "")

    done, last = "", 0
    for found in POWER.finditer(text):
        inner = found[2][1:-1] if found[2].startswith("(") else found[2]
        raised = _typeset(inner, power, minus, below, symbol)
        done += NAME.sub(named, text[last : found.start()]) + power % (minus if found[1] else "", raised)
        last = found.end()
    return done + NAME.sub(named, text[last:])
