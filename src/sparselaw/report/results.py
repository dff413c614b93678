"""Pages for a fit, a plan and a forecast: finished results in, what to show of them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sparselaw.plotting.figures import draw, fit_panels, forecast_panels, plan_panels
from sparselaw.report.result_page import ResultPage, Section

if TYPE_CHECKING:
    from sparselaw.fitting.fitted_law import FittedLaw
    from sparselaw.fitting.forecast import Forecast
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
                picture=draw([fan]),
                columns=("N", "D", "loss", "95 % interval"),
                rows=[[_n(p.N), _n(p.D), _n(p.loss.best), p.loss.ends()] for p in found.points],
            ),
            Section(
                title="Back-test: fitted on the cheapest runs, the dearer ones foretold",
                picture=draw(tests) if tests else b"",
                columns=("fitted on", "foretold", "inside 95 %", "rms error", "median width"),
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
    return ResultPage(
        title=f"Fit of the {law.name} law",
        lead=[f"{law.law.formula}. {_capital(law.how())}."],
        warnings=law.warnings,
        sections=[
            Section(title="The law over the runs", picture=draw(fit_panels(law))),
            Section(title="Parameters", columns=QUANTITIES, rows=_intervals(law.quantities())),
            Section(
                title="Sparsity alpha1 as runs are left out",
                columns=("left out", "rows", "alpha1", "95 % interval"),
                rows=[
                    [line.left_out, str(line.rows_used), _n(line.alpha1.best), line.alpha1.ends()]
                    for line in law.leave_out
                ],
            ),
        ][: 3 if law.leave_out else 2],
    )


def plan_page(law: FittedLaw, plans: Sequence[Plan]) -> ResultPage:
    first = plans[0]
    return ResultPage(
        title="The best N and D for a budget",
        lead=[f"Cost {first.cost}, by the {law.name} law fitted to {law.rows_used} runs."],
        warnings=list(dict.fromkeys(w for plan in plans for w in plan.warnings)),
        sections=[
            Section(
                title="Allocation",
                picture=draw(plan_panels(law, [plan.budget for plan in plans], first.cost)),
                text=[f"Intervals: {first.intervals}; of the loss: {first.loss_intervals}."],
                columns=("budget", "N", "D", "loss"),
                rows=[
                    [_n(p.budget), *(f"{_n(v.best)} {v.ends()}" for v in (p.N, p.D, p.loss))] for p in plans
                ],
            )
        ],
    )


def _intervals(values: Mapping[str, Interval]) -> list[list[str]]:
    return [[name, _n(v.best), v.ends()] for name, v in values.items()]


def _n(value: float) -> str:
    return f"{value:.4g}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
