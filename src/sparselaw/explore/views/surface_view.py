"""Loss surface: loss against N, against D, and the collapse onto S(xi), from the closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sparselaw.errors import InputError
from sparselaw.explore.call import Call, Training, code_of, input_options, input_python, shell
from sparselaw.explore.chart_data import Chart, axis, cautions, chart, line, mark
from sparselaw.inputs import Inputs
from sparselaw.numbers import sizes
from sparselaw.predicting import prediction
from sparselaw.theory.scaling_limit import scaling_values
from sparselaw.theory.surface import Point, Surface, asymptotic_seen

POINTS, DRAFT_POINTS = 120, 60  # along N, which share one law of the data
LAWS, DRAFT_LAWS = 41, 16  # along D, each with its own
EARLY_POINTS = 24
EARLY_DRAFT = 5
MOST_CURVES = 4
FEATURE_POINTS = 9  # along a curve of nonlinear features
LARGEST = 10**15
TOGETHER = 0.02  # K and rank closer than this are one mark
XI_SPAN = (0.05, 30.0)  # the paper's figure 2
# What stays fixed along each axis, at which sizes unless given, and the words at the axis.
FIXED = {
    "N": ("D", "500,5000,50000", "model size N"),
    "D": ("N", "16,64,256", "samples D"),
    "xi": ("N", "16,64,256", "xi = D^{alpha_D/alpha_N} / N"),
}


def surface(call: Call) -> dict[str, Any]:
    """One chart and the code that gives it."""
    asked = SurfaceAsked.of(call)
    if asked.along == "xi":
        return _collapse(asked)
    along, inputs, (other, _, words) = asked.along, asked.inputs, FIXED[asked.along]
    low, high = span_of(call, asked)
    grid = f"{low}:{high}:{asked.count}"
    points = asked.points(sizes(along, grid))
    drawn = chart(axis(words), axis("loss"), [])
    for i, size in enumerate(asked.fixed):
        curve = [point for point in points if getattr(point, other) == size]
        _add_curve(drawn, f"{other} = {size:,}", along, curve, i)
        drawn["marks"] += _peak(along, size, curve, i)
    drawn["notes"] = notes_of(drawn["series"], along)
    law = inputs.exponents
    if law is not None:  # the power law of the other size without limit
        powers = inputs.power_law()
        constant, e = (
            (powers.model_constant, law.alpha_N) if along == "N" else (powers.data_constant, law.alpha_D)
        )
        label = f"unlimited {'data' if along == 'N' else 'model'}: {constant:.3g} {along}^{{−{e:.3g}}}"
        y = [constant * float(x) ** -e for x in (low, high)]
        drawn["series"].append(line(label, [low, high], y, colour=None, dash="dotted"))
    return {"chart": drawn, "span": [low, high], "code": asked.code(along, grid)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceAsked:
    """What the state of this view asks for."""

    inputs: Inputs
    along: str
    fixed: list[int]
    training: Training
    surface: Surface
    draft: bool  # good enough for a curve on its way, while a slider is dragged

    @classmethod
    def of(cls, call: Call) -> SurfaceAsked:
        along = call.choice("along", list(FIXED))
        name, usual, _ = FIXED[along]
        return cls(
            inputs=call.inputs(),
            along=along,
            fixed=call.sizes(name, usual, most=MOST_CURVES),
            training=Training.of(call),
            surface=cast(Surface, call.choice("surface", ["sharp", "leading"])),
            draft=call.choice("draft", ["no", "yes"]) == "yes",
        )

    @property
    def count(self) -> int:
        """Places along the curve: few where each is found on its own."""
        if self.training.early:
            return EARLY_DRAFT if self.draft else EARLY_POINTS
        if self.along == "N":
            return DRAFT_POINTS if self.draft else POINTS
        return DRAFT_LAWS if self.draft else LAWS

    def points(self, moving: list[int]) -> tuple[Point, ...]:
        """Along the axis of N, or of D, at every fixed size of the other."""
        N, D = (moving, self.fixed) if self.along == "N" else (self.fixed, moving)
        return prediction(self.inputs, N, D, **self._order, **self.training.theory()).points

    @property
    def _order(self) -> dict[str, Any]:
        """Sketches are of the leading surface; training that is stopped early is drawn in full otherwise."""
        if self.draft:
            return {"surface": "leading"}
        return {} if self.training.early else {"surface": self.surface}

    def code(self, along: str, grid: str, features: str = "") -> dict[str, str]:
        """``along`` takes the grid, the other size its fixed values; of nonlinear features or linear ones."""
        other = "D" if along == "N" else "N"
        low, high, count = grid.split(":")
        order = {"features": features} if features else self._order
        training = "" if features else self.training.python()
        extra = training + "".join(f', {name}="{value}"' for name, value in order.items())
        listed = {along: grid, other: ",".join(str(size) for size in self.fixed)}
        trained = {} if features else self.training.options()
        command = shell("predict", **input_options(self.inputs) | listed | trained | order)
        found = code_of(
            command,
            input_python(self.inputs),
            f"{along} = np.unique(np.geomspace({low}, {high}, {count}).round().astype(int))",
            f"found = sl.predict(model, {along}={along}.tolist(), {other}={self.fixed}{extra})",
        )
        return found | {"python": f"import numpy as np\n{found['python']}"}


def span_of(call: Call, asked: SurfaceAsked) -> tuple[int, int]:
    """As given, or wide enough to have the double-descent peak of every curve well inside."""
    largest = max(asked.fixed)
    if asked.along == "N":
        usual = 4, 8.0 * asymptotic_seen(asked.inputs, float(largest))
    else:
        usual = 10, _samples(asked.inputs, 6.0 * largest)
    low = call.size("low", usual[0])
    high = call.size("high", int(min(max(usual[1], 16.0 * low), LARGEST)))
    if high <= low or high > LARGEST:
        raise InputError("high", high, f"must lie between low={low} and {LARGEST:g}", "choose another")
    return low, high


def _samples(inputs: Inputs, size: float) -> float:
    """D with D^(alpha_D/alpha_N) = size, and not beyond the largest."""
    law = inputs.exponents
    log = math.log(size) * (1.0 if law is None else law.alpha_N / law.alpha_D)
    return math.exp(log) if log < math.log(LARGEST) else float(LARGEST)


def _add_curve(
    drawn: Chart, label: str, along: str, points: list[Point], colour: int, scale: float = 1.0
) -> None:
    x = [getattr(point, along) for point in points]
    reasons = [gap_reason(point) for point in points]
    doubts = [point.caution for point in points]
    losses = [point.loss * scale for point in points]
    drawn["series"].append(line(label, x, losses, colour=colour, caution=doubts, reason=reasons))
    medians = [None if p.median is None or math.isfinite(p.loss) else p.median * scale for p in points]
    if any(value is not None for value in medians):
        drawn["series"].append(line(f"median, {label}", x, medians, colour=colour, dash="dotted"))


def notes_of(all_series: Sequence[dict[str, Any]], along: str) -> list[str]:
    """Why a curve has a gap, and why it is dashed."""
    return [
        f"{word}: {text}"
        for word, key in (("gap", "reason"), ("dashed", "caution"))
        for text in cautions(along, [(s["label"], s["x"], s[key]) for s in all_series if key in s])
    ]


def gap_reason(point: Point) -> str:
    """Why a logarithmic axis cannot show the loss."""
    if math.isinf(point.loss):
        return f"infinite: {point.loss_reason or point.caution}"
    if math.isnan(point.loss):
        return f"no number: {point.loss_reason or point.caution}"
    return "zero: every coordinate is learnt" if point.loss == 0.0 else ""


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
    if math.isfinite(rank) and not (math.isfinite(seen) and abs(math.log(seen / rank)) < TOGETHER):
        marks.append(mark(rank, "rank" if along == "N" else "rank = N", colour=colour))
    return marks


def _meets(D: np.ndarray, grows: np.ndarray, size: int) -> float:
    if not np.isfinite(grows).all() or not grows[0] < size < grows[-1]:
        return math.nan
    return math.exp(float(np.interp(math.log(size), np.log(grows), np.log(D))))


def _collapse(asked: SurfaceAsked) -> dict[str, Any]:
    """loss N^alpha_N against xi: curves of every N fall on S(xi) as N and D grow."""
    inputs, law = asked.inputs, asked.inputs.power_law()
    xi = np.geomspace(*XI_SPAN, DRAFT_POINTS if asked.draft else POINTS)
    low, high = (
        _samples(inputs, end) for end in (XI_SPAN[0] * min(asked.fixed), XI_SPAN[1] * max(asked.fixed))
    )
    grid = f"{max(1, round(low))}:{max(16, round(high))}:{asked.count}"
    found = asked.points(sizes("D", grid))
    limit = line("limit S(xi)", xi.tolist(), scaling_values(inputs, xi).tolist(), colour=None)
    marks = [mark(law.xi_crit, "xi_crit")]
    drawn = chart(axis(FIXED["xi"][2]), axis("loss · N^{alpha_N}"), [limit], marks=marks)
    for i, size in enumerate(asked.fixed):
        points = [p for p in found if p.N == size and XI_SPAN[0] <= p.xi <= XI_SPAN[1]]
        _add_curve(drawn, f"N = {size:,}", "xi", points, i, power(size, law.alpha_N))
    drawn["notes"] = notes_of(drawn["series"], "xi")
    code = asked.code("D", grid)
    python = (
        code["python"].replace(
            "as sl\n", "as sl\nfrom sparselaw.theory.scaling_limit import scaling_function\n"
        ),
        'found["scaled"] = found["loss"] * found["N"] ** model.exponents.alpha_N  # against found["xi"]',
        f"xi = np.geomspace({XI_SPAN[0]:g}, {XI_SPAN[1]:g}, {POINTS})",
        "S = [scaling_function(model, x) for x in xi]",
    )
    code["python"] = "\n".join(python)
    return {"chart": drawn, "span": list(XI_SPAN), "code": code}


def power(size: int, exponent: float) -> float:
    """Infinite where no number is as large."""
    log = exponent * math.log(size)
    return math.exp(log) if log < 700.0 else math.inf


# Curves of nonlinear features beside the linear ones: their tables take seconds, so a worker makes them.


def feature_curves(call: Call) -> Iterator[dict[str, Any]]:
    """A line for each fixed size as its curve is ready; the first says how many there are."""
    from sparselaw.features import FEATURES
    from sparselaw.nonlinear.losses import check_min_norm, check_theory

    asked, name = SurfaceAsked.of(call), features_of(call)
    if name == "linear":
        raise InputError("features", name, "have their curves already", "choose others")
    if asked.along == "xi":
        raise InputError("along", "xi", "is the collapse of linear features", "choose N or D")
    if asked.training.early:
        raise InputError("solver", asked.training.solver.name, "needs linear features", "train to the end")
    check_min_norm(None, asked.training.ridge, asked.training.noise)
    check_theory(asked.inputs, FEATURES[name])
    low, high = span_of(call, asked)
    grid = f"{low}:{high}:{FEATURE_POINTS}"
    moving, other = sizes(asked.along, grid), FIXED[asked.along][0]
    yield {"curves": len(asked.fixed), "code": asked.code(asked.along, grid, name)}
    items = [(asked.inputs, name, asked.along, moving, size) for size in asked.fixed]
    for done, (item, found) in enumerate(call.session.bench.map(call.stop, one_curve, items), start=1):
        if isinstance(found, InputError):
            raise found
        losses, doubts, reasons = found
        label, size = f"{name}, {other} = {item[-1]:,}", asked.fixed.index(item[-1])
        series = line(label, moving, losses, colour=size, caution=doubts, reason=reasons)
        yield {"series": series, "notes": notes_of([series], asked.along), "done": done}


def one_curve(
    item: tuple[Inputs, str, str, list[int], int],
) -> tuple[list[float], list[str], list[str]] | InputError:
    """Losses, words of caution and reasons of gaps, in a worker; a refusal is handed back."""
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
    from sparselaw.features import FEATURES

    curved = [name for name, features in FEATURES.items() if not getattr(features, "has_surface", False)]
    return call.choice("features", ["linear", *curved])
