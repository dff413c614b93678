"""`sparselaw fit`: a law for a table of runs, with intervals, and what follows from it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli.options import FILE, INTEGER, JSON, grouped
from sparselaw.cli.output import number, print_json, print_table
from sparselaw.cli.pictures import PICTURES
from sparselaw.errors import InputError
from sparselaw.laws import one_size_laws
from sparselaw.numbers import short_number, short_size
from sparselaw.records import cells_of

if TYPE_CHECKING:
    from sparselaw.fitting import FittedLaw


@grouped
def fit(
    runs: str = typer.Argument(None, metavar=FILE, help=f"{options.RUNS}."),
    law: str = options.LAW,
    settings: Any = options.SETTINGS,
    level: str = options.LEVEL,
    by: str = options.BY,
    rows: Any = options.ROWS,
    variable: str = typer.Option(
        None, metavar="N|D", help=f"For {one_size_laws()}: the size that varies, where both do."
    ),
    last: str = typer.Option(
        None, metavar=INTEGER, help=f"For {one_size_laws()}: use the last k sizes of each sweep."
    ),
    sparsity: bool = typer.Option(
        False, "--sparsity", help="Also show the sparsity that the exponents imply, and what it depends on."
    ),
    leave_out: bool = typer.Option(True, help="With --sparsity: again without some of the runs."),
    out: str = options.OUT,
    from_: str = options.FROM,
    pictures: Any = PICTURES,
    json: bool = JSON,
) -> None:
    """A law with intervals, how well it fits, and the best next run."""
    from sparselaw import numbers

    if by is not None or law == options.ALL:
        for name, path in pictures.asked():
            raise InputError(name, path, "draws one fit, and several are asked for", f"leave out --{name}")
        if out is not None:
            raise InputError("out", out, "keeps one law", "name a law, and select rows with --where")
    fitted = options.kept(runs, from_, "FittedLaw") or options.fit_file(
        runs,
        law,
        rows,
        settings,
        by=by,
        level=options.level(level),
        variable=variable,
        last=None if last is None else numbers.whole("last", last),
        leave_out=leave_out,
    )
    if out is not None:
        fitted.save(out)
    pictures.write("fit", fitted)
    if json:
        print_json(fitted.as_dict())
    elif law == options.ALL:
        title = "Laws side by side: errors on more expensive runs, and residuals (sd), in per cent"
        print_table(title, *cells_of(fitted.to_frame()))
    elif by is not None:
        print_table(f"One fit for each {by} (sd: residuals in per cent)", *cells_of(fitted.to_frame()))
    else:
        print(fitted)
        _show_ahead(fitted, shlex.quote(runs) if from_ is None else f"--from {shlex.quote(from_)}")
        if sparsity:
            _show_sparsity(fitted)


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
