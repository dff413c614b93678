"""Pages for a fit, a plan and a forecast: finished results in, what to show of them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sparselaw.plotting.figures import draw_each, fit_panels, forecast_panels, plan_panels
from sparselaw.report.measured_pages import learn_page as learn_page
from sparselaw.report.measured_pages import measure_page as measure_page
from sparselaw.report.result_page import ResultPage, Section

if TYPE_CHECKING:
    from sparselaw.fitting.fitted_law import FittedLaw
    from sparselaw.forecasting import Forecast
    from sparselaw.interval import Interval
    from sparselaw.planning import Plan

QUANTITIES = ("quantity", "value", "95 % interval")


def forecast_page(found: Forecast) -> ResultPage:
    fan, *tests = forecast_panels(found)
    last = found.points[-1]
    return ResultPage(
        title="Forecast of runs not yet made",
        lead=[f"{found.title()}. Status: {found.status}. {_capital(found.meaning())}."],
        warnings=found.warnings,
        sections=[
            Section(
                title="Forecast",
                pictures=draw_each([fan]),
                columns=("N", "D", "loss", f"{100 * found.level:g} % interval"),
                rows=[[_n(p.N), _n(p.D), _n(p.loss.best), p.loss.ends()] for p in found.points],
            ),
            Section(
                title="Back-test: fitted on the cheapest runs, the more expensive ones predicted",
                pictures=draw_each(tests),
                columns=("fitted on", "predicted", "inside 95 %", "rms error", "median width"),
                rows=[
                    [f"{100 * t.cutoff:.0f} % ({t.fitted})", str(t.runs)]
                    + (
                        [t.reason, "-", "-"]
                        if t.reason
                        else [f"{100 * v:.3g} %" for v in (t.covered, t.error, t.width)]
                    )
                    for t in found.backtest
                ],
            ),
            Section(title=found.law.formula, columns=QUANTITIES, rows=_intervals(found.params)),
            Section(
                title=f"Runs that pull most at N = {last.N:.3g}, D = {last.D:.3g}",
                columns=("N", "D", "loss", "moves the forecast by"),
                rows=[[_n(r.N), _n(r.D), _n(r.loss), f"{100 * r.moves:+.2g} %"] for r in last.pulls],
            ),
        ],
    )


def fit_page(law: FittedLaw) -> ResultPage:
    from sparselaw.planning import next_run

    ahead = next_run(law)
    return ResultPage(
        title=f"Fit of the {law.name} law",
        lead=[
            f"{_capital(law.goodness.words())}; {law.goodness.worst_words()}.",
            *([] if ahead is None else [f"{_capital(ahead.words())}."]),
            f"{law.law.formula}. {_capital(law.how())}.",
        ],
        warnings=law.warnings,
        sections=[
            Section(title="The law over the runs", pictures=draw_each(fit_panels(law))),
            Section(title="Parameters", columns=QUANTITIES, rows=_intervals(law.params)),
            *_sparsity(law),
            Section(
                title="Sparsity alpha1 as runs are left out",
                columns=("left out", "rows", "alpha1", "95 % interval"),
                rows=[
                    [line.left_out, str(line.rows_used), _n(line.alpha1.best), line.alpha1.ends()]
                    for line in law.leave_out
                ],
            ),
        ][: None if law.leave_out else -1],
    )


def _sparsity(law: FittedLaw) -> list[Section]:
    rows = law.sparsity_rows()
    if not rows:
        return []
    words = [f"{_capital(words)}." for words in law.sparsity_words()]
    columns = ("by the law", "alpha1", "alpha2")
    return [Section(title="Implied sparsity", text=words, columns=columns, rows=rows)]


def plan_page(source: Any, plans: Sequence[Plan]) -> ResultPage:
    """``source`` is the fitted law, or the inputs of the theory."""
    first = plans[0]
    growth = first.growth
    fitted = hasattr(source, "rows_used")
    by = f"by the {source.name} law fitted to {source.rows_used} runs" if fitted else "by the theory"
    lead = [f"Cost {first.cost}, {by}."]
    if growth.N.best == growth.N.best:
        lead.append(f"For large budgets N grows as C^{growth.N.best:.3g} and D as C^{growth.D.best:.3g}.")
    return ResultPage(
        title="The best N and D for a budget",
        lead=lead,
        warnings=list(dict.fromkeys(w for plan in plans for w in plan.warnings)),
        sections=[
            Section(
                title="Allocation",
                pictures=draw_each(plan_panels(source, plans)),
                text=[f"Intervals: {first.intervals}; of the loss: {first.loss_intervals}."],
                columns=("budget", "N", "D", "D / N", "loss", *(("passes",) if first.unique else ())),
                rows=[[_n(p.budget), *(_shown(v) for v in _of_plan(p))] for p in plans],
            )
        ],
    )


def _intervals(values: Mapping[str, Interval]) -> list[list[str]]:
    return [[name, _n(v.best), v.ends()] for name, v in values.items()]


def _of_plan(plan: Plan) -> list[Interval]:
    passes = [] if plan.unique is None else [plan.unique.passes]
    return [plan.N, plan.D, plan.tokens_per_parameter, plan.loss, *passes]


def _shown(v: Interval) -> str:
    return f"{_n(v.best)} {v.ends()}" if v.low < v.high else _n(v.best)


def _n(value: float) -> str:
    return f"{value:.4g}"


def _capital(text: str) -> str:
    """A sentence; a name such as alpha1 keeps its letters."""
    return text if text.startswith("alpha") else text[:1].upper() + text[1:]
