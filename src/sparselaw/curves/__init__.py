"""Loss curves under learning-rate schedules: the end of a run before it is over, or under another schedule.

Read learning_rate, law, residuals, estimate, model, ends in this order; log_tables, run_rows, logs and points
bring the curves there.
"""

from __future__ import annotations

from sparselaw.curves.fitting_curves import fit_curves
from sparselaw.curves.learning_rate import Schedule
from sparselaw.curves.result import CurveFit

__all__ = ["CurveFit", "Schedule", "fit_curves"]
