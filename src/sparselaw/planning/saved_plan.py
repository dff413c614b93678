"""A plan in a file: what it was made from, and what was asked; it is made again when it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparselaw.errors import InputError
from sparselaw.fitting import FittedLaw
from sparselaw.fitting.saved_law import law_content, law_of
from sparselaw.forecasting import Prepared
from sparselaw.forecasting.saved import number, prepared_of
from sparselaw.interval import check_level
from sparselaw.laws import Law, law_named
from sparselaw.planning.from_runs import runs_source
from sparselaw.planning.plan import plan
from sparselaw.planning.plan_record import Plan, Plans

WORDS, NUMBERS = ("cost",), ("loss", "probability", "inference_tokens", "unique_data")


def plans_content(plans: tuple[Plan, ...], budget: float | list[float]) -> dict[str, Any]:
    """Of one plan, or of several of one source."""
    first = plans[0]
    if isinstance(first.basis, Prepared):
        basis = {"forecast": first.basis.kept() | {"level": first.level}}
    elif isinstance(first.basis, FittedLaw):
        basis = {"fit": law_content(first.basis)}
    elif isinstance(first.basis, Law):
        values = {name: float(getattr(first.basis, name)) for name in first.basis.parameters()}
        basis = {"law": {"name": first.basis.name, "values": values}}
    else:
        raise InputError("save", "plan", "by the theory is not kept", "keep the command that makes it")
    asked = {} if "loss" in first.settings else {"budget": budget}
    return {**basis, "settings": {**first.settings, **asked}}


def plan_of(content: Mapping[str, Any]) -> Plan | Plans:
    """The plan that ``plans_content`` is of, made again."""
    settings = dict(content["settings"])
    asked: dict[str, Any] = {name: str(settings.pop(name)) for name in WORDS if name in settings}
    asked |= {name: number(settings.pop(name)) for name in NUMBERS if name in settings}
    budget = settings.pop("budget", None)
    if settings:
        raise ValueError
    budgets = [number(C) for C in budget] if isinstance(budget, list) else budget
    if budgets is not None and not isinstance(budgets, list):
        budgets = number(budgets)
    found: Plan | Plans = plan(_basis(content), budgets, **asked)
    return found


def _basis(content: Mapping[str, Any]) -> Any:
    if "forecast" in content:
        kept = content["forecast"]
        return runs_source(prepared_of(kept), check_level(number(kept["level"])))
    if "fit" in content:
        return law_of(content["fit"])
    kind = law_named(str(content["law"]["name"]))
    values = content["law"]["values"]
    return kind(**{name: number(values[name]) for name in kind.parameters()})
