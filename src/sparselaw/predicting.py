"""``sl.predict``: the theory, of features given by their name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack, overload

from sparselaw.inputs import Inputs
from sparselaw.theory import Point, Surface
from sparselaw.theory import predict as predict_answering
from sparselaw.theory.prediction import Settings
from sparselaw.theory.training.trained_point import Answering
from sparselaw.theory.training.unfinished import Form

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.features import FeatureMap


class NamedSettings(TypedDict, total=False):
    """How the features are trained, by a solver or by its name, and which surface answers."""

    ridge: float
    noise: float
    solver: str | Answering | None
    surface: Surface
    form: Form


@overload
def predict(
    inputs: Inputs, *, N: float, D: int, features: str | FeatureMap = ..., **settings: Unpack[NamedSettings]
) -> Point: ...
@overload
def predict(
    inputs: Inputs,
    *,
    N: float | Sequence[float],
    D: int | Sequence[int],
    features: str | FeatureMap = ...,
    **settings: Unpack[NamedSettings],
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
    """The expected population loss of N features trained on D samples; for lists a frame of every pair.

    ``ridge`` is the paper's gamma (eq:lossEquation), not divided by D; ``noise`` the variance of the label
    noise. ``surface="leading"`` leaves out the corrections for finite sizes. N may be infinite.

    With a ``solver`` that is stopped early (``SGD(passes=4, step=0.5)``, ``GradientDescent(steps=9)``) it is
    the loss at that point, with its parts; ``form="quasi-static"`` is ten times faster and about a per cent
    less exact. A name (``"nesterov"``) is the solver with its defaults.

    ``features="relu"`` and other activations have a theory of their own, for the minimum-norm solution.
    Its tables are made at the first call for these inputs and kept.

    >>> from sparselaw.inputs import SparseInputs
    >>> inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> predict(inputs, N=64, D=50_000).loss  # doctest: +ELLIPSIS
    0.000119...
    """
    if isinstance(solver, str):
        from sparselaw.solvers import as_solver

        solver = as_solver(solver)
    how: Settings = {"ridge": ridge, "noise": noise, "solver": solver, "surface": surface, "form": form}
    return predict_answering(inputs, N=N, D=D, features=answering(features), **how)


def answering(features: str | FeatureMap) -> FeatureMap | None:
    """The features of that name, as the theory takes them: None where the surface is theirs."""
    from sparselaw.errors import check_choice
    from sparselaw.features import FEATURES

    if isinstance(features, str):
        features = FEATURES[check_choice("features", features, FEATURES)]
    return None if getattr(features, "has_surface", False) else features
