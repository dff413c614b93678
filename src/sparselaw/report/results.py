"""Pages for a fit, a plan and a forecast: finished results in, what to show of them out."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined

import sparselaw
from sparselaw.files import write_atomically
from sparselaw.numbers import short_size
from sparselaw.plotting.figures import (
    compare_panels,
    curve_panels,
    draw_each,
    fit_panels,
    forecast_panels,
    learn_panels,
    measure_panels,
    next_panels,
    plan_panels,
)
from sparselaw.records import html_formula

if TYPE_CHECKING:
    from sparselaw.curves import CurveFit
    from sparselaw.deciding import Comparison, NextRuns
    from sparselaw.fitting.fitted_law import FittedLaw
    from sparselaw.forecasting import Forecast
    from sparselaw.interval import Interval
    from sparselaw.measuring import LearningCurve, Measurement
    from sparselaw.planning import Approaches, Plan

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
                rows=[
                    [short_size(p.N), short_size(p.D), _n(p.loss.best), p.loss.ends()] for p in found.points
                ],
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
            Section(
                title="The law", formula=found.law.formula, columns=QUANTITIES, rows=_intervals(found.params)
            ),
            Section(
                title=f"Runs that pull most at N = {short_size(last.N)}, D = {short_size(last.D)}",
                columns=("N", "D", "loss", "moves the forecast by"),
                rows=[
                    [short_size(r.N), short_size(r.D), _n(r.loss), f"{100 * r.moves:+.2g} %"]
                    for r in last.pulls
                ],
            ),
        ],
    )


def curve_page(found: CurveFit) -> ResultPage:
    """Curves, fan and rates; ends of runs and schedules; the back-test; parameters."""
    (_, columns, rows), *others, law = found.tables().values()
    best = [] if found.best is None else [f"{_capital(found.best.words())}."]
    return ResultPage(
        title="Loss curves under learning-rate schedules",
        lead=[f"{found.title()}. Status: {found.status}.", *best, f"{_capital(found.theory.words())}."],
        warnings=found.warnings,
        sections=[
            Section(title="Curves", pictures=draw_each(curve_panels(found)), columns=columns, rows=rows),
            *(_table(*table) for table in others if table[2]),
            Section(title="The law", formula=law[0], columns=law[1], rows=law[2]),
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
            f"{_capital(law.how())}.",
        ],
        warnings=law.warnings,
        sections=[
            Section(title="The law over the runs", pictures=draw_each(fit_panels(law))),
            Section(
                title="Parameters", formula=law.law.formula, columns=QUANTITIES, rows=_intervals(law.params)
            ),
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


def plan_page(source: Any, plans: Sequence[Plan], ways: Approaches | None = None) -> ResultPage:
    """``source`` is a fitted law, a forecast or the inputs of the theory; ``ways`` are three approaches."""
    first = plans[0]
    growth = first.growth
    fitted = hasattr(source, "rows_used")
    by = f"by the {source.name} law fitted to {source.rows_used} runs" if fitted else "by the theory"
    by = f"by {first.by}" if first.by else by
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
                rows=[
                    [
                        f"{p.budget:.4g}",
                        p.N.as_sizes(),
                        p.D.as_sizes(),
                        *(_shown(v) for v in (p.tokens_per_parameter, p.loss)),
                        *([] if p.unique is None else [_shown(p.unique.passes)]),
                    ]
                    for p in plans
                ],
            ),
            *([] if ways is None else [_table("Three approaches: N ~ C^a, D ~ C^b", *ways.table())]),
        ],
    )


def compare_page(found: Comparison) -> ResultPage:
    columns, rows = found.table()
    return ResultPage(
        title="Recipes compared",
        lead=[f"{_capital(contest.words())}." for contest in found.contests],
        warnings=found.warnings,
        sections=[
            Section(
                title="At the budgets or sizes asked for",
                pictures=draw_each(compare_panels(found)),
                text=[f"{' and '.join(c.names)}: {c.shared_words()}." for c in found.contests],
                columns=columns,
                rows=rows,
            )
        ],
    )


def next_page(found: NextRuns) -> ResultPage:
    columns, rows = found.table()
    return ResultPage(
        title="Runs to make next",
        lead=[f"{_capital(found.words())}."],
        warnings=found.warnings,
        sections=[
            Section(title="The runs", pictures=draw_each(next_panels(found)), columns=columns, rows=rows)
        ],
    )


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Section:
    return Section(title=title, columns=columns, rows=rows)


def _intervals(values: Mapping[str, Interval]) -> list[list[str]]:
    return [[name, _n(v.best), v.ends()] for name, v in values.items()]


def _shown(v: Interval) -> str:
    return f"{_n(v.best)} {v.ends()}" if v.low < v.high else _n(v.best)


def _n(value: float) -> str:
    return f"{value:.4g}"


def _capital(text: str) -> str:
    """A sentence; a name such as alpha1 or adamw_best keeps its letters."""
    return text[:1].upper() + text[1:] if text.split(" ")[0].strip(":;,").isalpha() else text


def measure_page(found: Measurement) -> ResultPage:
    columns, rows = found.table_rows()
    windows = [
        [f"{w.low} to {w.high}", str(w.features), "none" if w.alpha1 is None else str(w.alpha1)]
        for w in found.windows
    ]
    ahead = [[f"{b.D:.6g}", b.reason if b.unseen is None else str(b.unseen)] for b in found.beyond]
    tests = [
        [f"{t.known:.6g}", f"{t.D:.6g}", f"{100 * t.error:+.2g} %", f"{100 * t.straight_error:+.2g} %"]
        for t in found.tests
    ]
    facts = [
        ["rows", f"{found.rows}"],
        ["features, seen and never active", f"{found.seen}, {found.dead}"],
        ["nonzeros, and in a row", f"{found.nonzeros}, {found.nonzeros / found.rows:.3g}"],
        ["eta of the amplitude law", "-" if found.eta is None else str(found.eta)],
        ["alpha1", found.alpha1_reason if found.alpha1 is None else str(found.alpha1)],
    ]
    sections = [
        Section(title="What it is", columns=("quantity", "value"), rows=facts),
        Section(
            title="Against the number of rows",
            pictures=draw_each(measure_panels(found)),
            columns=columns,
            rows=rows,
        ),
        Section(
            title="Rare and frequent features", columns=("active in rows", "features", "alpha1"), rows=windows
        ),
        Section(title="Beyond the data: the unseen share", columns=("D", "unseen"), rows=ahead),
        Section(
            title="Back-test of that step",
            columns=("known rows", "D", "error", "error of a straight line"),
            rows=tests,
        ),
    ]
    lead = [f"{_capital(sentence)}." for sentence in found.sentences()]
    return ResultPage(
        title=f"Features of {found.source}", lead=lead, sections=[s for s in sections if s.rows]
    )


def learn_page(found: LearningCurve) -> ResultPage:
    columns, rows = found.table_rows()
    width_columns, width_rows = found.width_rows()
    sections = [
        Section(
            title="Loss in per cent of the variance, N infinite",
            pictures=draw_each(learn_panels(found)),
            columns=columns,
            rows=rows,
        ),
        Section(title="Along the model size, many rows", columns=width_columns, rows=width_rows),
    ]
    return ResultPage(
        title=f"Learning curve of {found.source}",
        lead=[f"{_capital(sentence)}." for sentence in found.sentences()],
        sections=[section for section in sections if section.rows],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with a formula, pictures (SVG files' bytes), sentences and a table, each if there is one.

    Pictures stand side by side where there is room, and one below the other on a phone.
    """

    title: str
    formula: str = ""  # as laws write it; shown typeset
    pictures: Sequence[bytes] = ()
    text: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPage:
    """What to show of a result. ``command`` is what makes it again."""

    title: str
    sections: Sequence[Section]
    lead: Sequence[str] = ()
    warnings: Sequence[str] = ()
    command: str = ""


def write_result(path: Path, page: ResultPage) -> None:
    pictures = [[base64.b64encode(p).decode() for p in section.pictures] for section in page.sections]
    formulas = [html_formula(section.formula) for section in page.sections]
    write_html(
        path, "result.html", page=page, pictures=pictures, formulas=formulas, version=sparselaw.__version__
    )


def write_html(path: Path, template: str, **values: object) -> None:
    """Fill one of the templates of this room and write it, all at once."""
    room = files("sparselaw.report")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style = room.joinpath("style.css").read_text("utf-8")
    page = environment.from_string(room.joinpath(template).read_text("utf-8")).render(style=style, **values)
    with write_atomically(path) as file:
        file.write(page.encode("utf-8", "backslashreplace"))
