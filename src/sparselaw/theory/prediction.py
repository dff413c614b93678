"""Exponents and loss surface of one kind of inputs: behind `sparselaw predict` and ``sl.predict``."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, get_args, overload

from sparselaw.errors import check_choice
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.nonlinear.losses import AnsweringFeatures, NonlinearLoss, check_min_norm, nonlinear_losses
from sparselaw.records import html_table, put
from sparselaw.theory.collapse import rescaled_ratio
from sparselaw.theory.point import COLUMNS, Point
from sparselaw.theory.surface import LARGEST_N, Surface, predict_points
from sparselaw.theory.training.trained_point import Answering, check_solver, trained_point
from sparselaw.theory.training.unfinished import Form

if TYPE_CHECKING:
    import pandas as pd

NO_POWER_LAW = "these inputs follow no power law"


class Settings(TypedDict, total=False):
    """How the features are trained, and which surface answers."""

    ridge: float
    noise: float
    solver: Answering | None
    surface: Surface
    form: Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What the theory says of ``inputs``, at the points that were asked for."""

    inputs: Inputs
    points: tuple[Point, ...] = ()
    features: str = ""  # the name of nonlinear ones: exponents and constants are those of linear features

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; null where there is no number, with the reason beside it."""
        law = self.inputs.exponents
        result: dict[str, Any] = {"regime": None if law is None else law.regime}
        for name in ("alpha_N", "alpha_D", "alpha_C", "xi_crit", "nu"):
            put(result, name, getattr(law, name, None), NO_POWER_LAW if law is None else self.inputs.no_spike)
        put(result, "constant_N", None if law is None else self.inputs.model_constant(), NO_POWER_LAW)
        put(result, "constant_D", None if law is None else self.inputs.data_constant(), NO_POWER_LAW)
        dimension = self.inputs.dimension
        put(result, "dimension", int(dimension) if math.isfinite(dimension) else None, "infinite")
        if self.features:
            result |= {"features": self.features, "exponents_of": "linear features"}
            result["local_exponents"] = self.local_exponents()
        return result | {"points": [point.as_dict() for point in self.points]}

    def local_exponents(self) -> list[dict[str, Any]]:
        """-d log loss / d log size between neighbouring points of the same N or of the same D."""
        found: list[dict[str, Any]] = []
        for size, other in (("N", "D"), ("D", "N")):
            lines: dict[float, list[Point]] = {}
            for point in sorted(self.points, key=lambda point: float(getattr(point, size))):
                if math.isfinite(getattr(point, size)) and 0.0 < point.loss < math.inf:
                    lines.setdefault(getattr(point, other), []).append(point)
            for fixed, line in lines.items():
                for low, high in itertools.pairwise(line):
                    ends = getattr(low, size), getattr(high, size)
                    if ends[0] < ends[1]:
                        exponent = math.log(low.loss / high.loss) / math.log(ends[1] / ends[0])
                        row: dict[str, Any] = {size: list(ends)}
                        put(row, other, fixed, "infinite")
                        found.append(row | {"exponent": exponent})
        return found

    def to_frame(self) -> pd.DataFrame:
        """One row a point."""
        import pandas as pd

        return pd.DataFrame([point.row() for point in self.points], columns=None if self.points else COLUMNS)

    def _repr_html_(self) -> str:
        rows = [
            [p.N, p.D, f"{p.K:.6g}", f"{p.rank:.6g}", f"{p.xi:.4g}", f"{p.loss:.6g}", p.caution]
            for p in self.points
        ]
        law = self.inputs.exponents
        title = f"{self.inputs!r}: {law.regime if law else NO_POWER_LAW}"
        return html_table(title, ["N", "D", "K", "rank", "xi", "loss", "caution"], rows)


@overload
def predict(
    inputs: Inputs,
    *,
    N: float,
    D: int,
    features: AnsweringFeatures | None = ...,
    **settings: Unpack[Settings],
) -> Point: ...
@overload
def predict(
    inputs: Inputs,
    *,
    N: float | Sequence[float],
    D: int | Sequence[int],
    features: AnsweringFeatures | None = ...,
    **settings: Unpack[Settings],
) -> Point | pd.DataFrame: ...
def predict(
    inputs: Inputs,
    *,
    N: float | Sequence[float],
    D: int | Sequence[int],
    features: AnsweringFeatures | None = None,
    **settings: Unpack[Settings],
) -> Point | pd.DataFrame:
    """``sl.predict``, which explains the settings, of features that answer for themselves; None: linear ones.

    >>> from sparselaw.inputs import SparseInputs
    >>> inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> predict(inputs, N=[64, 128], D=50_000, surface="leading")["loss"].round(7).tolist()
    [0.0001172, 2.64e-05]
    """
    found = prediction(inputs, N, D, features=features, **settings)
    return found.to_frame() if _several(N) or _several(D) else found.points[0]


def prediction(
    inputs: Inputs,
    N: float | Sequence[float] = (),
    D: int | Sequence[int] = (),
    *,
    ridge: float = 0.0,
    noise: float = 0.0,
    solver: Answering | None = None,
    surface: Surface = "sharp",
    form: Form = "full",
    features: AnsweringFeatures | None = None,
) -> Prediction:
    """Exponents, constants and every (N, D)."""
    check_inputs(inputs)
    check_choice("surface", surface, get_args(Surface))
    check_choice("form", form, get_args(Form))
    check_solver(solver)
    sizes, data = _listed(N), _listed(D)
    if features is not None:
        check_min_norm(solver, ridge, noise)
        losses = nonlinear_losses(inputs, features, sizes, data)
        name = str(getattr(features, "name", "nonlinear"))
        return Prediction(
            inputs=inputs, points=tuple(_nonlinear_point(inputs, found) for found in losses), features=name
        )
    if solver is None:
        lines = [predict_points(inputs, sizes, d, ridge=ridge, noise=noise, surface=surface) for d in data]
        points = [line[i] for i in range(len(sizes)) for line in lines]
    else:
        how: Settings = {
            "ridge": ridge, "noise": noise, "solver": solver, "surface": surface, "form": form
        }  # fmt: skip
        points = [trained_point(inputs, N=n, D=d, **how) for n in sizes for d in data]
    return Prediction(inputs=inputs, points=tuple(points))


def _nonlinear_point(inputs: Inputs, found: NonlinearLoss) -> Point:
    width = int(min(found.N, LARGEST_N))
    return Point(
        N=found.N,
        D=found.D,
        K=inputs.expected_seen(float(found.D)),
        xi=rescaled_ratio(inputs, width, found.D) if inputs.exponents is not None else math.nan,
        loss=found.loss,
        caution=found.caution,
        loss_reason=found.reason,
        terms={found.limited_by: found.loss},
        rank=found.rank,
        loss_error=found.error,
        median=found.median,
    )


def _several(size: Any) -> bool:
    return hasattr(size, "__iter__") and not isinstance(size, str)


def _listed(size: Any) -> list[Any]:
    return list(size) if _several(size) else [size]
