"""The probability that fixed-step gradient descent diverges: exact spike, sampled bulk."""

from sparselaw.failure.failure_curve import (
    FailureCurve,
    FailurePoint,
    LocalExponent,
    fitted_exponent,
    local_exponents,
)
from sparselaw.failure.probability import failure_probability

__all__ = [
    "FailureCurve",
    "FailurePoint",
    "LocalExponent",
    "failure_probability",
    "fitted_exponent",
    "local_exponents",
]
