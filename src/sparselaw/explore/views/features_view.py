"""Features: a matrix dropped on the page, how sparse it is in the theory's sense, and how it is learned."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sparselaw.errors import InputError
from sparselaw.explore.call import Call, code_of, shell, under_its_name
from sparselaw.explore.chart_data import Chart, axis, chart, line, points
from sparselaw.explore.session import limited_uploads
from sparselaw.interval import Interval
from sparselaw.measuring import LearningCurve, Measurement
from sparselaw.measuring.learning_curve import THEORIES
from sparselaw.plotting.measured import STEEPEST

SAMPLE = "stdlib"  # tokens of the lines of Python's own library: on every machine


def measured(call: Call) -> Iterator[dict[str, Any]]:
    """How the file is being read, then all that was measured."""
    return _looked_at(call, "measure", "measured", _charts)


def learned(call: Call) -> Iterator[dict[str, Any]]:
    """How the file is being read, then its learning curves beside the theories, and the verdict."""
    return _looked_at(call, "learn", "learned", _learning)


def look_at(asked: tuple[str, str, bool]) -> Measurement | LearningCurve | InputError:
    """Measure or learn, in a worker: a refusal is handed back, since it is no failure."""
    from sparselaw.measuring import learn, measure

    command, source, binary = asked
    file = source if source == SAMPLE else Path(source)
    try:
        with limited_uploads():
            return (
                learn(file, binary=binary) if command == "learn" else measure(file, binary=binary, workers=1)
            )
    except InputError as error:
        return error


def _looked_at(
    call: Call, command: str, key: str, charts: Callable[[Any], dict[str, Chart]]
) -> Iterator[dict[str, Any]]:
    """What is being read, and what came out. A worker does it, so that it can be stopped."""
    name, binary = call.file_name("features"), call.text("binary") == "1"
    if call.text("sample"):
        name, source = SAMPLE, SAMPLE
    else:
        dropped = call.dropped("features", name, "drop a matrix: a row for each sample")
        source = str(call.session.uploads.find(dropped))
    yield {"reading": name}
    shown = f"{shell(command, binary=binary)} {shlex.quote(name)}"
    code = code_of(shown, f"sl.{command}({name!r}{', binary=True' * binary})")
    for _, found in call.session.bench.map(call.stop, look_at, [(command, source, binary)]):
        with under_its_name(source, name):
            if isinstance(found, InputError):
                raise found
        told = found.as_dict() | {"source": name, "sentences": found.sentences()}
        told.pop("table", None)  # as long as the features
        yield {key: told, "charts": charts(found), "code": code}


def _charts(found: Measurement) -> dict[str, Chart]:
    """Features seen, the unseen share of the variance, and the local exponent, each against the rows."""
    D = [point.D for point in found.curve]
    local = [(p.D, p.alpha1) for p in found.curve if p.alpha1 is not None and p.alpha1.best <= STEEPEST]
    seen, unseen = [point.K for point in found.curve], [point.unseen for point in found.curve]
    return {
        "seen": _chart("features seen K(D)", "features seen", D, seen),
        "unseen": _chart("unseen share of the variance", "unseen", D, unseen),
        "alpha1": _chart("local alpha1", "alpha1", [d for d, _ in local], [v for _, v in local], log=False),
    }


def _learning(found: LearningCurve) -> dict[str, Chart]:
    """The loss against rows and against random features, measured and by each theory."""
    along_D = _beside(found.curve, "D", "rows D", THEORIES)
    charts = {"learned": along_D}
    if found.widths:
        charts["widths"] = _beside(found.widths, "N", "random features N", ("gaussian", "diagonal"))
    return charts


def _beside(measured: Sequence[Any], size: str, label: str, theories: Sequence[str]) -> Chart:
    x = [getattr(point, size) for point in measured]
    values = [point.measured for point in measured]
    best, low, high = ([_positive(getattr(v, end)) for v in values] for end in ("best", "low", "high"))
    curves = [
        line(name, x, [_positive(getattr(point, name)) for point in measured], colour=colour)
        for name, colour in zip(theories, (1, 2, 3, None), strict=False)
    ]
    shown = points("measured, 95 % interval", x, best, low, high, colour=0)
    return chart(axis(label), axis("share of the variance"), [*curves, shown])


def _positive(value: float) -> float | None:
    return value if value > 0.0 else None


def _chart(label: str, name: str, D: list[float], values: list[Interval], *, log: bool = True) -> Chart:
    best = [_positive(value.best) if log else value.best for value in values]
    low = [_positive(value.low) if log else value.low for value in values]
    bars = points("95 % interval", D, best, low, [value.high for value in values], colour=0)
    return chart(axis("rows D"), axis(label, log=log), [line(name, D, best, colour=0), bars])
