"""What runs are for: the best next one, at ten times the largest budget in the table, as `plan` has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparselaw.errors import InputError
from sparselaw.planning.forecast_budgets import plan_ahead
from sparselaw.planning.plan_result import Plan

if TYPE_CHECKING:
    from sparselaw.fitting import FittedLaw

AHEAD = 10.0
COST = "6nd"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRun:
    """A plan at ``AHEAD`` times the most expensive run of the table."""

    plan: Plan

    def words(self) -> str:
        """One line: allocation, prediction, growth."""
        found, growth = self.plan, self.plan.growth
        line = (
            f"at {AHEAD:g} times the most expensive run (6ND = {found.budget:.3g}): N = {found.N.best:.3g}, "
            f"D = {found.D.best:.3g} ({found.tokens_per_parameter.best:.3g} for each parameter), "
            f"loss {found.loss.best:.4g} {found.loss.ends()} ({found.loss_intervals.partition(':')[0]})"
        )
        known = growth.N.best == growth.N.best
        return line + (f"; N ~ C^{growth.N.best:.3g}" if known else "")

    def as_dict(self) -> dict[str, Any]:
        whole = self.plan.as_dict()
        kept = ("budget", "cost", "N", "D", "loss", "loss_intervals", "tokens_per_parameter", "N_exponent")
        return {name: whole[name] for name in kept}


def next_run(fitted: FittedLaw) -> NextRun | None:
    """None where the law does not trade N against D above a floor, or no plan is to be had."""
    law = fitted.law
    if law.sizes != ("N", "D") or None in (law.floor_name, law.exponent_names, fitted.sparsity):
        return None
    budget = AHEAD * 6.0 * float((fitted.runs.N * fitted.runs.D).max())
    try:
        return NextRun(plan=plan_ahead(fitted, budget, COST))
    except InputError:
        return None
