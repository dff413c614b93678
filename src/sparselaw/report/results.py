"""Pages for a fit, a plan and a forecast: finished results in, what to show of them out."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

import sparselaw
from sparselaw.files import write_atomically
from sparselaw.numbers import short_compute, short_number
from sparselaw.plotting import figures
from sparselaw.plotting.figures import draw_each
from sparselaw.records import GREEK, html_formula

if TYPE_CHECKING:
    from sparselaw.curves import CurveFit
    from sparselaw.deciding import Comparison, NextRuns
    from sparselaw.fitting.fitted_law import FittedLaw
    from sparselaw.forecasting import Forecast
    from sparselaw.interval import Interval
    from sparselaw.measuring import LearningCurve, Measurement
    from sparselaw.planning import Approaches, Plan

RAISED = re.compile(r"(?<=[\w)])\^(-?\w+(?:\.\w+)?)")  # an exponent in a sentence or a cell
SYMBOL = re.compile(r"\b(alpha|α)_?([12NDC])\b")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with a formula, pictures (SVG files' bytes), sentences and a table, each if there is one.

    Pictures stand side by side where there is room, and one below the other on a phone.
    """

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    pictures: Sequence[bytes] = ()
    text: Sequence[str] = ()
    formula: str = ""  # as laws write it; shown typeset


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPage:
    """What to show of a result. ``command`` is what makes it again."""

    title: str
    sections: Sequence[Section]
    lead: Sequence[str] = ()
    warnings: Sequence[str] = ()
    command: str = ""


def forecast_page(found: Forecast) -> ResultPage:
    fan, *tests = figures.forecast_panels(found)
    (_, columns, rows), backtest, law, pulls = found.tables().values()
    return ResultPage(
        title="Forecast of runs not yet made",
        lead=[" ".join(_sentences([found.title(), f"Status: {found.status}", found.meaning()]))],
        warnings=found.warnings,
        sections=[
            Section("Forecast", columns, rows, draw_each([fan])),
            Section(*backtest, draw_each(tests)),
            Section(*law, formula=found.law.formula),
            Section(*pulls),
        ],
    )


def curve_page(found: CurveFit) -> ResultPage:
    """Curves, fan and rates; ends of runs and schedules; the back-test; parameters."""
    (_, columns, rows), *others, law = found.tables().values()
    best = [] if found.best is None else [found.best.words()]
    return ResultPage(
        title="Loss curves under learning-rate schedules",
        lead=[f"{found.title()}. Status: {found.status}.", *_sentences([*best, found.theory["words"]])],
        warnings=found.warnings,
        sections=[
            Section("Curves", columns, rows, draw_each(figures.curve_panels(found))),
            *(Section(*table) for table in others if table[2]),
            Section("The law", law[1], law[2], formula=law[0]),
        ],
    )


def fit_page(law: FittedLaw) -> ResultPage:
    from sparselaw.planning import plan_ahead

    ahead, (sparsity, left_out) = plan_ahead(law), law.sparsity_tables()
    return ResultPage(
        title=f"Fit of the {law.name} law",
        lead=_sentences(
            [
                f"{law.goodness.words()}; {law.goodness.worst_words()}",
                *([] if ahead is None else [_ahead_words(ahead)]),
            ]
        ),
        warnings=law.warnings,
        sections=[
            Section("The law over the runs", pictures=draw_each(figures.fit_panels(law))),
            replace(_law("Parameters", law.law.formula, law.params), text=_sentences([law.how()])),
            Section(*sparsity, text=_sentences(law.sparsity_words())),
            Section(*left_out),
        ],
    )


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
                "Allocation",
                ("budget", "N", "D", "D / N", "loss", *(("passes",) if first.unique else ())),
                [
                    [short_compute(p.budget), p.N.as_sizes(), p.D.as_sizes()]
                    + [_shown(v) for v in (p.tokens_per_parameter, p.loss)]
                    + ([] if p.unique is None else [_shown(p.unique.passes)])
                    for p in plans
                ],
                draw_each(figures.plan_panels(source, plans)),
                [f"Intervals: {first.intervals}; of the loss: {first.loss_intervals}."],
            ),
            *([] if ways is None else [Section("Three approaches: N ~ C^a, D ~ C^b", *ways.table())]),
        ],
    )


def _ahead_words(found: Plan) -> str:
    """Allocation, prediction, growth."""
    line = (
        f"for ten times the most expensive run (C = {short_compute(found.budget)}): "
        f"N = {found.N.as_sizes()}, D = {found.D.as_sizes()}, loss {found.loss.best:.4g} {found.loss.ends()} "
        f"({found.loss_intervals.partition(':')[0]})"
    )
    known = found.growth.N.best == found.growth.N.best
    return line + (f"; N ~ C^{found.growth.N.best:.3g}" if known else "")


