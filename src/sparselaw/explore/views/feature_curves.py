"""Curves of nonlinear features beside the linear ones: their tables take seconds, so a worker makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparselaw.errors import InputError
from sparselaw.explore.call import Call, View, input_python, shell
from sparselaw.explore.chart_data import line
from sparselaw.explore.views.surface_view import FIXED, SurfaceAsked, gap_reason, notes_of, span_of
from sparselaw.inputs import Inputs
from sparselaw.numbers import sizes

POINTS = 9  # a curve

Item = tuple[Inputs, str, str, list[int], int]


def feature_curves(call: Call) -> Iterator[dict[str, Any]]:
    """A line for each fixed size as its curve is ready; the first says how many there are."""
    from sparselaw.features import FEATURES
    from sparselaw.nonlinear.losses import check_min_norm, check_theory

    asked, name = SurfaceAsked.of(call), features_of(call)
    if name not in _names():
        raise InputError("features", name, "have their curves already", "choose others")
    if asked.along == "xi":
        raise InputError("along", "xi", "is the collapse of linear features", "choose N or D")
    if asked.training.early:
        raise InputError("solver", asked.training.solver.name, "needs linear features", "train to the end")
    check_min_norm(None, asked.training.ridge, asked.training.noise)
    check_theory(asked.inputs, FEATURES[name])
    low, high = span_of(call, asked.inputs, asked.along, asked.fixed)
    grid = f"{low}:{high}:{POINTS}"
    moving, other = sizes(asked.along, grid), FIXED[asked.along][0]
    yield {"curves": len(asked.fixed), "code": _code(asked, name, grid)}
    items: list[Item] = [(asked.inputs, name, asked.along, moving, size) for size in asked.fixed]
    for done, (item, found) in enumerate(call.session.bench.map(call.stop, one_curve, items), start=1):
        if isinstance(found, InputError):
            raise found
        losses, doubts, reasons = found
        label, size = f"{name}, {other} = {item[-1]:,}", asked.fixed.index(item[-1])
        series = line(label, moving, losses, colour=size, caution=doubts, reason=reasons)
        yield {"series": series, "notes": notes_of([series], asked.along), "done": done}


def one_curve(item: Item) -> tuple[list[float], list[str], list[str]] | InputError:
    """Losses, words of caution and reasons of gaps, in a worker; a refusal is handed back."""
    from sparselaw.predicting import prediction

    inputs, name, along, moving, fixed = item
    pairs = (moving, [fixed]) if along == "N" else ([fixed], moving)
    try:
        points = prediction(inputs, *pairs, features=name).points
    except InputError as error:
        return error
    doubts, reasons = [point.caution for point in points], [gap_reason(point) for point in points]
    return [point.loss for point in points], doubts, reasons


def features_of(call: Call) -> str:
    """The features that the state names."""
    return call.choice("features", ["linear", *_names()])


def _names() -> list[str]:
    from sparselaw.features import FEATURES

    return [name for name, features in FEATURES.items() if not getattr(features, "has_surface", False)]


def _code(asked: SurfaceAsked, name: str, grid: str) -> dict[str, str]:
    along, other = asked.along, FIXED[asked.along][0]
    listed = {along: grid, other: ",".join(str(size) for size in asked.fixed), "features": name}
    low, high, count = grid.split(":")
    python = [
        "import numpy as np",
        "import sparselaw as sl",
        "",
        input_python(asked.inputs),
        f"{along} = np.unique(np.geomspace({low}, {high}, {count}).round().astype(int))",
        f'found = sl.predict(model, {along}={along}.tolist(), {other}={asked.fixed}, features="{name}")',
    ]
    return {"shell": shell("predict", **asked.inputs.as_options(), **listed), "python": "\n".join(python)}


VIEW = View(streams={"surface/features": feature_curves})
