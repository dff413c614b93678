"""`sparselaw fit`: a law for a table of runs, with intervals, and what follows from it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli import pictures
from sparselaw.cli.options import FILE, INTEGER, JSON, MAX_SIZE
from sparselaw.cli.output import finite_or_none, number, print_json, print_table
from sparselaw.errors import InputError
from sparselaw.laws import one_size_laws
from sparselaw.numbers import short_number, short_size

if TYPE_CHECKING:
    from sparselaw.fitting import Comparison, FitsBy, FittedLaw


def fit(
    runs: str = typer.Argument(None, metavar=FILE, help=f"{options.RUNS}."),
    law: str = options.LAW,
    objective: str = options.OBJECTIVE,
    delta: str = options.DELTA,
    bootstrap: str = options.BOOTSTRAP,
    level: str = options.LEVEL,
    group: str = options.GROUP,
    by: str = options.BY,
    where: list[str] = options.WHERE,
    columns: str = options.COLUMNS,
    best: bool = options.BEST,
    final: bool = options.FINAL,
    count: str = options.COUNT,
    variable: str = typer.Option(
        None, metavar="N|D", help=f"For {one_size_laws()}: the size that varies, where both do."
    ),
    last: str = typer.Option(
        None, metavar=INTEGER, help=f"For {one_size_laws()}: use the last k sizes of each sweep."
    ),
    drop_peak: bool = options.DROP_PEAK,
    sparsity: bool = typer.Option(
        False, "--sparsity", help="Also show the sparsity that the exponents imply, and what it depends on."
    ),
    leave_out: bool = typer.Option(True, help="With --sparsity: again without some of the runs."),
    seed: str = options.SEED,
    workers: str = options.WORKERS,
    out: str = options.OUT,
    from_: str = options.FROM,
    max_size: str = MAX_SIZE,  # noqa: ARG001
    plot: str = pictures.PLOT,
    panels: bool = pictures.PANELS,
    report: str = pictures.REPORT,
    json: bool = JSON,
) -> None:
    """A law with intervals, how well it fits, and the best next run."""
    from sparselaw import numbers

    one_fit = by is None and law != options.ALL
    pictures.check(plot, report, of_one_fit=one_fit)
    if out is not None and not one_fit:
        raise InputError("out", out, "keeps one law", "name a law, and select rows with --where")
    kept = options.kept(runs, from_, "FittedLaw")
    fitted = kept or options.fit_file(
        runs,
        law=law,
        objective=objective,
        delta=delta,
        bootstrap=bootstrap,
        interval_level=level,
        group=group,
        by=by,
        where=where,
        named_columns=columns,
        variable=variable,
        last=None if last is None else numbers.whole("last", last),
        drop_peak=drop_peak,
        best=best,
        final=final,
        count=count,
        leave_out=leave_out,
        seed=seed,
        workers=workers,
    )
    if out is not None:
        fitted.save(out)
    pictures.write(
        plot,
        report,
        lambda room: room.fit_panels(fitted),
        lambda room: room.fit_page(fitted),
        every=panels,
    )
    if json:
        print_json(fitted.as_dict())
    elif law == options.ALL:
        _show_all(fitted)
    elif by is not None:
        _show_by(fitted)
    else:
        print(fitted)
        _show_ahead(fitted, shlex.quote(runs) if from_ is None else f"--from {shlex.quote(from_)}")
        if sparsity:
            _show_sparsity(fitted)


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
    print_table("Laws side by side: errors on more expensive runs, in per cent", columns, rows)


def _show_by(parts: FitsBy) -> None:
    frame = parts.to_frame()
    rows = [
        [number(c) if isinstance(c, float) else str(c) for c in row] for row in frame.itertuples(index=False)
    ]
    print_table(f"One fit for each {parts.column} (sd: residuals in per cent)", list(frame.columns), rows)


def _show_ahead(fitted: FittedLaw, runs: str) -> None:
    """One line each of the plan and of the forecast, with how to get more."""
    from sparselaw.planning import next_run

    ahead = next_run(fitted)
    if ahead is None:
        return
    found = ahead.plan
    budget = f"{found.budget:.2g}".replace("e+", "e")
    print(
        f"plan: with 10 times the compute of the largest run, {short_number(found.budget, 2)} FLOP, "
        f"N = {found.N.as_sizes()}, D = {found.D.as_sizes()}; "
        f"more: sparselaw plan {runs} --budget {budget}"
    )
    print(
        f"forecast: loss {found.loss} there; "
        f"more: sparselaw forecast {runs} --at N={short_size(found.N.best)},D={short_size(found.D.best)}"
    )


def _show_sparsity(fitted: FittedLaw) -> None:
    print(fitted.how())
    if fitted.sparsity_readings():
        print_table("Implied sparsity", ["by the law", "alpha1", "alpha2"], fitted.sparsity_rows())
        for words in fitted.sparsity_words():
            print(words)
    elif fitted.sparsity_reason:
        print(f"no sparsity is implied: {fitted.sparsity_reason}")
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
