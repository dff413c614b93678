"""What result records share: JSON, data frames, files, and tables for people, from the fields of a record."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sparselaw.errors import InputError
from sparselaw.interval import Interval
from sparselaw.numbers import short_number

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1  # of files with saved results


class Record:
    """Base of frozen result records: JSON and a picture in words from the fields.

    >>> @dataclasses.dataclass(frozen=True, slots=True)
    ... class Point(Record):
    ...     N: float
    ...     loss: Interval
    ...     slope: float = math.inf
    >>> Point(8.0, Interval(1.0, 2.0, math.nan)).as_dict()["loss"]
    {'low': 1.0, 'best': 2.0, 'high': None, 'high_reason': 'not known'}
    >>> Point(8.0, Interval(1.0, 2.0, 3.0)).as_dict()["slope_reason"]
    'not finite'
    """

    __slots__ = ()
    reasons: ClassVar[Mapping[str, str]] = {}  # why a field, or the end of an interval, may be missing

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON: every field that is shown (``repr``)."""
        return to_dict(self)


class Saved(Record):
    """A record that can be kept in a file: ``kept`` gives its kind and its content."""

    __slots__ = ()

    def kept(self) -> tuple[str, Mapping[str, Any]]:
        """The kind, and all from which ``sl.load`` makes the result again."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Write it to a JSON file that ``sl.load`` reads.

        Parameters
        ----------
        path
            Of the file, which is replaced where it exists.

        Raises
        ------
        InputError
            Where the file cannot be written, or the result is of a kind that cannot be kept.
        """
        from sparselaw.files import write_atomically

        kind, content = self.kept()
        head = {"kind": kind, "format": FORMAT, "version": sys.modules["sparselaw"].__version__}
        try:
            with write_atomically(path) as file:
                file.write(json.dumps({**head, **content}, allow_nan=False).encode())
        except OSError as error:
            reason = f"cannot be written ({error.strerror})"
            raise InputError("path", path, reason, "choose another place") from None


def to_dict(record: Any, *names: str, **reasons: str) -> dict[str, Any]:
    """The fields of a record, or those named, ready for JSON.

    What is infinite or no number is null, and beside it the reason: from ``reasons``, else from those of the
    record. None without a reason is left out.
    """
    why = {**getattr(record, "reasons", {}), **reasons}
    result: dict[str, Any] = {}
    for name in names or [field.name for field in dataclasses.fields(record) if field.repr]:
        value = getattr(record, name)
        found = _for_json(value, why.get(name, "not known"))
        if found is not None or value is not None or name in why:
            result[name] = found
        if found is None and (value is not None or name in why):
            result[f"{name}_reason"] = why.get(name, "not finite")
    return result


def _for_json(value: Any, no_ends: str) -> Any:
    if isinstance(value, Interval):
        return value.to_dict(no_ends)
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _for_json(part, no_ends) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_for_json(part, no_ends) for part in value]
    return finite(value) if isinstance(value, float) else value


def frame(rows: Iterable[Any], *names: str) -> pd.DataFrame:
    """One row for each record or mapping; an interval is three columns.

    >>> frame([{"N": 8, "loss": Interval(1.0, 2.0, 3.0)}]).columns.tolist()
    ['N', 'loss_low', 'loss_best', 'loss_high']
    """
    import pandas as pd

    lines = []
    for row in rows:
        known = row if isinstance(row, Mapping) else None
        line: dict[str, Any] = {}
        for name in names or (known or [field.name for field in dataclasses.fields(row) if field.repr]):
            value = known[name] if known is not None else getattr(row, name)
            if isinstance(value, Interval):
                line |= {f"{name}_{end}": number for end, number in value.as_dict().items()}
            else:
                line[name] = value
        lines.append(line)
    return pd.DataFrame(lines)


def cells_of(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a data frame as a reader is shown them; a dash where there is no number."""
    rows = [
        [("-" if math.isnan(c) else short_number(c)) if isinstance(c, float) else str(c) for c in row]
        for row in table.itertuples(index=False)
    ]
    return [str(name) for name in table.columns], rows


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
        return json.dumps(_for_json(value, "not known"), allow_nan=False, indent=indent)


def put(result: dict[str, Any], key: str, value: Any, reason: str) -> None:
    """Store a number, or a record with ``as_dict``; where there is none, None and beside it the reason.

    >>> result = {}
    >>> put(result, "dimension", math.inf, "infinitely many coordinates")
    >>> result
    {'dimension': None, 'dimension_reason': 'infinitely many coordinates'}
    """
    found = value.as_dict() if hasattr(value, "as_dict") else finite(value)
    result[key] = found
    if found is None:
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


def dropped_words(dropped: Mapping[str, int]) -> list[str]:
    """How many rows were left out for each reason."""
    return [f"{count} row{'s' * (count != 1)} dropped: {reason}" for reason, count in dropped.items()]
