"""What is asked of the theory of nonlinear features, and what it refuses; the theory is loaded later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from sparselaw.errors import InputError, check_size
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.theory.nonlinear.response import Response
from sparselaw.theory.point import Point
from sparselaw.theory.surface import check_width

FEWEST = 8  # dense coordinates: with fewer, features soon outnumber what there is to tell apart


@runtime_checkable
class AnsweringFeatures(Protocol):
    """What features must answer about themselves."""

    @property
    def response(self) -> Response | None: ...


def check_theory(inputs: Inputs, features: AnsweringFeatures) -> Response:
    """What the theory needs to know of these features, or a refusal."""
    check_inputs(inputs)
    if not isinstance(features, AnsweringFeatures):
        raise InputError("features", features, "are not features", "give their record, or ask sl.predict")
    response = features.response
    if response is None:
        name = getattr(features, "name", features)
        condition = "have no closed form: not random, or neither smooth nor with one bend nor a sign"
        raise InputError("features", name, condition, "choose others")
    law = inputs.exponents
    sparse = inputs.has_power_activations and law is not None and law.regime == "asymmetric"
    if not sparse and not (inputs.sampling == "gaussian" and law is not None):
        condition = "have no theory of nonlinear features"
        remedy = "give DenseInputs, or SparseInputs with alpha1 > 0 and alpha2 >= -1"
        raise InputError("inputs", inputs.kind, condition, remedy)
    if not sparse and inputs.dimension < FEWEST and response.slope != 0.0:
        condition = "is too small for the theory of nonlinear features of dense inputs"
        raise InputError("dimension", inputs.dimension, condition, f"choose {FEWEST} or more")
    if not sparse and not (response.dense or response.slope == 0.0):
        name = getattr(features, "name", features)
        condition = "have no theory of dense inputs, having a jump"
        raise InputError("features", name, condition, "choose others, or SparseInputs")
    return response


def check_plain(solver: Any, ridge: float, noise: float) -> None:
    """Refuse what the theory of nonlinear features does not cover."""
    condition = "has no closed form with nonlinear features"
    if solver is not None and getattr(solver, "ridge_of_theory", None) != 0.0:
        asked = getattr(solver, "name", solver)
        raise InputError("solver", asked, condition, "choose min-norm, or linear features")
    for name, value in (("ridge", ridge), ("noise", noise)):
        if value != 0.0:
            raise InputError(name, value, condition, "choose 0, or linear features")


def nonlinear_points(
    inputs: Inputs, features: AnsweringFeatures, sizes: Sequence[float], data: Sequence[int]
) -> list[list[Point]]:
    """The loss at every pair, a row for each N; N may be infinite. More than a dozen N are one curve."""
    response = check_theory(inputs, features)
    widths, samples = [check_width(N) for N in sizes], [check_size("D", D) for D in data]
    from sparselaw.theory.nonlinear.two_sided import two_sided_points  # numba: only where it is needed

    return two_sided_points(inputs, response, widths, samples)


def local_exponents(
    inputs: Inputs, features: AnsweringFeatures, sizes: Sequence[float]
) -> list[tuple[float, float]]:
    """-d log loss / d log N of the N-limited loss between N/sqrt(2) and N sqrt(2), and its error."""
    response = check_theory(inputs, features)
    from sparselaw.theory.nonlinear.two_sided import local_exponent

    return [local_exponent(inputs, response, float(check_size("N", N))) for N in sizes]
