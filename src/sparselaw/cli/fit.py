"""`sparselaw fit`: a law for a table of runs, with intervals, and the sparsity it implies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli.options import FILE, INTEGER, JSON
from sparselaw.cli.output import number, print_json, print_table
from sparselaw.laws import one_size_laws

if TYPE_CHECKING:
    from sparselaw.fitting import FittedLaw


def fit(
    runs: str = typer.Argument(..., metavar=FILE, help="Table of runs: .csv, .jsonl or .parquet."),
    law: str = options.LAW,
    objective: str = options.OBJECTIVE,
    delta: str = options.DELTA,
    bootstrap: str = options.BOOTSTRAP,
    group: str = options.GROUP,
    columns: str = options.COLUMNS,
    variable: str = typer.Option(
        None, metavar="N|D", help=f"For {one_size_laws()}: the size that varies, where both do."
    ),
    last: str = typer.Option(
        None, metavar=INTEGER, help=f"For {one_size_laws()}: use the last k sizes of each sweep."
    ),
    drop_peak: bool = options.DROP_PEAK,
    leave_out: bool = typer.Option(True, help="Fit again without the smallest, largest and worst runs."),
    seed: str = options.SEED,
    workers: str = options.WORKERS,
    json: bool = JSON,
) -> None:
    """A law with intervals, and the sparsity it implies."""
    from sparselaw.cli import numbers

    fitted = options.fit_file(
        runs,
        law=law,
        objective=objective,
        delta=delta,
        bootstrap=bootstrap,
        group=group,
        named_columns=columns,
        variable=variable,
        last=None if last is None else numbers.whole("last", last),
        drop_peak=drop_peak,
        leave_out=leave_out,
        seed=seed,
        workers=workers,
    )
    if json:
        print_json(fitted.as_dict())
    else:
        _show(fitted)


def _show(fitted: FittedLaw) -> None:
    print_table(
        fitted.title(),
        ["quantity", "value", "95 % interval"],
        [[name, number(v.best), v.ends()] for name, v in fitted.quantities().items()],
    )
    print(fitted.how())
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
