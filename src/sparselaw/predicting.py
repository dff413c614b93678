"""``sl.predict`` and `sparselaw predict`: exponents and loss surface of one kind of inputs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack, get_args, overload

from sparselaw.errors import InputError, check_choice, check_not_negative, check_size
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.inputs.base import no_spike
from sparselaw.records import html_table, put
from sparselaw.theory.surface import (
    COLUMNS,
    LARGEST_N,
    Point,
    Surface,
    check_width,
    predict_points,
    rank_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.features import FeatureMap
    from sparselaw.nonlinear.losses import NonlinearLoss
    from sparselaw.theory.training.schedule import Descent
    from sparselaw.theory.training.unfinished import Form

FORMS = ("full", "quasi-static")
NO_POWER_LAW = "these inputs follow no power law"


class Answering(Protocol):
    """What a solver must answer about itself."""

    @property
    def ridge_of_theory(self) -> float | None: ...
    @property
    def descent(self) -> Descent | None: ...


class Settings(TypedDict, total=False):
    """How the features are trained, by a solver or by its name, and which surface answers."""

    ridge: float
    noise: float
    solver: str | Answering | None
    surface: Surface
    form: Form
    features: str | FeatureMap


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
            put(result, name, getattr(law, name, None), NO_POWER_LAW if law is None else no_spike(law))
        put(result, "constant_N", getattr(law, "model_constant", None), NO_POWER_LAW)
        put(result, "constant_D", getattr(law, "data_constant", None), NO_POWER_LAW)
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
def predict(inputs: Inputs, *, N: float, D: int, **settings: Unpack[Settings]) -> Point: ...
@overload
def predict(
    inputs: Inputs, *, N: float | Sequence[float], D: int | Sequence[int], **settings: Unpack[Settings]
) -> Point | pd.DataFrame: ...
def predict(
    inputs: Inputs,
    *,
    N: float | Sequence[float],
    D: int | Sequence[int],
    ridge: float = 0.0,
    noise: float = 0.0,
    solver: str | Answering | None = None,
    surface: Surface = "sharp",
    form: Form = "full",
    features: str | FeatureMap = "linear",
) -> Point | pd.DataFrame:
    """The expected population loss of N features trained on D samples.

    Parameters
    ----------
    inputs
        The law of the inputs: ``SparseInputs``, ``DenseInputs``, ``TabulatedInputs`` or ``EmpiricalInputs``.
    N
        The number of features, or a list of them; it may be infinite.
    D
        The number of samples, or a list of them.
    ridge
        The paper's gamma (eq:lossEquation), not divided by D.
    noise
        The variance of the label noise.
    solver
        What trains the readout; None is the minimum-norm solution, or ridge regression where there is a
        ridge. With a solver that is stopped early (``SGD(passes=4, step=0.5)``) the loss is the one at that
        point, with its parts. A name (``"nesterov"``) is the solver with its defaults.
    surface
        ``"sharp"`` is the mean loss at finite sizes, ``"leading"`` leaves all corrections for them out.
    form
        Of SGD: ``"quasi-static"`` is several times faster than ``"full"`` and about a per cent less exact.
    features
        ``"linear"``, or an activation such as ``"relu"``: these have a theory of their own for the
        minimum-norm solution, whose tables are made at the first call for these inputs.

    Returns
    -------
    Point or DataFrame
        The point of one pair (N, D); where N or D is a list, a frame with a row for every pair.

    Raises
    ------
    InputError
        Where a size, a setting or a name is none.

    Examples
    --------
    >>> from sparselaw.inputs import SparseInputs
    >>> inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> predict(inputs, N=64, D=50_000).loss  # doctest: +ELLIPSIS
    0.000119...
    >>> predict(inputs, N=[64, 128], D=50_000, surface="leading")["loss"].round(7).tolist()
    [0.0001172, 2.64e-05]
    """
    found = prediction(
        inputs, N, D, ridge=ridge, noise=noise, solver=solver, surface=surface, form=form, features=features
    )
    return found.to_frame() if _several(N) or _several(D) else found.points[0]


def prediction(
    inputs: Inputs,
    N: float | Sequence[float] = (),
    D: int | Sequence[int] = (),
    *,
    ridge: float = 0.0,
    noise: float = 0.0,
    solver: str | Answering | None = None,
    surface: Surface = "sharp",
    form: Form = "full",
    features: str | FeatureMap = "linear",
) -> Prediction:
    """Exponents, constants and the point of every (N, D); the arguments are those of ``predict``."""
    check_inputs(inputs)
    check_choice("surface", surface, get_args(Surface))
    check_choice("form", form, FORMS)
    if isinstance(solver, str):
        from sparselaw.solvers import as_solver

        solver = as_solver(solver)
    _check_solver(solver)
    sizes, data = _listed(N), _listed(D)
    if features != "linear":
        from sparselaw.features import FEATURES

        kind = (
            FEATURES[check_choice("features", features, FEATURES)] if isinstance(features, str) else features
        )
        if not getattr(kind, "has_surface", False):
            from sparselaw.nonlinear.losses import check_min_norm, nonlinear_losses

            check_min_norm(solver, ridge, noise)
            points = tuple(_nonlinear(inputs, one) for one in nonlinear_losses(inputs, kind, sizes, data))
            return Prediction(inputs=inputs, points=points, features=str(getattr(kind, "name", "nonlinear")))
    if solver is not None:
        if ridge > 0.0:
            remedy = "give sl.Ridge(ridge=...) or leave it out"
            raise InputError("ridge", ridge, "is given beside a solver", remedy)
        if solver.ridge_of_theory is not None:
            ridge = solver.ridge_of_theory
        elif solver.descent is not None:
            pairs = itertools.product(sizes, data)
            early = (_stopped_early(inputs, n, d, solver.descent, noise, surface, form) for n, d in pairs)
            return Prediction(inputs=inputs, points=tuple(early))
        else:
            remedy = "choose min-norm, ridge, gd, sgd, or nesterov with a tolerance of at most 1e-8"
            raise InputError("solver", getattr(solver, "name", solver), "has no closed form", remedy)
    lines = [predict_points(inputs, sizes, d, ridge=ridge, noise=noise, surface=surface) for d in data]
    return Prediction(inputs=inputs, points=tuple(line[i] for i in range(len(sizes)) for line in lines))


def _check_solver(solver: Any) -> None:
    """Refuse what is no solver; None stands for the minimum-norm solution."""
    if isinstance(solver, type):
        remedy = f"give an instance: {solver.__name__}(...)"
        raise InputError("solver", solver.__name__, "is a class and has no settings yet", remedy)
    if solver is not None and not (hasattr(solver, "ridge_of_theory") and hasattr(solver, "descent")):
        raise InputError("solver", solver, "is not a solver", "give a record such as sl.SGD(passes=4)")


def _stopped_early(
    inputs: Inputs, N: float, D: int, descent: Descent, noise: float, surface: Surface, form: Form
) -> Point:
    """The point of the surface that a descent has reached."""
    from sparselaw.theory.training.unfinished import train

    N, D, noise = check_width(N), check_size("D", D), check_not_negative("noise", noise)
    found = train(inputs, float(N), float(D), descent, noise, form, sharp=surface == "sharp")
    return Point(
        N=N,
        D=D,
        K=inputs.expected_seen(float(D)),
        xi=_ratio(inputs, N, D),
        loss=found.loss,
        caution="; ".join(found.cautions),
        loss_reason=found.reason,
        loss_error=found.error,
        terms=found.parts,
        rank=rank_of(inputs, float(D)),
        parts=found.parts,
        kappa=found.kappa if descent.steps is None else None,
        pi=found.pi,
    )


def _nonlinear(inputs: Inputs, found: NonlinearLoss) -> Point:
    return Point(
        N=found.N,
        D=found.D,
        K=inputs.expected_seen(float(found.D)),
        xi=_ratio(inputs, found.N, found.D),
        loss=found.loss,
        caution="; ".join(found.cautions),
        loss_reason=found.reason,
        terms={found.limited_by: found.loss},
        rank=found.rank,
        loss_error=found.error,
        median=found.median,
    )


def _ratio(inputs: Inputs, N: float, D: float) -> float:
    """xi, where there are exponents."""
    law = inputs.exponents
    return law.xi(int(min(N, LARGEST_N)), D) if law is not None else math.nan


def _several(size: Any) -> bool:
    return hasattr(size, "__iter__") and not isinstance(size, str)


def _listed(size: Any) -> list[Any]:
    return list(size) if _several(size) else [size]
