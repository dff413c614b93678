"""Phase: the regime of a point of the diagram (fig:phase-diagram), its exponents and their formulas."""

from __future__ import annotations

from typing import Any

from sparselaw.explore.call import Call, View, input_python, shell
from sparselaw.explore.chart_data import Chart, axis, line
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
        "code": {
            "shell": shell("predict", **inputs.as_options()),
            "python": f"import sparselaw as sl\n\n{input_python(inputs)}\nmodel.exponents",
        },
    }


def _limits(inputs: Inputs) -> Chart:
    """loss ~ C_N N^-alpha_N for unlimited data, C_D D^-alpha_D for an unlimited model."""
    law = inputs.power_law()
    dense = DenseInputs(alpha=law.alpha_N, dimension=DEFAULT_DIMENSION)
    chart: Chart = {"x": axis("size: N or D"), "y": axis("loss"), "marks": [], "notes": []}
    chart["series"] = [
        _power("more parameters, N", inputs.model_constant(), law.alpha_N, colour=0),
        _power("more data, D", inputs.data_constant(), law.alpha_D, colour=1),
    ]
    if inputs.sampling != dense.sampling:
        chart["series"].append(
            _power("dense inputs, N or D", dense.model_constant(), law.alpha_N, colour=None, dash="dotted")
        )
    return chart


def _power(label: str, constant: float, exponent: float, **look: Any) -> dict[str, Any]:
    x = list(SPAN)
    return line(f"{label}: slope −{exponent:.3g}", x, [constant * size**-exponent for size in x], **look)


VIEW = View(values={"phase": phase})
