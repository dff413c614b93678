"""Phase: the regime of a point of the diagram (fig:phase-diagram), its exponents and their formulas.

And the panel of inputs beside every view, where a measurement can be dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparselaw.errors import InputError
from sparselaw.explore.call import (
    MEASUREMENT,
    Call,
    View,
    code_of,
    input_options,
    input_python,
    json_name,
    read_measured,
    shell,
)
from sparselaw.explore.chart_data import Chart, axis, chart, line
from sparselaw.inputs import DEFAULT_DIMENSION, DenseInputs, Inputs
from sparselaw.predicting import prediction

SPAN = (10.0, 1e6)


def phase(call: Call) -> dict[str, Any]:
    """Exponents and constants, and the two limits that they describe."""
    inputs = call.inputs()
    found = prediction(inputs).as_dict()
    del found["points"]
    return {
        **found,
        "chart": _limits(inputs),
        "code": code_of(shell("predict", **input_options(inputs)), input_python(inputs), "model.exponents"),
    }


def _limits(inputs: Inputs) -> Chart:
    """loss ~ C_N N^-alpha_N for unlimited data, C_D D^-alpha_D for an unlimited model."""
    law = inputs.power_law()
    dense = DenseInputs(alpha=law.alpha_N, dimension=DEFAULT_DIMENSION)
    series = [
        _power("more parameters, N", inputs.power_law().model_constant, law.alpha_N, colour=0),
        _power("more data, D", inputs.power_law().data_constant, law.alpha_D, colour=1),
    ]
    if inputs.sampling != dense.sampling:
        label = "dense inputs, N or D"
        series.append(
            _power(label, dense.power_law().model_constant, law.alpha_N, colour=None, dash="dotted")
        )
    return chart(axis("size: N or D"), axis("loss"), series)


def _power(label: str, constant: float, exponent: float, **look: Any) -> dict[str, Any]:
    x = list(SPAN)
    return line(f"{label}: slope −{exponent:.3g}", x, [constant * size**-exponent for size in x], **look)


def keep_measured(call: Call) -> Iterator[dict[str, Any]]:
    """Read the measurement that was dropped; its key, and what it describes."""
    name = json_name(call.text("file_name"))
    if not call.body:
        raise InputError("inputs", name, "is empty", f"drop {MEASUREMENT}")
    key = call.session.uploads.keep("measured.json", call.body)
    found = read_measured(call.session.uploads.find(key), name)
    active = found.expected_nonzeros()
    yield {"table": key, "name": name, "coordinates": int(found.dimension), "active": active}


VIEW = View(values={"phase": phase}, streams={"inputs/measured": keep_measured})
