"""Budget: the best N and D for a compute budget, what a wrong N costs, and the frontier they lie on.

From the theory of the inputs, or from the law that was fitted to the runs of the page.
"""

from __future__ import annotations

import math
import shlex
from typing import Any

import numpy as np

from sparselaw.costs import cost_names, parse_cost
from sparselaw.errors import InputError
from sparselaw.explore.call import Call, View
from sparselaw.explore.chart_data import Chart, axis, line, mark, points
from sparselaw.explore.code_lines import input_options, input_python, plain, shell
from sparselaw.explore.page_fits import fitted_of
from sparselaw.inputs import Inputs
from sparselaw.planning import Plan, plan, planned_for
from sparselaw.planning.allocate import allocate
from sparselaw.planning.valley_curve import valley_curve
from sparselaw.theory import frontier

AROUND = 40.0  # the valley is shown for N so many times smaller and larger than the best
DECADES = 4.0  # of compute on either side of the budget
BUDGETS = 17
LARGEST_BUDGET = 1e40
PLAN = '\nsl.plan({}, budget={{budget}}, cost="{{cost}}")'


def budget(call: Call) -> dict[str, Any]:
    """The plan, its valley and its frontier."""
    source, code = _source(call)
    spent = call.positive("budget", 1e12)
    if spent > LARGEST_BUDGET:
        raise InputError("budget", spent, "is beyond every machine", f"choose budget <= {LARGEST_BUDGET:g}")
    cost = call.text("cost") or None
    found = plan(source, spent, cost)
    code = {name: text.format(budget=plain(spent), cost=found.cost) for name, text in code.items()}
    return {
        "plan": found.as_dict(),
        "valley": {"chart": _valley(source, found), "code": code},
        "frontier": {"chart": _frontier(source, found), "code": code},
        "costs": list(cost_names()),
    }


def _source(call: Call) -> tuple[Any, dict[str, str]]:
    """A fitted law or inputs, and the code of its plan with places for budget and cost."""
    if call.choice("from", ["theory", "runs"]) == "runs":
        fitted, name, python = fitted_of(call)
        command = (
            f"sparselaw plan --law {fitted.name} --budget {{budget}} --cost {{cost}} {shlex.quote(name)}"
        )
        return fitted, {
            "shell": command,
            "python": python.replace("{", "{{").replace("}", "}}") + PLAN.format("law"),
        }
    inputs = call.inputs()
    command = f"{shell('plan', **input_options(inputs))} --budget {{budget}} --cost {{cost}}"
    python = f"import sparselaw as sl\n\n{input_python(inputs)}"
    return inputs, {"shell": command, "python": python + PLAN.format("model")}


def _valley(source: Any, found: Plan) -> Chart:
    """Loss against N with the whole budget spent; the peak between the valleys is a gap."""
    best = found.N.best
    along = valley_curve(source, found.budget, found.cost, between=(best / AROUND, best * AROUND))
    reasons = ["" if math.isfinite(loss) else "infinite: the double-descent peak" for loss in along.loss]
    chart: Chart = {
        "x": axis("model size N"),
        "y": axis("loss"),
        "series": [
            line(
                "the whole budget spent on N and D",
                along.N.tolist(),
                along.loss.tolist(),
                colour=0,
                reason=reasons,
            ),
            points(f"best{_beside(found.side)}", [found.N.best], [found.law_loss.best], colour=1),
        ],
        "marks": [],
        "notes": list(found.warnings),
    }
    if found.others:
        label = f"best on the other side{_beside(found.others[0].side)}"
        x, y = [v.N for v in found.others], [v.loss for v in found.others]
        chart["series"].append(points(label, x, y, colour=2))
    if found.N.low < found.N.high:
        chart["marks"] += [mark(found.N.low, "95 % from", colour=1), mark(found.N.high, "95 % to", colour=1)]
    return chart


def _beside(side: str | None) -> str:
    return "" if side is None else f", {_spaced(side)}"


def _spaced(side: str) -> str:
    return side.replace("<", " < ").replace(">", " > ")


def _frontier(source: Any, found: Plan) -> Chart:
    chart: Chart = {
        "x": axis(f"compute C ({found.cost})"),
        "y": axis("best loss"),
        "series": [],
        "marks": [mark(found.budget, "the budget")],
        "notes": [],
    }
    low, high = found.budget * 10.0**-DECADES, found.budget * 10.0**DECADES
    if isinstance(source, Inputs):
        if source.exponents is None:
            chart["notes"].append("these inputs follow no power law: there is no frontier to draw")
        else:
            _add_limits(chart, source, found.cost, low, high)
    else:
        _add_optima(chart, source, found.cost, low, high)
    chart["series"].append(points("at the budget", [found.budget], [found.law_loss.best], colour=1))
    return chart


def _add_limits(chart: Chart, inputs: Inputs, cost: str, low: float, high: float) -> None:
    """For large budgets: loss* = constant C^-alpha_C on either side of the peak."""
    best = frontier(inputs, cost)
    for i, side in enumerate((best.best, best.other)):
        y = [side.constant * C**-best.alpha_C for C in (low, high)]
        words = f"{_spaced(side.side)}: {side.constant:.3g} C^{{−{best.alpha_C:.3g}}}"
        chart["series"].append(line(words, [low, high], y, colour=0 if i == 0 else 2, dash="dashed" * i))
    powers = f"N ~ C^{{{best.N_exponent:.3g}}} and D ~ C^{{{best.D_exponent:.3g}}}"
    chart["notes"].append(f"For large budgets {powers}, at xi = {best.best.xi:.3g}.")


def _add_optima(chart: Chart, source: Any, cost: str, low: float, high: float) -> None:
    planned = planned_for(source)
    spending = parse_cost(cost, planned.conditioning)
    budgets = np.geomspace(max(low, float(spending.compute(1.0, 1.0)) * 10.0), high, BUDGETS)
    losses = [allocate(planned.loss, spending, float(C)).best.loss for C in budgets]
    chart["series"].append(line("the law's best", budgets.tolist(), losses, colour=0))


VIEW = View(values={"budget": budget})
