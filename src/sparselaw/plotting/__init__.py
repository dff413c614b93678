"""Figures. Every function draws values on ``ax`` (or on a new one), returns it and reads nothing."""

from sparselaw.plotting.fits import (
    budget_profiles,
    exponent_profile,
    fit_over_data,
    fitted_and_measured,
    isoflop_slices,
    loss_contour,
    loss_curves,
    residuals,
)
from sparselaw.plotting.forecasts import back_test, curve_fan, curve_residuals, forecast_fan, rates
from sparselaw.plotting.measured import (
    learning_curve,
    local_exponents,
    seen_features,
    unseen_variance,
    width_curve,
)
from sparselaw.plotting.style import style
from sparselaw.plotting.theory import (
    compute_frontier,
    failure_curve,
    loss_surface,
    phase_diagram,
    scaling_curve,
)

__all__ = [
    "back_test",
    "budget_profiles",
    "compute_frontier",
    "curve_fan",
    "curve_residuals",
    "exponent_profile",
    "failure_curve",
    "fit_over_data",
    "fitted_and_measured",
    "forecast_fan",
    "isoflop_slices",
    "learning_curve",
    "local_exponents",
    "loss_contour",
    "loss_curves",
    "loss_surface",
    "phase_diagram",
    "rates",
    "residuals",
    "scaling_curve",
    "seen_features",
    "style",
    "unseen_variance",
    "width_curve",
]
