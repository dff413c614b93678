"""Scaling laws from sparse features."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's: to load that would delay the first Ctrl-C that is caught

__version__ = "0.3.0"

# Public name -> the module it lives in. Loaded on first use, so that `sparselaw --help` needs no numpy.
_PUBLIC = {
    "InputError": "sparselaw.errors",
    "SparselawWarning": "sparselaw.errors",
    "Interval": "sparselaw.interval",
    "SparseInputs": "sparselaw.inputs",
    "DenseInputs": "sparselaw.inputs",
    "EmpiricalInputs": "sparselaw.inputs",
    "TabulatedInputs": "sparselaw.inputs",
    "MinNorm": "sparselaw.solvers",
    "Ridge": "sparselaw.solvers",
    "GradientDescent": "sparselaw.solvers",
    "Nesterov": "sparselaw.solvers",
    "SGD": "sparselaw.solvers",
    "PowerLaw": "sparselaw.laws",
    "TwoPowerLaw": "sparselaw.laws",
    "ChinchillaLaw": "sparselaw.laws",
    "CoupledLaw": "sparselaw.laws",
    "predict": "sparselaw.predicting",
    "predict_teacher": "sparselaw.theory.teacher",
    "simulate": "sparselaw.sweeps.simulate",
    "simulate_stream": "sparselaw.sweeps.simulate",
    "Network": "sparselaw.experiments.networks",
    "Adam": "sparselaw.experiments.networks",
    "train_networks": "sparselaw.experiments.networks",
    "fit": "sparselaw.fitting",
    "compare": "sparselaw.deciding",
    "next_runs": "sparselaw.deciding",
    "compare_laws": "sparselaw.fitting",
    "load": "sparselaw.deciding",
    "FittedLaw": "sparselaw.fitting",
    "plan": "sparselaw.planning",
    "approaches": "sparselaw.planning",
    "forecast": "sparselaw.planning",
    "Forecast": "sparselaw.forecasting",
    "fit_curves": "sparselaw.curves",
    "CurveFit": "sparselaw.curves",
    "best_ridge": "sparselaw.theory.training.best",
    "best_stop": "sparselaw.theory.training.best",
    "failure_probability": "sparselaw.failure",
    "measure": "sparselaw.measuring.measure",
    "Measurement": "sparselaw.measuring.measurement",
    "learn": "sparselaw.measuring.learn",
    "LearningCurve": "sparselaw.measuring.learning_curve",
}
_PUBLIC_MODULES = {"plot": "sparselaw.plotting", "explore": "sparselaw.explore"}

__all__ = ["__version__", *_PUBLIC, *_PUBLIC_MODULES]

if TYPE_CHECKING:
    from typing import Any

    from sparselaw.curves import CurveFit as CurveFit
    from sparselaw.curves import fit_curves as fit_curves
    from sparselaw.deciding import compare as compare
    from sparselaw.deciding import load as load
    from sparselaw.deciding import next_runs as next_runs
    from sparselaw.errors import InputError as InputError
    from sparselaw.errors import SparselawWarning as SparselawWarning
    from sparselaw.experiments.networks import Adam as Adam
    from sparselaw.experiments.networks import Network as Network
    from sparselaw.experiments.networks import train_networks as train_networks
    from sparselaw.failure import failure_probability as failure_probability
    from sparselaw.fitting import FittedLaw as FittedLaw
    from sparselaw.fitting import compare_laws as compare_laws
    from sparselaw.fitting import fit as fit
    from sparselaw.forecasting import Forecast as Forecast
    from sparselaw.inputs import DenseInputs as DenseInputs
    from sparselaw.inputs import EmpiricalInputs as EmpiricalInputs
    from sparselaw.inputs import SparseInputs as SparseInputs
    from sparselaw.inputs import TabulatedInputs as TabulatedInputs
    from sparselaw.interval import Interval as Interval
    from sparselaw.laws import ChinchillaLaw as ChinchillaLaw
    from sparselaw.laws import CoupledLaw as CoupledLaw
    from sparselaw.laws import PowerLaw as PowerLaw
    from sparselaw.laws import TwoPowerLaw as TwoPowerLaw
    from sparselaw.measuring.learn import learn as learn
    from sparselaw.measuring.learning_curve import LearningCurve as LearningCurve
    from sparselaw.measuring.measure import measure as measure
    from sparselaw.measuring.measurement import Measurement as Measurement
    from sparselaw.planning import approaches as approaches
    from sparselaw.planning import forecast as forecast
    from sparselaw.planning import plan as plan
    from sparselaw.predicting import predict as predict
    from sparselaw.solvers import SGD as SGD
    from sparselaw.solvers import GradientDescent as GradientDescent
    from sparselaw.solvers import MinNorm as MinNorm
    from sparselaw.solvers import Nesterov as Nesterov
    from sparselaw.solvers import Ridge as Ridge
    from sparselaw.sweeps.simulate import simulate as simulate
    from sparselaw.sweeps.simulate import simulate_stream as simulate_stream
    from sparselaw.theory.teacher import predict_teacher as predict_teacher
    from sparselaw.theory.training.best import best_ridge as best_ridge
    from sparselaw.theory.training.best import best_stop as best_stop


def __getattr__(name: str) -> Any:
    import importlib

    if name in _PUBLIC_MODULES:
        return importlib.import_module(_PUBLIC_MODULES[name])
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'sparselaw' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
