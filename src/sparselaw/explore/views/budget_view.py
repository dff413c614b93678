"""Budget: the best N and D for a compute budget, what a wrong N costs, and the frontier they lie on.

From the theory of the inputs, or from the forecast of the runs that were dropped on the page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sparselaw.costs import Cost, cost_names
from sparselaw.errors import InputError
from sparselaw.explore.call import Call, code_of, input_options, input_python, shell
from sparselaw.explore.chart_data import Chart, axis, chart, line, mark, points
from sparselaw.explore.views.runs_view import SIZES, source_of, table_options, table_python
from sparselaw.inputs import Inputs
from sparselaw.numbers import typed
from sparselaw.planning import Plan, as_source, frontier_curve, plan, valley_curve
from sparselaw.plotting.style import units_of
from sparselaw.theory.scaling_limit import frontier
from sparselaw.theory.surface import Surface

AROUND = 40.0  # the valley is shown for N so many times smaller and larger than the best
DECADES = 4.0  # of compute on either side of the budget
BUDGETS = 17
FEW_PLACES = 17  # of a sketched valley, and those beside the peak
ALONG = "the whole budget spent on N and D"
LARGEST_BUDGET = 1e40
USUAL_BUDGET, LARGER = 1e12, 10.0  # of the theory; times the most expensive run


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the state asks for."""

    source: Any  # inputs, or what their forecast makes of runs
    spent: float
    cost: str | None
    surface: Surface
    command: list[str]  # of the shell, before and after budget and cost
    python: list[str]

    @classmethod
    def of(cls, call: Call) -> _Asked:
        surface = cast(Surface, call.choice("surface", ["sharp", "leading"]))
        own = {} if surface == "sharp" else {"surface": surface}
        source: Any
        if call.choice("from", ["theory", "runs"]) == "runs":
            source, usual = source_of(call), USUAL_BUDGET
            if source.usual_budget is not None:
                usual = LARGER * source.usual_budget
            command, python = (
                ["sparselaw plan", f" {table_options(call)}"],
                [f"sl.plan({table_python(call)}", ")"],
            )
        else:
            source, usual = call.inputs(), USUAL_BUDGET
            command = [shell("plan", **input_options(source), **own), ""]
            further = "".join(f', {name}="{value}"' for name, value in own.items())
            python = [f"{input_python(source)}\nsl.plan(model", f"{further})"]
        spent = call.positive("budget", usual)
        if spent > LARGEST_BUDGET:
            condition = "is beyond every machine"
            raise InputError("budget", spent, condition, f"choose budget <= {LARGEST_BUDGET:g}")
        cost = call.text("cost") or None
        return cls(source=source, spent=spent, cost=cost, surface=surface, command=command, python=python)

    def code(self, cost: str) -> dict[str, str]:
        budget = typed(self.spent)
        command = f" --budget {budget} --cost {cost}".join(self.command)
        return code_of(command, f', budget={budget}, cost="{cost}"'.join(self.python))


def budget(call: Call) -> dict[str, Any]:
    """The plan and its valley; while a slider is dragged the valley alone, from a few places."""
    asked = _Asked.of(call)
    if call.choice("draft", ["no", "yes"]) == "yes":
        along = valley_curve(asked.source, asked.spent, asked.cost, count=FEW_PLACES, surface="leading")
        best = float(along.N[np.argmin(along.loss)])
        shown = np.abs(np.log(along.N / best)) <= math.log(AROUND)  # as far as it is shown later
        curve = line(ALONG, along.N[shown].tolist(), along.loss[shown].tolist(), colour=0)
        drawn = chart(axis("model size N", sizes=True), axis("loss"), [curve])
        return {"chart": drawn, "code": asked.code(along.cost)}
    found = plan(asked.source, asked.spent, asked.cost, surface=asked.surface)
    return {
        "plan": found.as_dict(),
        "chart": _valley(asked.source, asked.surface, found),
        "code": asked.code(found.cost),
        "costs": list(cost_names()),
    }


