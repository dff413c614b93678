"""Phase: the regime of a point of the diagram (fig:phase-diagram), its exponents and their formulas.

And the panel of inputs beside every view, where a measurement can be dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparselaw.explore.call import (
    MEASUREMENT,
    Call,
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
    curves: list[tuple[str, float, float, dict[str, Any]]] = [
        ("more parameters, N", law.model_constant, law.alpha_N, {"colour": 0}),
        ("more data, D", law.data_constant, law.alpha_D, {"colour": 1}),
    ]
    if inputs.sampling != dense.sampling:
        constant = dense.power_law().model_constant
        curves.append(("dense inputs, N or D", constant, law.alpha_N, {"colour": None, "dash": "dotted"}))
    series = [
        line(f"{label}: slope −{e:.3g}", SPAN, [constant * x**-e for x in SPAN], **look)
        for label, constant, e, look in curves
    ]
    return chart(axis("size: N or D"), axis("loss"), series)


def keep_measured(call: Call) -> Iterator[dict[str, Any]]:
    """Read the measurement that was dropped; its key, and what it describes."""
    name = json_name(call.text("file_name"))
    key = call.dropped("inputs", name, f"drop {MEASUREMENT}")
    found = read_measured(call.session.uploads.find(key), name)
    active = found.expected_nonzeros()
    yield {"table": key, "name": name, "coordinates": int(found.dimension), "active": active}
