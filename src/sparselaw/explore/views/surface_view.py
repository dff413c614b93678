"""Loss surface: loss against N, against D, and the collapse onto S(xi), from the closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparselaw.errors import InputError
from sparselaw.explore.call import Call, View
from sparselaw.explore.chart_data import Chart, axis, line, mark, stretches
from sparselaw.explore.code_lines import input_options, input_python, plain, shell
from sparselaw.explore.simulation import estimate, simulate
from sparselaw.inputs import Inputs
from sparselaw.numbers import sizes
from sparselaw.theory import Point, prediction, scaling_function
from sparselaw.theory.surface import Surface

SURFACE: Surface = "leading"
POINTS = 120
MOST_CURVES = 4
LARGEST = 10**15
XI_SPAN = (0.05, 30.0)  # the paper's figure 2
FIXED = {"N": ("D", "500,5000,50000"), "D": ("N", "16,64,256"), "xi": ("N", "16,64,256")}


def surface(call: Call) -> dict[str, Any]:
    """One chart and the code that gives it."""
    inputs = call.inputs()
    along = call.choice("along", list(FIXED))
    other, default = FIXED[along]
    fixed = call.sizes(other, default, most=MOST_CURVES)
    ridge, noise = call.not_negative("ridge", 0.0), call.not_negative("noise", 0.0)
    if along == "xi":
        return _collapse(inputs, fixed, ridge, noise)
    low, high = _span(call, inputs, along, fixed)
    grid = f"{low}:{high}:{POINTS}"
    moving = sizes(along, grid)
    N, D = (moving, fixed) if along == "N" else (fixed, moving)
    found = prediction(inputs, N, D, ridge=ridge, noise=noise, surface=SURFACE)
    chart: Chart = {"x": axis(_AXES[along]), "y": axis("loss"), "series": [], "marks": [], "notes": []}
    for i, size in enumerate(fixed):
        _add_curve(chart, along, size, [p for p in found.points if getattr(p, other) == size], i)
    _add_limit(chart, inputs, along, low, high)
    return {"chart": chart, "span": [low, high], "code": _code(inputs, along, grid, fixed, ridge, noise)}


_AXES = {"N": "model size N", "D": "samples D", "xi": "xi = D^{alpha_D/alpha_N} / N"}


def _span(call: Call, inputs: Inputs, along: str, fixed: list[int]) -> tuple[int, int]:
    """As given, or wide enough to have the double-descent peak of every curve well inside."""
    law = inputs.exponents
    power = 1.0 if law is None else law.alpha_D / law.alpha_N  # N at the peak grows as D^power
    if along == "N":
        usual = (4, 8.0 * inputs.asymptotic_seen(float(max(fixed))))
    else:
        usual = (
            10,
            (6.0 * max(fixed)) ** (1.0 / power) if math.log(6 * max(fixed)) / power < 34 else LARGEST,
        )
    low = call.size("low", usual[0])
    high = call.size("high", int(min(max(usual[1], 16.0 * low), LARGEST)))
    if high <= low or high > LARGEST:
        raise InputError("high", high, f"must lie between low={low} and {LARGEST:g}", "choose another")
    return low, high


def _add_curve(chart: Chart, along: str, size: int, points: list[Point], colour: int) -> None:
    other = FIXED[along][0]
    x = [getattr(point, along) for point in points]
    label = f"{other} = {size:,}"
    reasons = [f"infinite: {p.loss_reason or p.caution}" if math.isinf(p.loss) else "" for p in points]
    cautions = [p.caution for p in points]
    chart["series"].append(
        line(label, x, [p.loss for p in points], colour=colour, caution=cautions, reason=reasons)
    )
    words = [reason or caution for reason, caution in zip(reasons, cautions, strict=True)]
    chart["notes"] += stretches(label, along, x, words)
    chart["marks"] += _peak(along, size, points, colour)


def _peak(along: str, size: int, points: list[Point], colour: int) -> list[dict[str, Any]]:
    """Where N meets the coordinates seen, K(D), and the rank of the data."""
    if along == "N":
        seen, rank = points[0].K, points[0].rank
    else:
        D = np.array([p.D for p in points], dtype=float)
        seen = _meets(D, np.array([p.K for p in points]), size)
        rank = _meets(D, np.array([p.rank for p in points]), size)
    marks = []
    if math.isfinite(seen):
        marks.append(mark(seen, "K(D)" if along == "N" else "K(D) = N", colour=colour))
    if math.isfinite(rank) and not (math.isfinite(seen) and abs(math.log(seen / rank)) < 0.01):
        marks.append(mark(rank, "rank" if along == "N" else "rank = N", colour=colour))
    return marks


def _meets(D: np.ndarray, grows: np.ndarray, size: int) -> float:
    if not np.isfinite(grows).all() or not grows[0] < size < grows[-1]:
        return math.nan
    return math.exp(float(np.interp(math.log(size), np.log(grows), np.log(D))))


def _add_limit(chart: Chart, inputs: Inputs, along: str, low: int, high: int) -> None:
    """The power law of the other size without limit."""
    law = inputs.power_law()
    name, constant, exponent = (
        ("unlimited data", inputs.model_constant(), law.alpha_N)
        if along == "N"
        else ("unlimited model", inputs.data_constant(), law.alpha_D)
    )
    y = [constant * float(x) ** -exponent for x in (low, high)]
    label = f"{name}: {constant:.3g} {along}^{{−{exponent:.3g}}}"
    chart["series"].append(line(label, [low, high], y, colour=None, dash="dotted"))


def _collapse(inputs: Inputs, fixed: list[int], ridge: float, noise: float) -> dict[str, Any]:
    """loss N^alpha_N against xi: curves of every N fall on S(xi) as N and D grow."""
    law = inputs.power_law()
    xi = np.geomspace(*XI_SPAN, POINTS)
    chart: Chart = {"x": axis(_AXES["xi"]), "y": axis("loss · N^{alpha_N}"), "notes": []}
    chart["series"] = [
        line("limit S(xi)", xi.tolist(), [scaling_function(inputs, float(v)) for v in xi], colour=None)
    ]
    chart["marks"] = [mark(law.xi_crit, "xi_crit")]
    for i, size in enumerate(fixed):
        D = sorted({round(d) for v in xi if 1 <= (d := (v * size) ** (law.alpha_N / law.alpha_D)) <= LARGEST})
        points = prediction(inputs, [size], D, ridge=ridge, noise=noise, surface=SURFACE).points
        reasons = [f"infinite: {p.loss_reason or p.caution}" if math.isinf(p.loss) else "" for p in points]
        scale = size**law.alpha_N
        chart["series"].append(
            line(f"N = {size:,}", [p.xi for p in points], [p.loss * scale for p in points], colour=i,
                 caution=[p.caution for p in points], reason=reasons)
        )  # fmt: skip
    lines = [
        "import numpy as np",
        "import sparselaw as sl",
        "from sparselaw.theory import scaling_function",
        "",
        input_python(inputs),
        f"xi = np.geomspace({XI_SPAN[0]:g}, {XI_SPAN[1]:g}, {POINTS})",
        "S = [scaling_function(model, x) for x in xi]",
    ]
    command = shell(
        "predict",
        **input_options(inputs),
        N=_listed(fixed),
        D="10:1e6:60",
        ridge=ridge or None,
        noise=noise or None,
    )
    return {"chart": chart, "span": list(XI_SPAN), "code": {"shell": command, "python": "\n".join(lines)}}


def _code(
    inputs: Inputs, along: str, grid: str, fixed: list[int], ridge: float, noise: float
) -> dict[str, str]:
    other = FIXED[along][0]
    low, high, count = grid.split(":")
    options = {name: value for name, value in (("ridge", ridge), ("noise", noise)) if value}
    extra = "".join(f", {name}={plain(value)}" for name, value in options.items())
    python = [
        "import numpy as np",
        "import sparselaw as sl",
        "",
        input_python(inputs),
        f"{along} = np.unique(np.geomspace({low}, {high}, {count}).round().astype(int))",
        f"sl.predict(model, {along}={along}.tolist(), {other}={fixed}{extra})",
    ]
    command = shell("predict", **input_options(inputs), **{along: grid, other: _listed(fixed)}, **options)
    return {"shell": command, "python": "\n".join(python)}


def _listed(values: list[int]) -> str:
    return ",".join(str(value) for value in values)


VIEW = View(values={"surface": surface, "surface/estimate": estimate}, streams={"surface/simulate": simulate})
