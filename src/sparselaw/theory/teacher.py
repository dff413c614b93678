"""A teacher whose weights are not alike: mean squares t_j that fall with j, or are tabulated.

The field calls the decay of t_j the source condition. With the effective ridge k of the leading surface
(it knows nothing of the teacher), f = g/(g+k) and means over the counts,

    loss = E sum_j s_j t_j (1-f_j)^2  +  E sum_j s_j (1-f_j)^2 * E sum_j t_j f_j^2 / (N - B),   B = E sum f^2:

what is missed of the teacher, and what its seen part adds through the random embedding to all that is
missed. For t_j = 1 this is A N/(N - B). With t_j = j^-b and a = alpha1 + alpha2 + 2,

    alpha_N = a - 1 + min(b, 1)        (beyond b = 1 what the frequent coordinates add decides),
    alpha_D = (a + b - 1)/(alpha1 + 1) for alpha1 > 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_finite, check_size
from sparselaw.gram.counts import count_points
from sparselaw.gram.nodes import CoordinateNodes, power_sum, table_nodes
from sparselaw.inputs import ActivationInputs, Inputs, check_inputs
from sparselaw.records import put
from sparselaw.surface.losses import leading_surface

LARGEST = 200_000  # coordinates of a table
STEEPEST = 10_000.0  # exponent; the second weight is zero to every digit long before
ALIKE = "show no coordinate rarely: their surface knows no teacher"


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherPoint:
    """The loss of N features after D samples for this teacher, and for one of weights alike."""

    N: int
    D: int
    loss: float
    plain_loss: float

    def as_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {"N": self.N, "D": self.D}
        put(result, "loss", self.loss, "at the double-descent peak")
        put(result, "plain_loss", self.plain_loss, "at the double-descent peak")
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherExponents:
    """alpha_N and alpha_D of a teacher with t_j = j^-b."""

    alpha_N: float
    alpha_D: float


def teacher_exponents(inputs: Inputs, exponent: float) -> TeacherExponents:
    """The exponents that t_j = j^-exponent implies.

    >>> from sparselaw.inputs import SparseInputs
    >>> found = teacher_exponents(SparseInputs(alpha1=1.0, alpha2=0.3), 0.5)
    >>> round(found.alpha_N, 9), round(found.alpha_D, 9)
    (2.8, 1.4)
    """
    law = inputs.power_law()
    b = _check_exponent(exponent)
    if law.alpha_N + b <= 0.0:
        remedy = f"choose more than {-law.alpha_N:g}"
        raise InputError("teacher", b, "makes the targets' variance infinite", remedy)
    alpha_N = law.alpha_N + min(b, 1.0)
    ratio = law.alpha_N / law.alpha_D
    return TeacherExponents(alpha_N=alpha_N, alpha_D=(law.alpha_N + b) / ratio if ratio > 1.0 else alpha_N)


def _check_exponent(exponent: float) -> float:
    b = check_finite("teacher", exponent)
    if abs(b) > STEEPEST:
        remedy = f"choose between -{STEEPEST:g} and {STEEPEST:g}"
        raise InputError("teacher", b, "is too large an exponent", remedy)
    return b


def predict_teacher(inputs: Inputs, *, N: int, D: int, teacher: float | Any) -> TeacherPoint:
    """The leading loss where the weights of the teacher are not alike.

    Parameters
    ----------
    inputs
        Sparse or tabulated inputs.
    N, D
        Numbers of features and of samples.
    teacher
        The exponent b of mean squares t_j = j^-b, or t_j itself, a number for each coordinate by falling
        frequency.

    Returns
    -------
    TeacherPoint
        The loss, and that of a teacher whose weights are alike.

    Raises
    ------
    InputError
        Where the inputs show no coordinate rarely, or the teacher's variance is infinite.

    Examples
    --------
    >>> from sparselaw.inputs import SparseInputs
    >>> point = predict_teacher(SparseInputs(alpha1=1.0, alpha2=0.3), N=64, D=50_000, teacher=0.0)
    >>> abs(point.loss / point.plain_loss - 1.0) < 1e-9
    True
    """
    check_inputs(inputs)
    law = inputs.exponents
    if law is not None and law.alpha_N == law.alpha_D:
        raise InputError("inputs", inputs.kind, ALIKE, "give sparse inputs with alpha1 > 0, or measured ones")
    N, D = check_size("N", N), check_size("D", D)
    gram = inputs.gram(float(D), sharp=False)
    plain = leading_surface(gram, float(N))
    if not math.isfinite(plain.loss[0]):
        return TeacherPoint(N=N, D=D, loss=float(plain.loss[0]), plain_loss=float(plain.loss[0]))
    nodes, weights, missed_beyond, plain_beyond = _weighted(inputs, D, teacher)
    points = count_points(nodes.mean, nodes.p, nodes.D)
    at, kappa = points.coordinate, np.exp(plain.x[0])
    g = points.n * np.exp(nodes.log_c[at])
    f = np.where(g > 0.0, g / np.where(g > 0.0, g + kappa, 1.0), 0.0)
    s = (nodes.weight * np.exp(nodes.log_s))[at] * points.chance * (1.0 - f) ** 2
    missed, lost = float(s @ weights[at]) + missed_beyond, float(s.sum()) + plain_beyond
    learnt = float(((nodes.weight * weights)[at] * points.chance) @ f**2)
    slack = N - gram.rank if N > gram.rank else float(gram.at(plain.x).P[0])
    return TeacherPoint(N=N, D=D, loss=missed + lost * learnt / slack, plain_loss=float(plain.loss[0]))


def _weighted(
    inputs: Inputs, D: int, teacher: float | Any
) -> tuple[CoordinateNodes, FloatArray, float, float]:
    """Coordinates with t_j, and the variances beyond them, with and without t_j."""
    if inputs.sampling != "activations":
        raise InputError("inputs", inputs.kind, "have no counts of activations", "give SparseInputs")
    drawn = cast(ActivationInputs, inputs)
    power = isinstance(teacher, (int, float))
    b = _check_exponent(teacher) if power else 0.0
    if math.isinf(inputs.dimension):
        if not power:
            raise InputError("teacher", "a table", "is finite and the inputs are not", "give an exponent")
        teacher_exponents(inputs, b)  # refuses an infinite variance
        nodes = drawn.nodes(float(D))
        log_j = -(np.log(nodes.p)) / (inputs.power_activations().decay)
        end = float(np.exp(log_j.max())) + 0.5
        a = inputs.power_law().spectrum
        missed, plain = (power_sum(decay, end + 0.5, math.inf) for decay in (a + b, a))
        return nodes, np.exp(-b * log_j), missed, plain
    M = int(inputs.dimension)
    if M > LARGEST:
        raise InputError("dimension", M, "is too large for a teacher", f"choose at most {LARGEST}")
    j = np.arange(1.0, M + 1.0)
    weights = j**-b if power else np.asarray(teacher, dtype=np.float64)
    if weights.shape != (M,) or not (np.isfinite(weights) & (weights >= 0.0)).all():
        reason = f"are not {M} numbers of at least 0"
        raise InputError("teacher", f"{weights.size} weights", reason, "give one a coordinate")
    nodes = table_nodes(np.ones(M), drawn.probabilities(j), drawn.squared_amplitudes(j), float(D))
    return nodes, weights, 0.0, 0.0


def teacher_prediction(inputs: Inputs, exponent: float, N: Sequence[int], D: Sequence[int]) -> dict[str, Any]:
    """Exponents and losses of t_j = j^-exponent, as plain values."""
    result: dict[str, Any] = {"exponent": exponent}
    law = teacher_exponents(inputs, exponent) if inputs.exponents is not None else None
    put(result, "alpha_N", None if law is None else law.alpha_N, "these inputs follow no power law")
    put(result, "alpha_D", None if law is None else law.alpha_D, "these inputs follow no power law")
    points = (predict_teacher(inputs, N=n, D=d, teacher=exponent) for n in N for d in D)
    result["points"] = [point.as_dict() for point in points]
    return result