def compare_page(found: Comparison) -> ResultPage:
    return ResultPage(
        title="Recipes compared",
        lead=_sentences(contest.words() for contest in found.contests),
        warnings=found.warnings,
        sections=[
            Section(
                "At the budgets or sizes asked for",
                *found.table(),
                draw_each(figures.compare_panels(found)),
                [f"{' and '.join(c.names)}: {c.shared_words()}." for c in found.contests],
            )
        ],
    )


def next_page(found: NextRuns) -> ResultPage:
    return ResultPage(
        title="Runs to make next",
        lead=_sentences([found.words()]),
        warnings=found.warnings,
        sections=[Section("The runs", *found.table(), draw_each(figures.next_panels(found)))],
    )


def _law(title: str, formula: str, params: Mapping[str, Interval]) -> Section:
    rows = [[GREEK.get(name, name), _n(v.best), v.ends()] for name, v in params.items()]
    return Section(title, ("quantity", "value", "95 % interval"), rows, formula=formula)


def _shown(v: Interval) -> str:
    return f"{_n(v.best)} {v.ends()}" if v.low < v.high else _n(v.best)


_n = short_number


def _sentences(said: Iterable[str]) -> list[str]:
    """With a capital and a full stop; a name such as alpha1 or adamw_best keeps its letters."""
    return [
        f"{text[:1].upper() + text[1:] if text.split(' ')[0].strip(':;,').isalpha() else text}."
        for text in said
    ]


def measure_page(found: Measurement) -> ResultPage:
    columns, rows = found.table_rows()
    windows = [
        [f"{w.low} to {w.high}", str(w.features), "none" if w.alpha1 is None else str(w.alpha1)]
        for w in found.windows
    ]
    ahead = [[f"{b.D:.6g}", b.reason if b.unseen is None else str(b.unseen)] for b in found.beyond]
    tests = [
        [f"{t.known:.6g}", f"{t.D:.6g}", f"{100 * t.error:+.2g} %", f"{100 * t.straight_line_error:+.2g} %"]
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
        Section("What it is", ("quantity", "value"), facts),
        Section("Against the number of rows", columns, rows, draw_each(figures.measure_panels(found))),
        Section("Rare and frequent features", ("active in rows", "features", "alpha1"), windows),
        Section("Beyond the data: the unseen share", ("D", "unseen"), ahead),
        Section("Back-test of that step", ("known rows", "D", "error", "error of a straight line"), tests),
    ]
    lead = _sentences(found.sentences())
    return ResultPage(title=f"Features of {Path(found.source).name}", lead=lead, sections=sections)


def learn_page(found: LearningCurve) -> ResultPage:
    pictures = draw_each(figures.learn_panels(found))
    return ResultPage(
        title=f"Learning curve of {Path(found.source).name}",
        lead=_sentences(found.sentences()),
        sections=[
            Section("Loss in per cent of the variance, N infinite", *found.table_rows(), pictures),
            Section("Along the model size, many rows", *found.width_rows()),
        ],
    )


def write_result(path: Path, page: ResultPage) -> None:
    """Sections without a picture and without a row are left out."""
    shown = [section for section in page.sections if section.rows or section.pictures]
    pictures = [[base64.b64encode(p).decode() for p in section.pictures] for section in shown]
    formulas = [html_formula(section.formula) for section in shown]
    parts = {"page": page, "sections": shown, "pictures": pictures, "formulas": formulas}
    write_html(path, "result.html", version=sparselaw.__version__, **parts)


def typeset(text: str) -> Markup:
    """Exponents raised and indices lowered, for a page.

    >>> typeset("1.3 x 10^23 FLOP; N ~ C^0.609, alpha1 = 1.")
    Markup('1.3×10<sup>23</sup> FLOP; N ~ C<sup>0.609</sup>, α<sub>1</sub> = 1.')
    """
    raised = RAISED.sub(r"<sup>\1</sup>", str(escape(text)).replace(" x 10^", "×10^"))
    return Markup(SYMBOL.sub(r"α<sub>\2</sub>", raised))


def write_html(path: Path, template: str, **values: object) -> None:
    """Fill one of the templates of this room and write it, all at once."""
    room = files("sparselaw.report")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["typeset"] = typeset
    style = room.joinpath("style.css").read_text("utf-8")
    page = environment.from_string(room.joinpath(template).read_text("utf-8")).render(style=style, **values)
    with write_atomically(path) as file:
        file.write(page.encode("utf-8", "backslashreplace"))
