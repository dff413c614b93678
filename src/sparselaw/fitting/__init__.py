"""Arrays in, law with intervals out; works on anybody's runs."""

from __future__ import annotations

from sparselaw.fitting.by import FitsBy, fit_by
from sparselaw.fitting.collapse_score import Collapse, collapse_score
from sparselaw.fitting.compare import ComparedLaw, Comparison, compare
from sparselaw.fitting.compare import compare as compare_laws
from sparselaw.fitting.fit import fit
from sparselaw.fitting.fitted_law import EqualityTest, FittedLaw, LeftOut
from sparselaw.fitting.peak import interpolation_threshold, near_peak
from sparselaw.fitting.power_sweeps import PowerFit, Sweep, fit_power
from sparselaw.fitting.profile import ExponentProfile, exponent_profile
from sparselaw.fitting.read import read_table

__all__ = [
    "Collapse",
    "ComparedLaw",
    "Comparison",
    "EqualityTest",
    "ExponentProfile",
    "FitsBy",
    "FittedLaw",
    "LeftOut",
    "PowerFit",
    "Sweep",
    "collapse_score",
    "compare",
    "compare_laws",
    "exponent_profile",
    "fit",
    "fit_by",
    "fit_power",
    "interpolation_threshold",
    "near_peak",
    "read_table",
]
