"""Two more tabs of Your runs: which runs to make next, and which of two recipes is better."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from sparselaw.deciding import Contest, NextRuns, compare, next_runs
from sparselaw.deciding.compare import short_names
from sparselaw.explore.call import Call, code_of, last_part, shell
from sparselaw.explore.chart_data import Chart, axis, chart, line, mark, points
from sparselaw.explore.views.runs_view import (
    COMPUTE,
    columns_of,
    fit_of,
    isoflop_chart,
    spent_by,
    table_options,
    table_python,
)
from sparselaw.fitting import clean_runs
from sparselaw.numbers import typed
from sparselaw.planning import forecast
from sparselaw.plotting.style import unit_of

USUAL_TARGET = 10.0  # times the most expensive run
MOST_RUNS = 4


def next_of(call: Call) -> dict[str, Any]:
    """The runs to make now for a forecast at a budget, and where they lie among the isoFLOP curves."""
    fitted = fit_of(call)
    budget = call.positive("next_budget", USUAL_TARGET * float(spent_by(fitted).max()))
    spend = call.positive("next_spend") if call.text("next_spend") else None
    most = call.size("next_runs", MOST_RUNS)
    found = next_runs(call.upload(), budget=budget, spend=spend, most=most, columns=columns_of(call))
    told = f"budget={typed(budget)}, {'' if spend is None else f'spend={typed(spend)}, '}most={most}"
    command = f"{shell('next', budget=budget, spend=spend, runs=most)} {table_options(call)}"
    return {
        "next": found.as_dict(),
        "words": found.words(),
        "budget": budget,
        "chart": isoflop_chart(fitted, _to_make(fitted, found)),
        "code": code_of(command, f"sl.next_runs({table_python(call)}, {told})"),
    }


def _to_make(fitted: Any, found: NextRuns) -> list[dict[str, Any]]:
    """The new runs and the target, each with the loss that is forecast now."""
    series = []
    for label, sizes, colour in (
        ("runs to make next, with their forecasts", [(run.N, run.D) for run in found.runs], 1),
        ("the target", list(found.targets), 3),
    ):
        losses = [point.loss for point in forecast(fitted, at=sizes).points]
        ends = ([getattr(loss, end) for loss in losses] for end in ("best", "low", "high"))
        series.append(points(label, [N for N, _ in sizes], *ends, colour=colour, large=True))
    return series


def compared(call: Call) -> dict[str, Any]:
    """Two tables: the difference, how sure, and what the better recipe saves."""
    names = [last_part(call.text(f"name_{side}")) or f"{side}.csv" for side in "ab"]
    first, second = (call.upload(f"upload_{side}") for side in "ab")
    labels = short_names(names)
    runs = [clean_runs(path).runs for path in (first, second)]
    largest = [float((6.0 * one.N * one.D).max()) for one in runs]
    budget = call.positive("compare_budget", USUAL_TARGET * max(largest))
    found = compare(first, second, budget=budget, names=labels)
    files = " ".join(shlex.quote(name) for name in names)
    command = f"sparselaw compare {files} --budget {typed(budget)}"
    (contest,) = found.contests
    return {
        "compared": found.as_dict(),
        "budget": budget,
        "words": [contest.words(), contest.shared_words()],
        "charts": {"frontiers": _frontiers(contest), "multiplier": _multiplier(contest)},
        "code": code_of(command, f"sl.compare({names[0]!r}, {names[1]!r}, budget={typed(budget)})"),
    }


def _frontiers(contest: Contest) -> Chart:
    """The best loss of both recipes against compute, with bands; their runs."""
    series, budgets = [], contest.curve["budget"].tolist()
    for colour, (name, side, runs) in enumerate(zip(contest.names, "AB", contest.recipes.runs, strict=True)):
        low, best, high = contest.curve[side].tolist()
        series.append(line(f"{name}, 95 %", budgets, best, colour=colour, low=low, high=high))
        spent = (6.0 * runs.N * runs.D).tolist()
        series.append(points(f"runs of {name}", spent, runs.loss.tolist(), colour=colour))
    unit = unit_of(contest.recipes.runs[0].loss)
    return chart(axis(COMPUTE), axis(unit), series, marks=_asked(contest))


def _multiplier(contest: Contest) -> Chart:
    """The compute that the second recipe needs for the loss of the first, over that of the first."""
    a, b = contest.names
    times = contest.curve["multiplier"]
    known = np.isfinite(times).all(axis=0)
    budgets = contest.curve["budget"][known].tolist()
    low, best, high = times[:, known].tolist()
    series = [
        line(f"compute of {b} over that of {a}, 95 %", budgets, best, colour=2, low=low, high=high),
        line("the same", budgets[:1] + budgets[-1:], [1.0, 1.0][: len(budgets)], colour=None, dash="dotted"),
    ]
    notes = [] if known.all() else ["a gap: not known within a factor of 30"]
    label = axis("compute, second over first")
    return chart(axis("compute of the first (FLOP)"), label, series, marks=_asked(contest), notes=notes)


def _asked(contest: Contest) -> list[dict[str, Any]]:
    return [mark(point.budget, "the budget") for point in contest.points]
