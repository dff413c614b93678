"""Any kept result: a fitted law, a forecast, a plan or a comparison, made again from its file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparselaw.deciding.compare import compare_recipes
from sparselaw.deciding.contest import KIND as COMPARISON
from sparselaw.deciding.contest import Comparison
from sparselaw.deciding.recipes import Recipe
from sparselaw.fitting import FittedLaw
from sparselaw.fitting.saved_law import KIND as LAW
from sparselaw.fitting.saved_law import law_of
from sparselaw.forecasting import Forecast
from sparselaw.forecasting.forecast_result import KIND as FORECAST
from sparselaw.forecasting.saved import forecast_of, load_saved, number, prepared_of, runs_of
from sparselaw.interval import check_level
from sparselaw.laws import law_named
from sparselaw.planning import Plan, Plans, plan
from sparselaw.planning.from_runs import runs_source
from sparselaw.planning.plan_record import KIND as PLAN

MOST_RECIPES = 100
ASKED_OF_PLANS = {"cost": str} | dict.fromkeys(
    ("loss", "probability", "inference_tokens", "unique_data"), number
)


def load(path: str | Path) -> FittedLaw | Forecast | Plan | Plans | Comparison:
    """A result that ``save(path)`` or ``--out`` wrote: it predicts again, without the table.

    Parameters
    ----------
    path
        Of the JSON file.

    Returns
    -------
    FittedLaw, Forecast, Plan, Plans or Comparison
        As it was. ``forecast``, ``plan`` and ``compare`` take it in place of tables, to be asked anew.

    Raises
    ------
    InputError
        Where the file is not there, or is no such result.

    Examples
    --------
    >>> load("nowhere.json")
    Traceback (most recent call last):
    ...
    sparselaw.errors.InputError: path=nowhere.json: does not exist; check the name
    """
    found: FittedLaw | Forecast | Plan | Plans | Comparison = load_saved(
        path, {LAW: law_of, FORECAST: forecast_of, PLAN: plan_of, COMPARISON: comparison_of}
    )
    return found


def plan_of(content: Mapping[str, Any]) -> Plan | Plans:
    """The plan that ``Plan.save`` wrote, made again."""
    settings = dict(content["settings"])
    budget = settings.pop("budget", None)
    asked: Any = {name: ASKED_OF_PLANS[name](value) for name, value in settings.items()}
    budgets: Any = [number(C) for C in budget] if isinstance(budget, list) else budget and number(budget)
    source: Any
    if "forecast" in content:
        kept = content["forecast"]
        source = runs_source(prepared_of(kept), check_level(number(kept["level"])))
    elif "fit" in content:
        source = law_of(content["fit"])
    else:
        kind, values = law_named(str(content["law"]["name"])), content["law"]["values"]
        source = kind(**{name: number(values[name]) for name in kind.parameters()})
    found: Plan | Plans = plan(source, budgets, **asked)
    return found


def comparison_of(content: Mapping[str, Any]) -> Comparison:
    """The comparison that ``Comparison.save`` wrote, made again."""
    recipes, settings = content["recipes"], content["settings"]
    if not isinstance(recipes, list) or not 2 <= len(recipes) <= MOST_RECIPES:
        raise ValueError
    asked: dict[str, Any] = {"cost": str(settings["cost"]), "level": number(settings["level"])}
    if "at" in settings:
        asked["at"] = [(number(N), number(D)) for N, D in settings["at"]]
    else:
        asked["budget"] = [number(C) for C in settings["budget"]]
    made = tuple(
        Recipe(name=str(one["name"]), runs=runs_of(one), notes=tuple(map(str, one["notes"])))
        for one in recipes
    )
    return compare_recipes(made, seed=int(number(settings["seed"])), **asked)