def frontier_of(call: Call) -> dict[str, Any]:
    """The best loss against the budget."""
    asked = _Asked.of(call)
    spending = as_source(asked.source, asked.surface).cost(asked.cost)
    return {"chart": _frontier(asked, spending), "code": asked.code(spending.name)}


def _valley(source: Any, surface: Surface, found: Plan) -> Chart:
    """Loss against N with the whole budget spent; the peak between the valleys is a gap."""
    best = found.N.best
    between = best / AROUND, best * AROUND
    along = valley_curve(source, found.budget, found.cost, between=between, surface=surface)
    reasons = ["" if math.isfinite(loss) else "infinite: the double-descent peak" for loss in along.loss]
    along_budget = line(ALONG, along.N.tolist(), along.loss.tolist(), colour=0, reason=reasons)
    loss = found.loss
    at_best = points(f"best{_beside(found.side)}", [best], [loss.best], [loss.low], [loss.high], colour=1)
    series, marks = [along_budget, at_best], []
    if found.others:
        label = f"best on the other side{_beside(found.others[0].side)}"
        x, y = [v.N for v in found.others], [v.loss for v in found.others]
        series.append(points(label, x, y, colour=2))
    if found.N.low < found.N.high:
        ends = {"low": found.N.low, "high": found.N.high}
        marks = [mark(at, f"{end} end of N, 95 %,", colour=1) for end, at in ends.items()]
    size, unit = (
        ("model size N", "loss")
        if isinstance(source, Inputs)
        else (SIZES, units_of(found.D.best, found.loss.best)[1])
    )
    return chart(axis(size, sizes=True), axis(unit), series, marks=marks, notes=found.warnings)


def _beside(side: str | None) -> str:
    return "" if side is None else f", {_spaced(side)}"


def _spaced(side: str) -> str:
    return side.replace("<", " < ").replace(">", " > ")


def _frontier(asked: _Asked, cost: Cost) -> Chart:
    source, spent = asked.source, asked.spent
    unit = "FLOP" if cost.name.startswith("6nd") else cost.name
    drawn = chart(axis(f"compute C ({unit})"), axis("best loss"), [], marks=[mark(spent, "the budget")])
    low, high = spent * 10.0**-DECADES, spent * 10.0**DECADES
    theory = isinstance(source, Inputs)
    if theory and source.exponents is not None:  # for large budgets loss* = constant C^-alpha_C
        best = frontier(source, cost.name)
        for i, side in enumerate((best.best, best.other)):
            y = [side.constant * C**-best.alpha_C for C in (low, high)]
            words = f"{_spaced(side.side)}: {side.constant:.3g} C^{{−{best.alpha_C:.3g}}}"
            curve = line(words, [low, high], y, colour=0 if i == 0 else 2, dash="dashed" * i)
            drawn["series"].append(curve)
        powers = f"N ~ C^{{{best.N_exponent:.3g}}} and D ~ C^{{{best.D_exponent:.3g}}}"
        drawn["notes"].append(f"For large budgets {powers}, at xi = {best.best.xi:.3g}.")
    elif theory:
        drawn["notes"].append("these inputs follow no power law: there is no limit to draw")
    if not theory or source.exponents is None or asked.surface == "sharp":
        least = 10.0 * float(cost.compute(1.0, 1.0))
        reach = 10.0 ** (DECADES * (0.5 if theory else 1.0))  # each budget of the theory takes time
        budgets = np.geomspace(max(spent / reach, min(least, spent)), spent * reach, BUDGETS)
        found = frontier_curve(source, budgets, cost.name, surface=asked.surface)
        words = "the best at each budget" if theory else "the forecast's best"
        drawn["series"].append(line(words, found.budget.tolist(), found.loss.tolist(), colour=1))
    return drawn
