"""Arrays in, law with intervals out; works on anybody's runs."""

from __future__ import annotations

from sparselaw.fitting.clean_runs import CleanRuns, clean_runs
from sparselaw.fitting.compare_laws import (
    ComparedLaw,
    Comparison,
    FitsBy,
    compare_laws,
    errors_by_count,
    fit_by,
)
from sparselaw.fitting.exponent_tests import EqualityTest, ExponentProfile, LeftOut, exponent_profile
from sparselaw.fitting.fit import fit
from sparselaw.fitting.fitted_law import FittedLaw
from sparselaw.fitting.power_sweeps import PowerFit, Sweep, fit_power
from sparselaw.fitting.read import read_table
from sparselaw.fitting.table_checks import interpolation_threshold, near_peak

__all__ = [
    "CleanRuns",
    "ComparedLaw",
    "Comparison",
    "EqualityTest",
    "ExponentProfile",
    "FitsBy",
    "FittedLaw",
    "LeftOut",
    "PowerFit",
    "Sweep",
    "clean_runs",
    "compare_laws",
    "errors_by_count",
    "exponent_profile",
    "fit",
    "fit_by",
    "fit_power",
    "interpolation_threshold",
    "near_peak",
    "read_table",
]
