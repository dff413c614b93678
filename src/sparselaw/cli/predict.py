"""`sparselaw predict`: exponents, regime, constants and the loss surface."""

from __future__ import annotations

from typing import Any, Literal

import typer

from sparselaw.cli import options
from sparselaw.cli.options import FLOAT, of_inputs, real, sizes, text, widths, word
from sparselaw.cli.output import footnotes, note, number, print_json, print_table
from sparselaw.errors import InputError, check_choice, check_not_negative
from sparselaw.numbers import short_size


def features_with_theory() -> list[str]:
    """For the shell to complete."""
    from sparselaw.features import FEATURES

    known = FEATURES.items()
    return [name for name, features in known if features.has_surface or features.response is not None]


def predict(
    context: typer.Context,
    alpha1: str | None = options.ALPHA1,
    alpha2: str | None = options.ALPHA2,
    alpha: str | None = options.ALPHA,
    N: list[float] | None = widths(None, f"Model {options.OF_SIZES}", "-N", "--N"),
    D: list[int] | None = sizes(None, f"Data {options.OF_SIZES}", "-D", "--D"),
    solver: str = options.SOLVER,
    ridge: str = text("0", "Ridge: the paper's gamma, not divided by D.", FLOAT),
    training: dict[str, str | None] = options.TRAINING,
    noise: float = real("0", "Variance of the label noise."),
    surface: Literal["sharp", "leading"] = options.SURFACE,
    form: Literal["full", "quasi-static"] = word(
        "full",
        "For sgd: full, or quasi-static: ten times faster, about 1 % less exact.",
        *("full", "quasi-static"),
    ),
    teacher: float | None = real(None, "Weights of the teacher fall: mean squares j^-FLOAT."),
    features: str = word(
        "linear",
        "The features of the inputs.",
        *("linear", "relu", "leaky-relu", "gelu", "tanh", "erf", "sign", "abs"),
        offered=features_with_theory,
    ),
    inputs: str = options.INPUTS,
    dimension: str | None = options.DIMENSION,
    json: bool = options.JSON,
) -> None:
    """Exponents, regime, constants and the loss surface."""
    from sparselaw import numbers
    from sparselaw.predicting import prediction
    from sparselaw.solvers import from_options

    own, others = of_inputs(inputs, context)
    described = options.read_inputs(alpha1, alpha2, inputs, dimension, alpha, own)
    if (N is None) != (D is None):
        name, other = ("D", "N") if D is None else ("N", "D")
        raise InputError(name, "", f"is missing while {other} is given", f"give -{name} too")
    penalty = check_not_negative("ridge", numbers.real("ridge", ridge))
    check_choice("surface", surface, ("sharp", "leading"))
    check_choice("form", form, ("full", "quasi-static"))
    given: dict[str, str | None] = {**training, **others}
    trained = None  # the minimum-norm solution without further options: then --ridge goes with it
    if solver != "min-norm" or any(given.values()):
        shown = ridge if solver == "ridge" or (solver != "min-norm" and penalty > 0.0) else None
        trained = from_options(solver, {**given, "ridge": shown})
    result = prediction(
        described,
        N or (),
        D or (),
        ridge=penalty if trained is None else 0.0,
        noise=check_not_negative("noise", noise),
        solver=trained,
        surface=surface,
        form=form,
        features=features,
    ).as_dict()
    if teacher is not None:
        from sparselaw.theory.teacher import teacher_prediction

        result["teacher"] = teacher_prediction(
            described, teacher, [numbers.size("N", str(n)) for n in N or ()], D or ()
        )
    if json:
        print_json(result)
    else:
        _show(result)


def _show(result: dict[str, Any]) -> None:
    meanings = {
        "alpha_N": "loss ~ constant_N N^-alpha_N",
        "alpha_D": "loss ~ constant_D D^-alpha_D",
        "alpha_C": "loss ~ C^-alpha_C at C = N D min(N, D)",
        "xi_crit": "double-descent peak",
        "nu": result.get("nu_reason", "P(descent diverges) ~ D^-nu"),
        "constant_N": "D to infinity",
        "constant_D": "N to infinity",
    }
    if result["regime"] is None:
        print("these inputs follow no power law: there are no exponents")
    else:
        rows = [["regime", result["regime"], "phase diagram"]]
        rows += [[name, number(result[name]), words] for name, words in meanings.items()]
        whose = f" of {result['exponents_of']}" if "exponents_of" in result else ""
        print_table(f"Exponents{whose}", ["quantity", "value", "meaning"], rows)
    if "teacher" in result:
        found = result["teacher"]
        print(
            f"teacher of mean squares j^-{found['exponent']:g}: alpha_N {number(found['alpha_N'])}, "
            f"alpha_D {number(found['alpha_D'])}"
        )
        for point in found["points"]:
            print(f"  N = {point['N']}, D = {point['D']}: loss {_loss(point)} (leading surface)")
    if not result["points"]:
        return
    texts = [(point.get("loss_reason", ""), point["caution"]) for point in result["points"]]
    marks, cautions = footnotes(["; ".join(filter(None, pair)) for pair in texts])
    parts = any("parts" in point for point in result["points"])
    rows = []
    for point, mark in zip(result["points"], marks, strict=True):
        sizes = [_size(point["N"], "inf"), _size(point["D"])]
        if parts:
            of = [number(point["parts"][name]) for name in ("descent", "minibatch", "label_noise")]
            rows.append([*sizes, _loss(point), *of, number(point["kappa"]), number(point["pi"]), mark])
            continue
        error = "" if point["loss_error"] is None else f"{point['loss_error']:.1%}"
        median = "" if point["median"] is None else number(point["median"])
        sizes += [_size(point["K"]), _size(point["rank"]), number(point["xi"])]
        rows.append([*sizes, _loss(point), error, median, mark])
    if parts:
        columns = ["N", "D", "loss", "descent", "minibatch", "label noise", "kappa", "pi", "caution"]
        print_table("Loss of unfinished training", columns, rows)
    else:
        columns = ["N", "D", "K", "rank", "xi", "loss", "error", "median", "caution"]
        print_table("Loss surface", columns, rows)
    if result.get("local_exponents"):
        local = [
            [*(_ends(row[size]) for size in ("N", "D")), number(row["exponent"])]
            for row in result["local_exponents"]
        ]
        print_table("Local exponents", ["N", "D", "exponent"], local)
    for words in cautions:
        note(f"caution {words}")


def _size(size: float | None, none: str = "-") -> str:
    return none if size is None else short_size(size, 6)


def _ends(size: Any) -> str:
    return " to ".join(map(_size, size)) if isinstance(size, list) else _size(size, "inf")


def _loss(point: dict[str, Any]) -> str:
    """The number, or the first words of why there is none."""
    if point["loss"] is not None:
        return number(point["loss"], 6)
    return "not known" if str(point.get("loss_reason", "")).startswith("not known") else "infinite"
