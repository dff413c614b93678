"""The probability that fixed-step gradient descent diverges: exact spike, sampled bulk."""

from sparselaw.failure.local_exponents import LocalExponent, fitted_exponent, local_exponents
from sparselaw.failure.probability import failure_probability
from sparselaw.failure.record import FailurePoint

__all__ = ["FailurePoint", "LocalExponent", "failure_probability", "fitted_exponent", "local_exponents"]
