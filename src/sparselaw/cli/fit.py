"""`sparselaw fit`: a law for a table of runs, with intervals, and the sparsity it implies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli import pictures
from sparselaw.cli.options import FILE, INTEGER, JSON, MAX_SIZE
from sparselaw.cli.output import finite_or_none, number, print_json, print_table
from sparselaw.laws import one_size_laws

if TYPE_CHECKING:
    from sparselaw.fitting import Comparison, FitsBy, FittedLaw
    from sparselaw.planning import NextRun


def fit(
    runs: str = typer.Argument(..., metavar=FILE, help=f"{options.RUNS}."),
    law: str = options.LAW,
    objective: str = options.OBJECTIVE,
    delta: str = options.DELTA,
    bootstrap: str = options.BOOTSTRAP,
    group: str = options.GROUP,
    by: str = typer.Option(None, metavar="COLUMN", help="Fit each value of this column on its own."),
    where: list[str] = options.WHERE,
    columns: str = options.COLUMNS,
    variable: str = typer.Option(
        None, metavar="N|D", help=f"For {one_size_laws()}: the size that varies, where both do."
    ),
    last: str = typer.Option(
        None, metavar=INTEGER, help=f"For {one_size_laws()}: use the last k sizes of each sweep."
    ),
    drop_peak: bool = options.DROP_PEAK,
    best: bool = options.BEST,
    leave_out: bool = typer.Option(True, help="Fit again without the smallest, largest and worst runs."),
    seed: str = options.SEED,
    workers: str = options.WORKERS,
    max_size: str = MAX_SIZE,  # noqa: ARG001
    plot: str = pictures.PLOT,
    report: str = pictures.REPORT,
    json: bool = JSON,
) -> None:
    """A law with intervals, and the sparsity it implies."""
    from sparselaw import numbers
    from sparselaw.fitting.without_compiler import without_compiler

    one_fit = by is None and law != options.ALL
    pictures.check(plot, report, of_one_fit=one_fit)
    with without_compiler(one_fit and bootstrap is not None and numbers.whole("bootstrap", bootstrap) == 0):
        fitted = options.fit_file(
            runs,
            law=law,
            objective=objective,
            delta=delta,
            bootstrap=bootstrap,
            group=group,
            by=by,
            where=where,
            named_columns=columns,
            variable=variable,
            last=None if last is None else numbers.whole("last", last),
            drop_peak=drop_peak,
            best=best,
            leave_out=leave_out,
            seed=seed,
            workers=workers,
        )
        pictures.write(plot, report, lambda room: room.fit_panels(fitted), lambda room: room.fit_page(fitted))
        if json:
            ahead = _next_run(fitted) if one_fit else None
            print_json(fitted.as_dict() | ({} if ahead is None else {"next_run": ahead.as_dict()}))
        elif law == options.ALL:
            _show_all(fitted)
        elif by is not None:
            _show_by(fitted)
        else:
            _show(fitted)


def _show_all(found: Comparison) -> None:
    rows = []
    for line in found.laws:
        name, good = line.fitted.name, line.fitted.goodness
        errors = [number(finite_or_none(e), 3) for e in (line.out_of_sample_error, *line.errors.values())]
        scores = [f"{line.aic:.1f}", f"{line.bic:.1f}"]
        rows.append(
            [name, *errors, *scores, number(good.sd, 3), str(len(line.fitted.params)), line.fitted.status]
        )
    cutoffs = [f"from {100 * cutoff:g} %" for cutoff in found.laws[0].errors]
    columns = ["law", "out of sample", *cutoffs, "AIC", "BIC", "SD", "parameters", "status"]
    print_table("Laws side by side: errors on larger runs, in per cent", columns, rows)


def _show_by(parts: FitsBy) -> None:
    frame = parts.to_frame()
    rows = [
        [number(c) if isinstance(c, float) else str(c) for c in row] for row in frame.itertuples(index=False)
    ]
    print_table(f"One fit for each {parts.column} (sd: residuals in per cent)", list(frame.columns), rows)


def _next_run(fitted: FittedLaw) -> NextRun | None:
    from sparselaw.planning import next_run

    return next_run(fitted)


def _show(fitted: FittedLaw) -> None:
    print(f"{fitted.goodness.words()}; status {fitted.status}")
    print(fitted.goodness.worst_words())
    ahead = _next_run(fitted)
    if ahead is not None:
        print(ahead.words())
    print_table(
        fitted.title(),
        ["quantity", "value", "95 % interval"],
        [[name, number(v.best), v.ends()] for name, v in fitted.params.items()],
    )
    print(fitted.how())
    if fitted.sparsity_readings():
        print_table("Implied sparsity", ["by the law", "alpha1", "alpha2"], fitted.sparsity_rows())
        for words in fitted.sparsity_words():
            print(words)
    if fitted.equal_exponents is not None:
        test = fitted.equal_exponents
        print(f"equal exponents: p = {test.p_value:.3g} ({test.method})")
    if fitted.leave_out:
        print_table(
            "Sparsity alpha1 as runs are left out",
            ["left out", "rows", "alpha1", "95 % interval"],
            [
                [line.left_out, str(line.rows_used), number(line.alpha1.best), line.alpha1.ends()]
                for line in fitted.leave_out
            ],
        )
