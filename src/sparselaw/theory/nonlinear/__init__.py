"""Nonlinear features f(u x): what the theory can say of the loss.

``response`` is what it asks of f: ``fold`` answers for one bend, ``smooth`` for any f, ``step`` for the sign.
``parity_sectors`` and ``sector_tables`` have its kernel, ``features_limit`` the loss of N features,
``data_limit`` that of D samples, ``two_sided`` both.
"""

from sparselaw.theory.nonlinear.fold import Fold

__all__ = ["Fold"]
