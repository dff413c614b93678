"""`sparselaw fit`: a law for a table of runs, with intervals, and the sparsity it implies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli.options import JSON
from sparselaw.cli.output import number, print_json, print_table

if TYPE_CHECKING:
    from sparselaw.fitting import FittedLaw

NO_DRAWS = "no draws: --bootstrap 0"


def fit(
    runs: str = typer.Argument(..., help="Table of runs: .csv, .jsonl or .parquet."),
    law: str = options.LAW,
    objective: str = options.OBJECTIVE,
    delta: str = options.DELTA,
    bootstrap: str = options.BOOTSTRAP,
    group: str = options.GROUP,
    columns: str = options.COLUMNS,
    variable: str = typer.Option(None, help="For power: the size that varies, N or D."),
    last: str = typer.Option(None, help="For power: use the last k sizes of each sweep."),
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
        print_json(summary(fitted))
    else:
        _show(fitted)


def summary(fitted: FittedLaw) -> dict[str, Any]:
    """The fit as plain values for JSON."""
    result: dict[str, Any] = {
        "law": fitted.name,
        "objective": fitted.objective,
        "value": fitted.value,
        "gradient_norm": fitted.gradient_norm,
        "status": fitted.status,
        "starts_tried": fitted.starts_tried,
        "starts_agreeing": fitted.starts_agreeing,
        "rows_used": fitted.rows_used,
        "rows_dropped": dict(fitted.dropped),
        "draws": len(fitted.draws),
        "params": {name: options.interval_json(v, NO_DRAWS) for name, v in fitted.params.items()},
        "sparsity": None,
        "equal_exponents": None,
    }
    if fitted.delta is not None:
        result["delta"] = fitted.delta
    if fitted.sparsity is None:
        result["sparsity_reason"] = fitted.sparsity_reason
    else:
        result["sparsity"] = {n: options.interval_json(v, NO_DRAWS) for n, v in fitted.sparsity.items()}
    test = fitted.equal_exponents
    if test is None:
        result["equal_exponents_reason"] = "needs two exponents, draws, and at most 10000 rows"
    else:
        result["equal_exponents"] = {
            "statistic": test.statistic,
            "p_value": test.p_value,
            "exponent": test.exponent,
            "method": test.method,
        }
    result["leave_out"] = [
        {
            "left_out": line.left_out,
            "rows_used": line.rows_used,
            "alpha_N": line.alpha_N,
            "alpha_D": line.alpha_D,
            "alpha1": options.interval_json(line.alpha1, NO_DRAWS),
        }
        for line in fitted.leave_out
    ]
    result["warnings"] = list(fitted.warnings)
    return result


def _show(fitted: FittedLaw) -> None:
    formulas = {
        "chinchilla": "L = E + A N^-alpha + B D^-beta",
        "two-power": "L = A N^-alpha_N + B D^-alpha_D",
        "power": "L = A x^-alpha",
    }
    everything = {**fitted.params, **(fitted.sparsity or {})}
    print_table(
        f"{fitted.name}: {formulas[fitted.name]}",
        ["quantity", "value", "95 % interval"],
        [[name, number(v.best), options.interval_text(v)] for name, v in everything.items()],
    )
    print(
        f"{fitted.rows_used} rows, {fitted.objective} {fitted.value:.7g}, status {fitted.status}, "
        f"gradient {fitted.gradient_norm:.1e}, {fitted.starts_agreeing} of {fitted.starts_tried} starts agree"
    )
    if fitted.equal_exponents is not None:
        test = fitted.equal_exponents
        print(f"equal exponents: p = {test.p_value:.3g} ({test.method})")
    if fitted.leave_out:
        print_table(
            "Sparsity alpha1 as runs are left out",
            ["left out", "rows", "alpha1", "95 % interval"],
            [
                [
                    line.left_out,
                    str(line.rows_used),
                    number(line.alpha1.best),
                    options.interval_text(line.alpha1),
                ]
                for line in fitted.leave_out
            ],
        )
