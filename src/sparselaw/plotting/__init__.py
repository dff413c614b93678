"""Figures: every function takes ``ax`` and values, and reads nothing."""

from sparselaw.plotting.style import style
from sparselaw.plotting.theory import compute_frontier, loss_surface, phase_diagram, scaling_curve

__all__ = ["compute_frontier", "loss_surface", "phase_diagram", "scaling_curve", "style"]
