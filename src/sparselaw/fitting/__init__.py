"""Arrays in, law with intervals out; works on anybody's runs."""

from __future__ import annotations

from sparselaw.fitting.collapse_score import Collapse, collapse_score
from sparselaw.fitting.fit import fit
from sparselaw.fitting.peak import interpolation_threshold, near_peak
from sparselaw.fitting.power import PowerFit, Sweep, fit_power
from sparselaw.fitting.profile import ExponentProfile, exponent_profile
from sparselaw.fitting.read import read_table
from sparselaw.fitting.result import EqualityTest, FittedLaw, LeftOut

__all__ = [
    "Collapse",
    "EqualityTest",
    "ExponentProfile",
    "FittedLaw",
    "LeftOut",
    "PowerFit",
    "Sweep",
    "collapse_score",
    "exponent_profile",
    "fit",
    "fit_power",
    "interpolation_threshold",
    "near_peak",
    "read_table",
]
