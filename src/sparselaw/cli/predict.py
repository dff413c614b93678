"""`sparselaw predict`: exponents, regime, constants and the loss surface."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import numbers, options
from sparselaw.cli.output import finite_or_none, footnotes, note, number, print_json, print_table

if TYPE_CHECKING:
    from sparselaw.inputs import Inputs
    from sparselaw.theory import Point


def predict(
    alpha1: str = options.ALPHA1,
    alpha2: str = options.ALPHA2,
    N: str = typer.Option(None, "-N", help="Model sizes: 4,8,16 or 4:256:13."),
    D: str = typer.Option(None, "-D", help="Data sizes, likewise."),
    ridge: str = typer.Option("0", help="Ridge: the paper's gamma, not divided by D."),
    noise: str = typer.Option("0", help="Variance of the label noise."),
    inputs: str = options.INPUTS,
    dimension: str = options.DIMENSION,
    json: bool = options.JSON,
) -> None:
    """Exponents, regime, constants and the loss surface."""
    from sparselaw import theory
    from sparselaw.errors import InputError, check_not_negative

    described = options.read_inputs(alpha1, alpha2, inputs, dimension)
    if (N is None) != (D is None):
        name, other = ("D", "N") if D is None else ("N", "D")
        raise InputError(name, "", f"is missing while {other} is given", f"give -{name} too")
    penalty = check_not_negative("ridge", numbers.real("ridge", ridge))
    variance = check_not_negative("noise", numbers.real("noise", noise))
    points = [
        theory.predict(described, N=n, D=d, ridge=penalty, noise=variance)
        for n in (numbers.sizes("N", N) if N is not None else [])
        for d in numbers.sizes("D", D)
    ]
    result = _summary(described, points)
    if json:
        print_json(result)
        return
    _show(result)


def _summary(inputs: Inputs, points: list[Point]) -> dict[str, Any]:
    from sparselaw import theory

    e = inputs.exponents
    result: dict[str, Any] = {
        "regime": e.regime,
        "alpha_N": e.alpha_N,
        "alpha_D": e.alpha_D,
        "alpha_C": e.alpha_C,
        "xi_crit": e.xi_crit,
        "nu": e.nu,
        "constant_N": theory.model_constant(inputs),
        "constant_D": theory.data_constant(inputs),
        "dimension": int(inputs.dimension) if math.isfinite(inputs.dimension) else None,
        "points": [_point(point) for point in points],
    }
    if e.nu is None:
        result["nu_reason"] = "alpha2 >= -1: activated amplitudes do not grow, so there is no rare spike"
    if result["dimension"] is None:
        result["dimension_reason"] = "infinite"
    return result


def _point(point: Point) -> dict[str, Any]:
    row: dict[str, Any] = {
        "N": point.N,
        "D": point.D,
        "K": finite_or_none(point.K),
        "xi": point.xi,
        "loss": finite_or_none(point.loss),
        "caution": point.caution,
    }
    if row["K"] is None:
        row["K_reason"] = "infinite: every coordinate of dense inputs is seen"
    if row["loss"] is None:
        row["loss_reason"] = f"infinite: {point.loss_reason}"
    return row


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
        row = [str(point["N"]), str(point["D"]), number(point["K"], 6), number(point["xi"]), loss, mark]
        table.append(row)
    print_table("Loss surface", ["N", "D", "K", "xi", "loss", "caution"], table)
    for text in cautions:
        note(f"caution {text}")
