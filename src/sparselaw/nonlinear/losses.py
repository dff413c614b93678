"""What is asked of the theory of nonlinear features, what it answers, and what it refuses.

The theory itself loads numba and is imported by the first question only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sparselaw.errors import InputError, check_size
from sparselaw.gram.nodes import power_sum
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.nonlinear.response import Response

MOST_ACTIVE = 12.0  # coordinates in a sample: with more, drawn samples are large; 10.6 at alpha1 = 0.1
FEWEST = 8  # dense coordinates: with fewer, features soon outnumber what there is to tell apart


@dataclass(frozen=True, slots=True, kw_only=True)
class NonlinearLoss:
    """The loss of N nonlinear features trained on D samples."""

    loss: float  # infinite, or not a number, where there is a ``reason``
    error: float  # relative, estimated
    cautions: Sequence[str]  # empty where the loss can be trusted
    median: float | None = None  # over data and units, near the peak
    reason: str = ""
    N: float = math.nan  # a whole number, or infinite
    D: int = 0
    rank: float = math.nan  # expected, of infinitely many features: where the double-descent peak stands

    @property
    def limited_by(self) -> Literal["features", "data"]:
        """The scarcer of both."""
        return "features" if self.N < self.rank else "data"


def check_theory(inputs: Inputs, features: Any) -> Response:
    """What the theory needs to know of these features, or a refusal.

    There is one for sparse inputs with alpha1 > 0, alpha2 >= -1 and at most a dozen coordinates in a sample,
    and for dense ones.
    """
    check_inputs(inputs)
    if not hasattr(features, "response"):
        raise InputError("features", features, "are not features", "give their record, or ask sl.predict")
    response: Response | None = features.response
    name, law = getattr(features, "name", features), inputs.exponents
    if response is None:
        condition = "have no closed form: not random, or neither smooth nor with one kink nor a sign"
        raise InputError("features", name, condition, "choose others")
    if inputs.has_power_activations and law is not None and law.regime == "asymmetric":
        decay = inputs.power_activations().decay
        active = power_sum(decay, 1.0, inputs.dimension)
        if active > MOST_ACTIVE:
            condition = (
                f"has {active:,.0f} coordinates in a sample, too many for a theory of nonlinear features"
            )
            remedy = "choose a larger alpha1, 0.1 or more, or a smaller dimension"
            raise InputError("alpha1", round(decay - 1.0, 12), condition, remedy)
        return response
    if inputs.sampling != "gaussian" or law is None:
        condition = "have no theory of nonlinear features"
        remedy = "give DenseInputs, or SparseInputs with alpha1 > 0 and alpha2 >= -1"
        raise InputError("inputs", inputs.kind, condition, remedy)
    if inputs.dimension < FEWEST and response.slope != 0.0:
        condition = "is too small for the theory of nonlinear features of dense inputs"
        raise InputError("dimension", inputs.dimension, condition, f"choose {FEWEST} or more")
    if not response.dense and response.slope != 0.0:
        condition = "have no theory of dense inputs, having a jump"
        raise InputError("features", name, condition, "choose others, or SparseInputs")
    return response


def check_min_norm(solver: Any, ridge: float, noise: float) -> None:
    """Refuse a solver, a ridge or label noise: the theory has the minimum-norm solution alone."""
    condition = "has no closed form with nonlinear features"
    if solver is not None and getattr(solver, "ridge_of_theory", None) != 0.0:
        asked = getattr(solver, "name", solver)
        raise InputError("solver", asked, condition, "choose min-norm, or linear features")
    for name, value in (("ridge", ridge), ("noise", noise)):
        if value != 0.0:
            raise InputError(name, value, condition, "choose 0, or linear features")


def nonlinear_losses(
    inputs: Inputs, features: Any, sizes: Sequence[float], data: Sequence[int]
) -> list[NonlinearLoss]:
    """The loss at every pair: the first N, which may be infinite, with every D, then the second."""
    response = check_theory(inputs, features)
    widths = [N if N == math.inf else check_size("N", N) for N in sizes]
    samples = [check_size("D", D) for D in data]
    from sparselaw.nonlinear.two_sided import two_sided_losses  # numba: only where it is needed

    return two_sided_losses(inputs, response, widths, samples)
