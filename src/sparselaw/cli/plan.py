"""`sparselaw plan`: the best N and D for a budget."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli import options as shared
from sparselaw.cli.options import further
from sparselaw.cli.output import note, number, print_json, print_next, print_table
from sparselaw.cli.pictures import PICTURES
from sparselaw.costs import cost_names
from sparselaw.errors import InputError
from sparselaw.laws import LAWS
from sparselaw.numbers import short_compute, short_size

if TYPE_CHECKING:
    from sparselaw.interval import Interval
    from sparselaw.planning import Plan, Plans
    from sparselaw.planning.from_training import TrainingAdvice
    from sparselaw.planning.plan_record import Reach


@shared.grouped
def plan(
    context: typer.Context,
    runs: str = typer.Argument(None, metavar=shared.FILE, help=f"{options.RUNS}; or give alpha1, alpha2."),
    budget: str = typer.Option(None, metavar="FLOAT,...", help="Compute C, or several: 1e21,1e22."),
    loss: str = typer.Option(
        None, metavar=shared.FLOAT, help="In place of a budget: the cheapest N and D that reach this loss."
    ),
    probability: str = typer.Option(
        None, metavar="SHARE", help="Chance of a run to reach --loss, from runs. [default: 0.5]"
    ),
    cost: str = typer.Option(
        None,
        metavar="|".join(cost_names()),
        autocompletion=cost_names,
        help="What the budget pays for. [default: 6nd for runs, direct for the theory]",
    ),
    inference_tokens: str = typer.Option(
        None, metavar=shared.FLOAT, help="Tokens T that the model will serve: adds 2 N T to the cost."
    ),
    unique_data: str = typer.Option(
        None, metavar=shared.FLOAT, help="Different samples there are: how often to pass over them."
    ),
    train: str = typer.Option(
        None,
        metavar="sgd",
        help="With alpha1, alpha2: by the theory of SGD; D counts samples visited.",
    ),
    step: str = typer.Option(None, metavar=shared.FLOAT, help="Step of --train sgd; else a stable one."),
    batch: str = typer.Option("1", metavar=shared.INTEGER, help="Batch of --train sgd."),
    noise: str = typer.Option("0", metavar=shared.FLOAT, help="Variance of the label noise, --train sgd."),
    alpha1: str = typer.Option(
        None, metavar=shared.FLOAT, help="Sparsity exponent of a model, instead of runs."
    ),
    alpha2: str = typer.Option(None, metavar=shared.FLOAT, help="Amplitude exponent of a model."),
    alpha: str = shared.ALPHA,
    inputs: str = shared.INPUTS,
    dimension: str = shared.DIMENSION,
    surface: str = shared.SURFACE,
    law: str = typer.Option(
        None,
        metavar="|".join(LAWS),
        autocompletion=lambda: list(LAWS),
        help="Plan by this law, conditional on it. [default: by the forecast of the runs]",
    ),
    fit_settings: Any = options.SETTINGS,
    rows: Any = options.ROWS,
    by: str = options.BY,
    level: str = options.LEVEL,
    approaches: bool = typer.Option(
        False, "--approaches", help="Also N ~ C^a by the lower envelope and by isoFLOP parabolas."
    ),
    out: str = options.OUT,
    from_: str = options.FROM,
    pictures: Any = PICTURES,
    json: bool = shared.JSON,
) -> None:
    """The best N and D for a budget: from the forecast of runs, by a law, or from the theory."""
    from sparselaw import numbers
    from sparselaw.laws import law_named
    from sparselaw.planning import Plans, as_source, check_trade_off
    from sparselaw.planning import approaches as three_ways
    from sparselaw.planning import plan as plan_for

    kept = None if from_ is None else options.kept(runs, from_, "Plan", "Plans", "Forecast", "FittedLaw")
    shown = kept if hasattr(kept, "isoflop") or hasattr(kept, "plans") else None  # a plan, several
    if budget is not None or loss is not None:
        shown = None
    if shown is None and (budget is None) == (loss is None):
        raise InputError(
            "budget", "", "is missing" if loss is None else "is given together with a loss",
            "give --budget C or --loss L",
        )  # fmt: skip
    if probability is not None and loss is None:
        raise InputError("probability", probability, "has no effect without a loss", "add --loss L")
    budgets = [] if budget is None else [numbers.real("budget", part.strip()) for part in budget.split(",")]
    unique = None if unique_data is None else numbers.amount("unique-data", unique_data)
    if unique is None and law is not None:
        check_trade_off(law_named(law))
    if by is not None and runs is None:
        raise InputError("by", by, "has no effect without a table of runs", "leave it out")
    if approaches and runs is None:
        raise InputError("approaches", "", "has no effect without a table of runs", "leave it out")
    source: Any
    fitted: Any = None
    own = further(context)
    if kept is not None:
        described = {"law": law, "dimension": dimension, "alpha1": alpha1, "alpha2": alpha2, "by": by}
        _refuse_given(described, "a table or a model")
        source = as_source(kept, level=options.level(level))
    elif runs is None:
        if not any((alpha1, alpha2, alpha)) and inputs == shared.INPUTS.default:
            raise InputError("runs", "", "is missing", "give a table of runs, or --alpha1 and --alpha2")
        given = {"law": law, "delta": fit_settings["delta"]}
        given |= {name: rows[name] for name in ("group", "columns")}
        _refuse_given(given, "a table of runs")
        source = shared.read_inputs(alpha1, alpha2, inputs, dimension, alpha, own)
    else:
        described = {"dimension": dimension, "surface": surface, "inputs": inputs, **own}
        _refuse_given(described, "a model of the inputs")
        if any((alpha1, alpha2, alpha)):
            raise InputError("runs", runs, "is given together with a model", "give one or the other")
        if by is not None and (law or approaches or out or pictures.asked()):
            raise InputError("by", by, "has plans by the forecast only", "select a part with --where")
        by_law = law is not None or unique is not None
        if (by_law and by is None) or approaches:
            named = law or "chinchilla"
            fitted = options.fit_file(runs, named, rows, fit_settings, level=options.level(level))
        else:
            _say_ignored(fit_settings)
        source = fitted
        if not by_law and by is None:
            source = as_source(runs, level=options.level(level), **rows)
    tokens = 0.0 if inference_tokens is None else numbers.amount("inference-tokens", inference_tokens)
    settings: dict[str, Any] = dict(  # noqa: C408
        inference_tokens=tokens,
        unique_data=unique,
        train=train,
        step=None if step is None else numbers.real("step", step),
        batch=numbers.size("batch", batch),
        noise=numbers.real("noise", noise),
        surface=surface,
    )
    if loss is not None:
        settings |= {
            "loss": numbers.real("loss", loss),
            "probability": None if probability is None else numbers.real("probability", probability),
        }
    if by is not None:
        settings |= {**rows, "cost": cost, "level": options.level(level)}
        _each(runs, by, budgets if loss is None else None, settings, json)
        return
    answer: Any = shown or plan_for(source, budgets if loss is None else None, cost, **settings)
    found = answer if isinstance(answer, Plans) else Plans(plans=(answer,))
    if out is not None:
        (found if len(found) > 1 else found[0]).save(out)
    several = len(found.plans) > 1
    for one in found.plans:
        for warning in one.warnings:
            note(f"budget {short_compute(one.budget)}: {warning}" if several else warning)
    plans = found.plans
    ways = three_ways(fitted) if approaches else None
    pictures.write("plan", source, plans, page=(ways,))
    if json:
        shown = found.as_dict() if several else found.plans[0].as_dict()
        print_json(shown if ways is None else {**shown, **ways.as_dict()})
        return
    if several:
        _show_many(found)
    else:
        _show(found.plans[0], runs)
    if ways is not None:
        print_table("Three approaches: N ~ C^a, D ~ C^b", *ways.table())


def _each(runs: str, by: str, budgets: Any, settings: dict[str, Any], json: bool) -> None:
    """One plan for each value of the column ``by``; why not, where there is none."""
    from sparselaw.planning import Plans, plan_by

    parts, refused = plan_by(runs, by, budgets, **settings)
    for value, why in refused.items():
        note(f"{by} = {value}: no plan ({why})")
    every = {v: tuple(part) if isinstance(part, Plans) else (part,) for v, part in parts.items()}
    for value, plans in every.items():
        for warning in dict.fromkeys(w for one in plans for w in one.warnings):
            note(f"{by} = {value}: {warning}")
    if json:
        shown = [{"by_value": value, **one.as_dict()} for value, plans in every.items() for one in plans]
        print_json({"by": by, "plans": shown, "refused": {str(v): why for v, why in refused.items()}})
        return
    for value, plans in every.items():
        print(f"{by} = {value}")
        _show_many(Plans(plans=plans))


def _say_ignored(given: Mapping[str, Any]) -> None:
    """Options of a fit, where the plan is by the forecast."""
    for name, usual in (("objective", "huber"), ("delta", None), ("bootstrap", None), ("drop_peak", False)):
        if given[name] != usual:
            note(f"--{name.replace('_', '-')} has no effect on a plan by the forecast: --law plans by a law")


def _refuse_given(options_: Mapping[str, Any], needs: str) -> None:
    """Options that would be ignored are refused; some have defaults, which may stand."""
    defaults = {
        "surface": shared.SURFACE.default,
        "inputs": shared.INPUTS.default,
    }
    for name, value in options_.items():
        if value is not None and value != defaults.get(name):
            raise InputError(name, value, f"has no effect without {needs}", f"leave out --{name}")


def _show(found: Plan, runs: str | None = None) -> None:
    if found.reach is not None:
        _show_reach(found.reach, found.budget)
    best = [(name, getattr(found, name)) for name in ("N", "D", "loss")]
    best.append(("D / N", found.tokens_per_parameter))
    if found.unique is not None:
        best += [("passes", found.unique.passes), ("effective D", found.unique.effective_data)]
    side = f", {found.side}" if found.side else ""
    by = f", by {found.by}" if found.by else ""
    print_table(
        f"Budget {short_compute(found.budget)}, cost {found.cost}{side}{by}",
        ["quantity", "value", f"{100 * found.level:g} % interval"],
        [[name, *_value_and_ends(name, v)] for name, v in best],
    )
    if found.valley is not None:
        print("N within 1 % of the best loss: {} to {}".format(*map(short_size, found.valley)))
    if runs is not None:
        spend = f"{0.1 * found.budget:g}"
        asked = ("next", runs, "--budget", f"{found.budget:g}", "--for", "plan", "--spend", spend)
        print_next("which runs to make first, for a tenth of it", *asked)
    print(f"intervals: {found.intervals}")
    if found.loss_intervals != found.intervals:
        print(f"interval of the loss: {found.loss_intervals}")
    _show_growth(found)
    large = (
        f"loss* - E ~ C^-{found.alpha_C:.4g} for large budgets; " if found.alpha_C == found.alpha_C else ""
    )
    print(f"{large}exponent of loss* - E here {found.slope:.4g}")
    for other in found.others:
        sizes = f"N = {short_size(other.N)}, D = {short_size(other.D)}"
        print(f"the other valley: {sizes}, loss {other.loss:.4g} ({other.side})")
    rows = [
        [
            f"{row['factor']:g}",
            *(short_size(row[key]) for key in ("N", "D")),
            number(row["loss"]),
            *(_percent(row[key]) for key in ("excess", "wasted")),
        ]
        for row in found.isoflop.as_rows()
    ]
    if found.training is not None:
        _show_training(found.training)
    print_table("What a wrong N costs", ["N / best", "N", "D", "loss", "excess", "budget wasted"], rows)


def _value_and_ends(name: str, v: Interval) -> tuple[str, str]:
    """Sizes as 7B, other numbers to four digits; a dash where there is no interval."""
    shown = short_size if name in ("N", "D", "effective D") else number
    return shown(v.best), f"[{shown(v.low)}, {shown(v.high)}]" if v.low < v.high else "-"


def _show_reach(found: Reach, budget: float) -> None:
    if found.probability is None:
        print(f"loss {found.loss:g} is reached for {short_compute(budget)}")
        return
    low, best, high = (short_compute(C) if isfinite(C) else "-" for C in found.cost)
    print(
        f"loss {found.loss:g} is reached with probability {found.probability:g} for {short_compute(budget)}; "
        f"for an even chance {best} [{low}, {high}]"
    )


def _show_training(found: TrainingAdvice) -> None:
    rows = [
        ["step", number(found.step), f"largest stable {found.largest_stable_step:.3g}"],
        ["batch", str(found.batch), f"from {found.critical_batch:.3g} minibatches add no more than a tenth"],
        ["kappa", number(found.kappa), "of minibatches"],
    ]
    if found.most_epochs is not None:
        rows.append(["most epochs", number(found.most_epochs), "what endless passes are worth, N infinite"])
    if found.decay is not None:
        rows.append(["R", number(found.decay), "of the data-constrained law, fitted to the worth below"])
    print_table("SGD", ["quantity", "value", "meaning"], rows)
    if found.worth:
        cells = [[number(w["passes"]), number(w["loss"]), number(w["epochs"])] for w in found.worth]
        print_table("Passes over the unique samples", ["passes", "loss", "worth in fresh epochs"], cells)


def _show_many(found: Plans) -> None:
    rows = []
    first = found.plans[0]
    for one in found.plans:
        cells = ("N", one.N), ("D", one.D), ("", one.tokens_per_parameter), ("", one.loss)
        shown = [" ".join(_value_and_ends(*cell)).removesuffix(" -") for cell in cells]
        rows.append([short_compute(one.budget), *shown])
    by = f", by {first.by}" if first.by else ""
    print_table(f"Cost {first.cost}{by}", ["budget", "best N", "best D", "D / N", "loss*"], rows)
    print(f"brackets: {100 * first.level:g} % intervals, {first.intervals}")
    _show_growth(found.plans[0])


def _show_growth(found: Plan) -> None:
    a, b = found.growth.N, found.growth.D
    if a.best == a.best:
        ends = (f" {v.ends()}" if v.low < v.high else "" for v in (a, b))
        print(f"N ~ C^{a.best:.3g}{next(ends)}, D ~ C^{b.best:.3g}{next(ends)} for large budgets")


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.3g} %"
