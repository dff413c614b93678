"""Loss curves under learning-rate schedules: the end of a run before it is over, or under another schedule.

Read schedules, law, estimate, model, ends in this order; log_tables and logs bring the curves there.
"""

from __future__ import annotations

from sparselaw.curves.fitting_curves import fit_curves
from sparselaw.curves.result import CurveFit
from sparselaw.curves.schedules import Schedule

__all__ = ["CurveFit", "Schedule", "fit_curves"]
