"""Features: a matrix dropped on the page, and how sparse it is in the theory's sense."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sparselaw.errors import InputError
from sparselaw.explore.call import Call, View
from sparselaw.explore.chart_data import Chart, axis, line, points
from sparselaw.explore.code_lines import shell
from sparselaw.interval import Interval
from sparselaw.measuring import Measurement

SAMPLE = "stdlib"  # tokens of the lines of Python's own library: on every machine


def measured(call: Call) -> Iterator[dict[str, Any]]:
    """How the file is being read, then all that was measured; a worker does it, so that it can be stopped."""
    name = _file_name(call)
    if call.text("sample"):
        name, source = SAMPLE, SAMPLE
    elif not call.body:
        raise InputError("features", name, "is empty", "drop a matrix: a row for each sample")
    else:
        source = str(call.session.uploads.find(call.session.uploads.keep(name, call.body)))
    yield {"reading": name}
    binary = call.text("binary") == "1"
    for _, found in call.session.bench.map(call.stop, measure_file, [(source, binary)]):
        if isinstance(found, InputError):
            said = name if found.value == source else found.value
            raise InputError(found.name, said, found.condition, found.remedy)
        code = {
            "shell": shell("measure", **({"binary": True} if binary else {})) + f" {name}",
            "python": f"import sparselaw as sl\n\nsl.measure({name!r}{', binary=True' if binary else ''})",
        }
        yield {"measured": _plain(found, name), "charts": _charts(found), "code": code}


def measure_file(asked: tuple[str, bool]) -> Measurement | InputError:
    """In a worker: a refusal is handed back, since it is no failure."""
    from sparselaw.measuring import measure

    source, binary = asked
    try:
        return measure(source if source == SAMPLE else Path(source), binary=binary, workers=1)
    except InputError as error:
        return error


def _plain(found: Measurement, name: str) -> dict[str, Any]:
    every = found.as_dict()
    del every["table"]  # as long as the features
    return every | {"source": name, "sentences": found.sentences()}


def _charts(found: Measurement) -> dict[str, Chart]:
    """Features seen, the unseen share of the energy, and the local exponent, each against the rows."""
    D = [point.D for point in found.curve]
    local = [(point.D, point.alpha1) for point in found.curve if point.alpha1 is not None]
    seen, unseen = [point.K for point in found.curve], [point.unseen for point in found.curve]
    return {
        "seen": _chart("features seen K(D)", "features seen", D, seen),
        "unseen": _chart("unseen share of the energy", "unseen", D, unseen),
        "alpha1": _chart("local alpha1", "alpha1", [d for d, _ in local], [v for _, v in local], log=False),
    }


def _chart(label: str, name: str, D: list[float], values: list[Interval], *, log: bool = True) -> Chart:
    best = [value.best if value.best > 0.0 or not log else None for value in values]
    low = [value.low if value.low > 0.0 or not log else None for value in values]
    return {
        "x": axis("rows D"),
        "y": axis(label, log=log),
        "series": [
            line(name, D, best, colour=0),
            points("95 % interval", D, best, low, [value.high for value in values], colour=0),
        ],
        "marks": [],
        "notes": [],
    }


def _file_name(call: Call) -> str:
    """The person's own name of the file, without its folders: for words only, never opened."""
    return call.text("file_name", "features").replace("\\", "/").split("/")[-1][:80] or "features"


VIEW = View(streams={"features/measure": measured})
