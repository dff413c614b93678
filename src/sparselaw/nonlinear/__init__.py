"""Nonlinear features f(u x): what the theory can say of the loss.

``losses`` is the question, ``response`` what the theory asks of f. ``parity_sectors``, ``sector_tables`` and
``gaussian_tables`` have its kernel; ``features_limit`` the loss of N features, ``data_limit`` that of D
samples, ``gaussian_limit`` both of dense inputs; ``two_sided`` puts them together.
"""

from sparselaw.nonlinear.losses import NonlinearLoss, nonlinear_losses

__all__ = ["NonlinearLoss", "nonlinear_losses"]
