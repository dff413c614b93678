"""The pages of a measurement and of a learning curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparselaw.plotting.figures import draw_each, learn_panels, measure_panels
from sparselaw.report.result_page import ResultPage, Section

if TYPE_CHECKING:
    from sparselaw.measuring import LearningCurve, Measurement


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
    lead = [f"{sentence[:1].upper()}{sentence[1:]}." for sentence in found.sentences()]
    return ResultPage(
        title=f"Features of {found.source}", lead=lead, sections=[s for s in sections if s.rows]
    )


def learn_page(found: LearningCurve) -> ResultPage:
    columns, rows = found.table_rows()
    width_columns, width_rows = found.width_rows()
    sections = [
        Section(
            title="Loss in per cent of the energy, N infinite",
            pictures=draw_each(learn_panels(found)),
            columns=columns,
            rows=rows,
        ),
        Section(title="Along the model size, many rows", columns=width_columns, rows=width_rows),
    ]
    return ResultPage(
        title=f"Learning curve of {found.source}",
        lead=[f"{sentence[:1].upper()}{sentence[1:]}." for sentence in found.sentences()],
        sections=[section for section in sections if section.rows],
    )
