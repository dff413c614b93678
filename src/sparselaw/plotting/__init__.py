"""Figures. Every function draws values on ``ax`` (or on a new one), returns it and reads nothing."""

from sparselaw.plotting.fits import budget_profiles as budget_profiles
from sparselaw.plotting.fits import exponent_profile as exponent_profile
from sparselaw.plotting.fits import fit_over_data as fit_over_data
from sparselaw.plotting.fits import fitted_and_measured as fitted_and_measured
from sparselaw.plotting.fits import isoflop_slices as isoflop_slices
from sparselaw.plotting.fits import loss_contour as loss_contour
from sparselaw.plotting.fits import loss_curves as loss_curves
from sparselaw.plotting.fits import residuals as residuals
from sparselaw.plotting.forecasts import back_test as back_test
from sparselaw.plotting.forecasts import curve_fan as curve_fan
from sparselaw.plotting.forecasts import curve_residuals as curve_residuals
from sparselaw.plotting.forecasts import forecast_fan as forecast_fan
from sparselaw.plotting.forecasts import rates as rates
from sparselaw.plotting.measured import learning_curve as learning_curve
from sparselaw.plotting.measured import local_exponents as local_exponents
from sparselaw.plotting.measured import seen_features as seen_features
from sparselaw.plotting.measured import unseen_variance as unseen_variance
from sparselaw.plotting.measured import width_curve as width_curve
from sparselaw.plotting.style import style as style
from sparselaw.plotting.theory import compute_frontier as compute_frontier
from sparselaw.plotting.theory import failure_curve as failure_curve
from sparselaw.plotting.theory import loss_surface as loss_surface
from sparselaw.plotting.theory import phase_diagram as phase_diagram
from sparselaw.plotting.theory import scaling_curve as scaling_curve
