"""`sparselaw predict`: exponents, regime, constants and the loss surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw import numbers
from sparselaw.cli import options
from sparselaw.cli.options import further, of_inputs
from sparselaw.cli.output import footnotes, note, number, print_json, print_table

if TYPE_CHECKING:
    from sparselaw.solvers import Solver


def features_with_theory() -> list[str]:
    """For the shell to complete."""
    from sparselaw.features import FEATURES

    known = FEATURES.items()
    return [name for name, features in known if features.has_surface or features.response is not None]


def predict(
    context: typer.Context,
    alpha1: str = options.ALPHA1,
    alpha2: str = options.ALPHA2,
    alpha: str = options.ALPHA,
    N: str = options.WIDTHS_IF_ANY,
    D: str = options.SAMPLES_IF_ANY,
    solver: str = options.SOLVER,
    ridge: str = typer.Option("0", metavar=options.FLOAT, help="Ridge: the paper's gamma, not divided by D."),
    steps: str = options.STEPS,
    step: str = options.STEP,
    passes: str = options.PASSES,
    batch: str = options.BATCH,
    momentum: str = options.MOMENTUM,
    noise: str = typer.Option("0", metavar=options.FLOAT, help="Variance of the label noise."),
    surface: str = options.SURFACE,
    form: str = typer.Option(
        "full",
        **options.one_of("full", "quasi-static"),
        help="For sgd: full, or quasi-static: ten times faster, about 1 % less exact.",
    ),
    teacher: str = typer.Option(
        None, metavar=options.FLOAT, help="Weights of the teacher fall: mean squares j^-FLOAT."
    ),
    features: str = typer.Option(
        "linear",
        metavar="linear|relu|leaky-relu|gelu|tanh|erf|sign|abs",
        autocompletion=features_with_theory,
        help="The features of the inputs.",
    ),
    inputs: str = options.INPUTS,
    dimension: str = options.DIMENSION,
    json: bool = options.JSON,
) -> None:
    """Exponents, regime, constants and the loss surface."""
    from sparselaw.errors import InputError, check_choice, check_not_negative
    from sparselaw.predicting import prediction

    own, others = of_inputs(inputs, further(context))
    described = options.read_inputs(alpha1, alpha2, inputs, dimension, alpha, own)
    if (N is None) != (D is None):
        name, other = ("D", "N") if D is None else ("N", "D")
        raise InputError(name, "", f"is missing while {other} is given", f"give -{name} too")
    penalty = check_not_negative("ridge", numbers.real("ridge", ridge))
    variance = check_not_negative("noise", numbers.real("noise", noise))
    given: dict[str, str | None] = {"steps": steps, "step": step, "passes": passes, "batch": batch}
    given |= {"momentum": momentum, **others}
    shown = ridge if solver == "ridge" or (solver != "min-norm" and penalty > 0.0) else None
    trained = _solver(solver, shown, given)
    result = prediction(
        described,
        numbers.widths("N", N) if N is not None else (),
        numbers.sizes("D", D) if D is not None else (),
        ridge=penalty if trained is None else 0.0,
        noise=variance,
        solver=trained,
        surface=check_choice("surface", surface, ("sharp", "leading")),  # type: ignore[arg-type]
        form=check_choice("form", form, ("full", "quasi-static")),  # type: ignore[arg-type]
        features=features,
    ).as_dict()
    if teacher is not None:
        from sparselaw.theory.teacher import teacher_prediction

        result["teacher"] = teacher_prediction(
            described,
            numbers.real("teacher", teacher),
            numbers.sizes("N", N) if N is not None else (),
            numbers.sizes("D", D) if D is not None else (),
        )
    if json:
        print_json(result)
        return
    _show(result)


def _solver(name: str, ridge: str | None, given: dict[str, str | None]) -> Solver | None:
    """None for the minimum-norm solution without further options: then --ridge goes with it."""
    if name == "min-norm" and not any(given.values()):
        return None
    from sparselaw.solvers import from_options

    return from_options(name, {**given, "ridge": ridge})


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
    whose = f" of {result['exponents_of']}" if "exponents_of" in result else ""
    print_table(f"Exponents{whose}", ["quantity", "value", "meaning"], rows)
    if "teacher" in result:
        _show_teacher(result["teacher"])
    if not result["points"]:
        return
    table = []
    texts = [
        "; ".join(part for part in (point.get("loss_reason", ""), point["caution"]) if part)
        for point in result["points"]
    ]
    marks, cautions = footnotes(texts)
    for point, mark in zip(result["points"], marks, strict=True):
        loss = _loss(point)
        error = "" if point["loss_error"] is None else f"{point['loss_error']:.1%}"
        median = "" if point["median"] is None else number(point["median"], 4)
        sizes = [_width(point), str(point["D"]), number(point["K"], 6), number(point["rank"], 6)]
        table.append([*sizes, number(point["xi"]), loss, error, median, mark])
    columns = ["N", "D", "K", "rank", "xi", "loss", "error", "median", "caution"]
    if any("parts" in point for point in result["points"]):
        _show_parts(result["points"], marks)
    else:
        print_table("Loss surface", columns, table)
    if result.get("local_exponents"):
        _show_local(result["local_exponents"])
    for text in cautions:
        note(f"caution {text}")


def _show_local(found: list[dict[str, Any]]) -> None:
    rows = [
        [*("inf" if row[s] is None else _ends(row[s]) for s in ("N", "D")), number(row["exponent"])]
        for row in found
    ]
    print_table("Local exponents", ["N", "D", "exponent"], rows)


def _ends(size: Any) -> str:
    return f"{size[0]} to {size[1]}" if isinstance(size, list) else str(size)


def _loss(point: dict[str, Any]) -> str:
    """The number, or the first words of why there is none."""
    if point["loss"] is not None:
        return number(point["loss"], 6)
    return "not known" if str(point.get("loss_reason", "")).startswith("not known") else "infinite"


def _width(point: dict[str, Any]) -> str:
    return "inf" if point["N"] is None else str(point["N"])


def _show_parts(points: list[dict[str, Any]], marks: list[str]) -> None:
    rows = []
    for point, mark in zip(points, marks, strict=True):
        loss = _loss(point)
        parts = [number(point["parts"][name]) for name in ("descent", "minibatch", "label_noise")]
        rows.append(
            [_width(point), str(point["D"]), loss, *parts, number(point["kappa"]), number(point["pi"]), mark]
        )
    columns = ["N", "D", "loss", "descent", "minibatch", "label noise", "kappa", "pi", "caution"]
    print_table("Loss of unfinished training", columns, rows)


def _show_teacher(result: dict[str, Any]) -> None:
    print(
        f"teacher of mean squares j^-{result['exponent']:g}: alpha_N {number(result['alpha_N'])}, "
        f"alpha_D {number(result['alpha_D'])}"
    )
    for point in result["points"]:
        loss = _loss(point)
        print(f"  N = {point['N']}, D = {point['D']}: loss {loss} (leading surface)")
