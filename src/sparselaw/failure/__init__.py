"""The probability that fixed-step gradient descent diverges: exact spike, sampled bulk."""

from sparselaw.failure.failure_curve import FailureCurve as FailureCurve
from sparselaw.failure.failure_curve import FailurePoint as FailurePoint
from sparselaw.failure.failure_curve import LocalExponent as LocalExponent
from sparselaw.failure.failure_curve import fitted_exponent as fitted_exponent
from sparselaw.failure.failure_curve import local_exponents as local_exponents
from sparselaw.failure.probability import failure_probability as failure_probability
