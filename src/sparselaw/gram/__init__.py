"""Laws of the Gram matrix: what the loss surface needs to know of the data."""

from sparselaw.gram.law import Atoms, GramLaw, Moments, Scatter

__all__ = ["Atoms", "GramLaw", "Moments", "Scatter"]
