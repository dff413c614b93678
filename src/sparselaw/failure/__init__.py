"""The probability that fixed-step gradient descent diverges: exact spike, sampled bulk."""

from sparselaw.failure.curve_of_points import FailureCurve
from sparselaw.failure.failure_point import FailurePoint
from sparselaw.failure.local_exponents import LocalExponent, fitted_exponent, local_exponents
from sparselaw.failure.probability import failure_probability

__all__ = [
    "FailureCurve",
    "FailurePoint",
    "LocalExponent",
    "failure_probability",
    "fitted_exponent",
    "local_exponents",
]
