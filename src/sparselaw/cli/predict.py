"""`sparselaw predict`: exponents, regime, constants and the loss surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw import numbers
from sparselaw.cli import options
from sparselaw.cli.output import footnotes, note, number, print_json, print_table

if TYPE_CHECKING:
    pass


def predict(
    alpha1: str = options.ALPHA1,
    alpha2: str = options.ALPHA2,
    alpha: str = options.ALPHA,
    N: str = options.WIDTHS_IF_ANY,
    D: str = options.SAMPLES_IF_ANY,
    ridge: str = typer.Option("0", metavar=options.FLOAT, help="Ridge: the paper's gamma, not divided by D."),
    noise: str = typer.Option("0", metavar=options.FLOAT, help="Variance of the label noise."),
    surface: str = typer.Option(
        "sharp", metavar="sharp|leading", help="sharp, or leading: without corrections for finite sizes."
    ),
    inputs: str = options.INPUTS,
    dimension: str = options.DIMENSION,
    json: bool = options.JSON,
) -> None:
    """Exponents, regime, constants and the loss surface."""
    from sparselaw import theory
    from sparselaw.errors import InputError, check_choice, check_not_negative

    described = options.read_inputs(alpha1, alpha2, inputs, dimension, alpha)
    if (N is None) != (D is None):
        name, other = ("D", "N") if D is None else ("N", "D")
        raise InputError(name, "", f"is missing while {other} is given", f"give -{name} too")
    penalty = check_not_negative("ridge", numbers.real("ridge", ridge))
    variance = check_not_negative("noise", numbers.real("noise", noise))
    result = theory.prediction(
        described,
        numbers.sizes("N", N) if N is not None else (),
        numbers.sizes("D", D) if D is not None else (),
        ridge=penalty,
        noise=variance,
        surface=check_choice("surface", surface, ("sharp", "leading")),  # type: ignore[arg-type]
    ).as_dict()
    if json:
        print_json(result)
        return
    _show(result)


def _show(result: dict[str, Any]) -> None:
    rows = [
        ("regime", result["regime"], "phase diagram"),
        ("alpha_N", number(result["alpha_N"]), "loss ~ constant_N N^-alpha_N"),
        ("alpha_D", number(result["alpha_D"]), "loss ~ constant_D D^-alpha_D"),
        ("alpha_C", number(result["alpha_C"]), "loss ~ C^-alpha_C at C = N D min(N, D)"),
        ("xi_crit", number(result["xi_crit"]), "double-descent peak"),
        ("nu", number(result["nu"]), result.get("nu_reason", "P(descent diverges) ~ D^-nu")),
        ("constant_N", number(result["constant_N"]), "D to infinity"),
        ("constant_D", number(result["constant_D"]), "N to infinity"),
    ]
    print_table("Exponents", ["quantity", "value", "meaning"], rows)
    if not result["points"]:
        return
    table = []
    texts = [
        "; ".join(part for part in (point.get("loss_reason", ""), point["caution"]) if part)
        for point in result["points"]
    ]
    marks, cautions = footnotes(texts)
    for point, mark in zip(result["points"], marks, strict=True):
        loss = "infinite" if point["loss"] is None else number(point["loss"], 6)
        error = "" if point["loss_error"] is None else f"{point['loss_error']:.1%}"
        median = "" if point["median"] is None else number(point["median"], 4)
        sizes = [str(point["N"]), str(point["D"]), number(point["K"], 6), number(point["rank"], 6)]
        table.append([*sizes, number(point["xi"]), loss, error, median, mark])
    columns = ["N", "D", "K", "rank", "xi", "loss", "error", "median", "caution"]
    print_table("Loss surface", columns, table)
    for text in cautions:
        note(f"caution {text}")
