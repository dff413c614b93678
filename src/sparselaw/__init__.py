"""Scaling laws from sparse features."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's: to load that would delay the first Ctrl-C that is caught

__version__ = "0.3.0"

# The module of each public name. Loaded on first use, so that `sparselaw --help` needs no numpy.
_MODULES = {
    "sparselaw.errors": ("InputError", "SparselawWarning"),
    "sparselaw.interval": ("Interval",),
    "sparselaw.inputs": ("SparseInputs", "DenseInputs", "EmpiricalInputs", "TabulatedInputs"),
    "sparselaw.solvers": ("MinNorm", "Ridge", "GradientDescent", "Nesterov", "SGD"),
    "sparselaw.laws": ("PowerLaw", "TwoPowerLaw", "ChinchillaLaw", "CoupledLaw"),
    "sparselaw.predicting": ("predict",),
    "sparselaw.theory.teacher": ("predict_teacher",),
    "sparselaw.sweeps.simulate": ("simulate", "simulate_stream"),
    "sparselaw.experiments.networks": ("Network", "Adam", "train_networks"),
    "sparselaw.fitting": ("fit", "compare_laws", "FittedLaw"),
    "sparselaw.deciding": ("compare", "next_runs", "load"),
    "sparselaw.planning": ("plan", "approaches", "forecast"),
    "sparselaw.forecasting": ("Forecast",),
    "sparselaw.curves": ("fit_curves", "CurveFit"),
    "sparselaw.theory.training.best": ("best_ridge", "best_stop"),
    "sparselaw.failure": ("failure_probability",),
    "sparselaw.measuring.measure": ("measure",),
    "sparselaw.measuring.measurement": ("Measurement",),
    "sparselaw.measuring.learn": ("learn",),
    "sparselaw.measuring.learning_curve": ("LearningCurve",),
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names}
_PUBLIC_MODULES = {"plot": "sparselaw.plotting", "explore": "sparselaw.explore"}

__all__ = [
    "SGD", "Adam", "ChinchillaLaw", "CoupledLaw", "CurveFit", "DenseInputs", "EmpiricalInputs",
    "FittedLaw", "Forecast", "GradientDescent", "InputError", "Interval", "LearningCurve", "Measurement",
    "MinNorm", "Nesterov", "Network", "PowerLaw", "Ridge", "SparseInputs", "SparselawWarning",
    "TabulatedInputs", "TwoPowerLaw", "__version__", "approaches", "best_ridge", "best_stop", "compare",
    "compare_laws", "explore", "failure_probability", "fit", "fit_curves", "forecast", "learn", "load",
    "measure", "next_runs", "plan", "plot", "predict", "predict_teacher", "simulate", "simulate_stream",
    "train_networks",
]  # fmt: skip

if TYPE_CHECKING:
    from typing import Any

    from sparselaw.curves import CurveFit, fit_curves
    from sparselaw.deciding import compare, load, next_runs
    from sparselaw.errors import InputError, SparselawWarning
    from sparselaw.experiments.networks import Adam, Network, train_networks
    from sparselaw.failure import failure_probability
    from sparselaw.fitting import FittedLaw, compare_laws, fit
    from sparselaw.forecasting import Forecast
    from sparselaw.inputs import DenseInputs, EmpiricalInputs, SparseInputs, TabulatedInputs
    from sparselaw.interval import Interval
    from sparselaw.laws import ChinchillaLaw, CoupledLaw, PowerLaw, TwoPowerLaw
    from sparselaw.measuring.learn import learn
    from sparselaw.measuring.learning_curve import LearningCurve
    from sparselaw.measuring.measure import measure
    from sparselaw.measuring.measurement import Measurement
    from sparselaw.planning import approaches, forecast, plan
    from sparselaw.predicting import predict
    from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge
    from sparselaw.sweeps.simulate import simulate, simulate_stream
    from sparselaw.theory.teacher import predict_teacher
    from sparselaw.theory.training.best import best_ridge, best_stop


def __getattr__(name: str) -> Any:
    import importlib

    if name in _PUBLIC_MODULES:
        return importlib.import_module(_PUBLIC_MODULES[name])
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'sparselaw' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
