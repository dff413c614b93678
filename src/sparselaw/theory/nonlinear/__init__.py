"""Nonlinear features f(u x): what the theory can say of the loss where the odd part of f is linear.

``fold`` is what an activation answers about itself, ``parity_sectors`` and ``even_tables`` the kernel of its
even part, ``features_limit`` the loss of N features, ``data_limit`` that of D samples, ``two_sided`` both.
"""

from sparselaw.theory.nonlinear.fold import Fold

__all__ = ["Fold"]
