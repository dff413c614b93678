"""Nonlinear features f(u x): what the theory can say of the loss.

``losses`` is the question, ``response`` what the theory asks of f (``smooth`` answers for any function).
``parity_sectors``, ``sector_tables`` and ``gaussian_tables`` have its kernel; ``features_limit`` the loss of
N features, ``data_limit`` that of D samples, ``gaussian_limit`` both of dense inputs; ``two_sided`` puts them
together.
"""

from sparselaw.nonlinear.losses import NonlinearLoss, local_exponents, nonlinear_losses
from sparselaw.nonlinear.response import Kinked

__all__ = ["Kinked", "NonlinearLoss", "local_exponents", "nonlinear_losses"]
