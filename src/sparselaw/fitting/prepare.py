"""From a law and runs to the design that fits it."""

from __future__ import annotations

from sparselaw.fitting.design import Design
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.formula_design import formula_design
from sparselaw.fitting.term_design import term_design
from sparselaw.laws import Law


def prepare(law: type[Law], runs: Runs, *, tied: bool = False, floor: bool = True) -> Design:
    """``tied`` has one exponent for N and D; without ``floor`` the loss that no size removes is zero."""
    build = term_design if law.terms else formula_design
    return build(law, runs, tied=tied, floor=floor)
