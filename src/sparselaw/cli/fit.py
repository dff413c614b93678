"""`sparselaw fit`: a law for a table of runs, with intervals, and what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options
from sparselaw.cli.answer import ANSWER, Answer
from sparselaw.cli.options import FILE, flag, text, whole
from sparselaw.cli.output import note, print_json, print_table, tell, typed
from sparselaw.errors import InputError
from sparselaw.laws import one_size_laws
from sparselaw.numbers import short_number, short_size

if TYPE_CHECKING:
    from sparselaw.fitting import FittedLaw


def fit(
    runs: str = typer.Argument(None, metavar=FILE, help=f"{fit_options.RUNS}."),
    law: str = fit_options.LAW,
    settings: dict[str, Any] = fit_options.SETTINGS,
    level: float = fit_options.LEVEL,
    by: str | None = fit_options.BY,
    rows: dict[str, Any] = fit_options.ROWS,
    variable: str | None = text(None, f"For {one_size_laws()}: the size that varies, where both do.", "N|D"),
    last: int | None = whole(None, f"For {one_size_laws()}: use the last k sizes of each sweep."),
    sparsity: bool = flag(
        "--sparsity", "Also show the sparsity that the exponents imply, and what it depends on."
    ),
    leave_out: bool = typer.Option(True, help="With --sparsity: again without some of the runs."),
    answer: Answer = ANSWER,
) -> None:
    """A law with intervals, how well it fits, and the best next run."""
    if by is not None or law == fit_options.ALL:
        for name, path in answer.pictures():
            raise InputError(name, path, "draws one fit, and several are asked for", f"leave out --{name}")
        if answer.out is not None:
            raise InputError("out", answer.out, "keeps one law", "name a law, and select rows with --where")
    kept = answer.kept(runs, "FittedLaw")
    settings |= {"level": level, "variable": variable, "last": last}
    if kept is None and (by is not None or law == fit_options.ALL):
        _several(runs, law, by, settings | {"leave_out": leave_out}, rows, answer.json)
        return
    fitted = kept or fit_options.fit_one(runs, law, rows, settings, leave_out=leave_out)

    def show() -> None:
        print(fitted)
        _show_ahead(
            fitted, *([runs, *fit_options.ROWS.retyped(rows)] if runs else ["--from", str(answer.from_)])
        )
        if sparsity:
            _show_sparsity(fitted)

    answer.give("fit", fitted, show)


def _several(
    runs: str, law: str, by: str | None, settings: dict[str, Any], rows: dict[str, Any], json: bool
) -> None:
    """Every law side by side, or one fit for each value of the column ``by``."""
    from sparselaw.fitting import compare_laws, fit_by
    from sparselaw.progress import progress

    given = {name: value for name, value in settings.items() if value is not None}
    with progress("draws") as show:
        given["progress"] = lambda done, of: show(done, of, f"{done}/{of}")
        if law == fit_options.ALL:
            given.pop("leave_out")
            for name, value in (("by", by), *((name, given.get(name)) for name in ("variable", "last"))):
                if value is not None:
                    raise InputError(name, value, "has no meaning for all laws", "name one law")
            found: Any = compare_laws(runs, **rows, **given)
            title = "Laws side by side, fitted to the cheaper runs and to all"
        else:
            found = fit_by(runs, str(by), law=law, **rows, **given)
            title = f"One fit for each {by}"
    of = "" if by is None else f"{by} = "
    parts = {"": found} if by is None else {f"{of}{value}: ": part for value, part in found.fits.items()}
    for name, part in parts.items():
        tell(part, of=name)
    for name, why in found.refused.items():
        note(f"{of}{name}: no fit ({why})")
    if json:
        print_json(found.as_dict())
    else:
        print_table(title, *found.table())


def _show_ahead(fitted: FittedLaw, *runs: str) -> None:
    """One line each of the plan and of the forecast, with how to get more."""
    from sparselaw.planning import plan_ahead

    found = plan_ahead(fitted)
    if found is None:
        return
    at = f"N={short_size(found.N.best)},D={short_size(found.D.best)}"
    print(
        f"plan: with 10 times the compute of the largest run, {short_number(found.budget, 2)} FLOP, "
        f"N = {found.N.as_sizes()}, D = {found.D.as_sizes()}; "
        f"more: {typed('plan', *runs, '--budget', f'{found.budget:.2g}')}"
    )
    print(f"forecast: loss {found.loss} there; more: {typed('forecast', *runs, '--at', at)}")


def _show_sparsity(fitted: FittedLaw) -> None:
    print(fitted.how())
    readings, left_out = fitted.sparsity_tables()
    if readings[-1]:
        print_table(*readings)
        for words in fitted.sparsity_words():
            print(words)
    elif fitted.sparsity_reason:
        print(f"no sparsity is implied: {fitted.sparsity_reason}")
    if fitted.equal_exponents is not None:
        test = fitted.equal_exponents
        print(f"equal exponents: p = {test.p_value:.3g} ({test.method})")
    if left_out[-1]:
        print_table(*left_out)
