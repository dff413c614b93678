"""`sparselaw plan`: the best N and D for a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options, options
from sparselaw.cli.answer import ANSWER, Answer
from sparselaw.cli.options import FILE, FLOAT, amount, budgets, flag, real, size, text, word
from sparselaw.cli.output import note, number, percent, print_next, print_table
from sparselaw.costs import cost_names
from sparselaw.errors import InputError
from sparselaw.laws import LAWS
from sparselaw.numbers import short_compute, short_size
from sparselaw.records import dropped_words

if TYPE_CHECKING:
    from sparselaw.interval import Interval
    from sparselaw.planning import Plan
    from sparselaw.planning.from_training import TrainingAdvice


def plan(
    context: typer.Context,
    runs: str = typer.Argument(None, metavar=FILE, help=f"{fit_options.RUNS}; or give alpha1, alpha2."),
    budget: list[float] | None = budgets(None, "Compute C, or several: 1e21,1e22.", metavar="FLOAT,..."),
    loss: float | None = real(None, "In place of a budget: the cheapest N and D that reach this loss."),
    probability: float | None = real(
        None, "Chance of a run to reach --loss, from runs. [default: 0.5]", metavar="SHARE"
    ),
    cost: str | None = word(
        None, f"{options.PAYS}. [default: 6nd for runs, direct for the theory]", *cost_names()
    ),
    inference_tokens: float | None = amount(
        None, "Tokens T that the model will serve: adds 2 N T to the cost."
    ),
    unique_data: float | None = amount(None, "Different samples there are: how often to pass over them."),
    train: str | None = text(
        None, "With alpha1, alpha2: by the theory of SGD; D counts samples visited.", "sgd"
    ),
    step: float | None = real(None, "Step of --train sgd; else a stable one."),
    batch: int = size("1", "Batch of --train sgd."),
    noise: float = real("0", "Variance of the label noise, --train sgd."),
    alpha1: str | None = text(None, "Sparsity exponent of a model, instead of runs.", FLOAT),
    alpha2: str | None = text(None, "Amplitude exponent of a model.", FLOAT),
    alpha: str | None = options.ALPHA,
    inputs: str = options.INPUTS,
    dimension: str | None = options.DIMENSION,
    surface: str = options.SURFACE,
    law: str | None = word(
        None, "Plan by this law, conditional on it. [default: by the forecast of the runs]", *LAWS
    ),
    fit_settings: dict[str, Any] = fit_options.SETTINGS,
    rows: dict[str, Any] = fit_options.ROWS,
    by: str | None = fit_options.BY,
    level: float = fit_options.LEVEL,
    approaches: bool = flag("--approaches", "Also N ~ C^a by the lower envelope and by isoFLOP parabolas."),
    answer: Answer = ANSWER,
) -> None:
    """The best N and D for a budget: from the forecast of runs, by a law, or from the theory."""
    from sparselaw.laws import law_named
    from sparselaw.planning import Plans, as_source, by_value, check_trade_off
    from sparselaw.planning import approaches as three_ways
    from sparselaw.planning import plan as plan_for

    kinds = ("Plan", "Plans", "Forecast", "FittedLaw")
    kept = None if answer.from_ is None else answer.kept(runs, *kinds)
    again = budget is not None or loss is not None
    shown = None if again or not (hasattr(kept, "isoflop") or hasattr(kept, "plans")) else kept
    if shown is None and (budget is None) == (loss is None):
        condition = "is missing" if loss is None else "is given together with a loss"
        raise InputError("budget", "", condition, "give --budget C or --loss L")
    if probability is not None and loss is None:
        raise InputError("probability", probability, "has no effect without a loss", "add --loss L")
    if unique_data is None and law is not None:
        check_trade_off(law_named(law))
    for name, value in (("by", by), ("approaches", approaches)):
        if value and runs is None:
            shown_value = "" if value is True else value
            raise InputError(name, shown_value, "has no effect without a table of runs", "leave it out")
    source: Any = None
    fitted: Any = None
    own = options.further(context)
    if kept is not None:
        given = {"law": law, "dimension": dimension, "alpha1": alpha1, "alpha2": alpha2, "by": by}
        _refuse_given(given, "a table or a model")
        source = as_source(kept, level=level)
    elif runs is None:
        if not any((alpha1, alpha2, alpha)) and inputs == options.INPUTS.default:
            raise InputError("runs", "", "is missing", "give a table of runs, or --alpha1 and --alpha2")
        given = {"law": law, "delta": fit_settings["delta"]}
        _refuse_given(given | {name: rows[name] for name in ("group", "columns")}, "a table of runs")
        source = options.read_inputs(alpha1, alpha2, inputs, dimension, alpha, own)
    else:
        described = {"dimension": dimension, "surface": surface, "inputs": inputs, **own}
        _refuse_given(described, "a model of the inputs")
        if any((alpha1, alpha2, alpha)):
            raise InputError("runs", runs, "is given together with a model", "give one or the other")
        if by is not None and (law or approaches or answer.out or answer.pictures()):
            raise InputError("by", by, "has plans by the forecast only", "select a part with --where")
        by_law = law is not None or unique_data is not None
        if (by_law and by is None) or approaches:
            source = fitted = fit_options.fit_one(runs, law or "chinchilla", rows, fit_settings, level=level)
        else:
            usual = {"objective": "huber", "delta": None, "bootstrap": None, "drop_peak": False}
            for name in (name for name, value in usual.items() if fit_settings[name] != value):
                words = "has no effect on a plan by the forecast: --law plans by a law"
                note(f"--{name.replace('_', '-')} {words}")
        if not by_law and by is None:
            source = as_source(runs, level=level, **rows)
    settings: dict[str, Any] = {
        "inference_tokens": inference_tokens or 0.0, "unique_data": unique_data, "train": train, "step": step,
        "batch": batch, "noise": noise, "surface": surface,
    }  # fmt: skip
    if loss is not None:
        settings |= {"loss": loss, "probability": probability}
    if by is not None:
        parts, refused = by_value(plan_for, runs, by, budget, **settings, **rows, cost=cost, level=level)
        every = {v: tuple(part) if isinstance(part, Plans) else (part,) for v, part in parts.items()}
        fit_options.show_parts(by, every, refused, "plan", _show_many, answer.json)
        return
    found: Any = shown or plan_for(source, budget, cost, **settings)
    plans = tuple(found) if isinstance(found, Plans) else (found,)
    told = () if fitted is None else (*dropped_words(fitted.dropped), *fitted.warnings)
    for words in dict.fromkeys(words for one in plans for words in one.warnings if words not in told):
        of = [short_compute(one.budget) for one in plans if words in one.warnings]
        note(words if len(of) == len(plans) else f"budget {', '.join(of)}: {words}")
    ways = three_ways(fitted) if approaches else None

    def show() -> None:
        if len(plans) > 1:
            _show_many(plans)
        else:
            made = (
                getattr(source, "usual_budget", None) or 0.0
            )  # cheaper runs are told little by further ones
            further = runs and plans[0].cost.startswith("6nd") and plans[0].budget > made
            _show(plans[0], *([runs, *fit_options.ROWS.retyped(rows)] if further else []))
        if ways is not None:
            print_table("Three approaches: N ~ C^a, D ~ C^b", *ways.table())

    one = found if len(plans) > 1 else plans[0]
    also = None if ways is None else ways.as_dict()
    answer.give("plan", one, show, source, plans, page=(ways,), also=also)


def _refuse_given(given: Mapping[str, Any], needs: str) -> None:
    """Options that would be ignored are refused; some have defaults, which may stand."""
    defaults = {"surface": options.SURFACE.default, "inputs": options.INPUTS.default}
    for name, value in given.items():
        if value is not None and value != defaults.get(name):
            raise InputError(name, value, f"has no effect without {needs}", f"leave out --{name}")


def _show(found: Plan, *runs: str) -> None:
    if found.reach is not None:
        words = f"loss {found.reach.loss:g} is reached"
        if found.reach.probability is not None:
            words += f" with probability {found.reach.probability:g}"
        words += f" for {short_compute(found.budget)}"
        if found.reach.probability is not None:
            low, best, high = (short_compute(C) if isfinite(C) else "-" for C in found.reach.cost)
            words += f"; for an even chance {best} [{low}, {high}]"
        print(words)
    shown = [(name, getattr(found, name)) for name in ("N", "D", "loss")]
    shown.append(("D / N", found.tokens_per_parameter))
    if found.unique is not None:
        shown += [("passes", found.unique.passes), ("effective D", found.unique.effective_data)]
    side = f", {found.side}" if found.side else ""
    how = f", by {found.by}" if found.by else ""
    print_table(
        f"Budget {short_compute(found.budget)}, cost {found.cost}{side}{how}",
        ["quantity", "value", f"{100 * found.level:g} % interval"],
        [[name, *_value_and_ends(name, v)] for name, v in shown],
    )
    if found.valley is not None:
        print("N within 1 % of the best loss: {} to {}".format(*map(short_size, found.valley)))
    if runs:
        asked = "--budget", f"{found.budget:g}", "--for", "plan"
        print_next("which runs to make first, for a tenth of it", "next", *runs, *asked)
    print(f"intervals: {found.intervals}")
    if found.loss_intervals != found.intervals:
        print(f"interval of the loss: {found.loss_intervals}")
    _show_growth(found)
    large = "" if isnan(found.alpha_C) else f"loss* - E ~ C^-{found.alpha_C:.4g} for large budgets; "
    print(f"{large}exponent of loss* - E here {found.slope:.4g}")
    for other in found.others:
        sizes = f"N = {short_size(other.N)}, D = {short_size(other.D)}"
        print(f"the other valley: {sizes}, loss {other.loss:.4g} ({other.side})")
    if found.training is not None:
        _show_training(found.training)
    rows = [
        [
            f"{row['factor']:g}",
            *(short_size(row[key]) for key in ("N", "D")),
            number(row["loss"]),
            *(percent(row[key]) for key in ("excess", "wasted")),
        ]
        for row in found.isoflop.as_rows()
    ]
    print_table("What a wrong N costs", ["N / best", "N", "D", "loss", "excess", "budget wasted"], rows)


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


def _show_many(plans: Sequence[Plan]) -> None:
    rows, first = [], plans[0]
    for one in plans:
        cells = ("N", one.N), ("D", one.D), ("", one.tokens_per_parameter), ("", one.loss)
        shown = [" ".join(_value_and_ends(*cell)).removesuffix(" -") for cell in cells]
        rows.append([short_compute(one.budget), *shown])
    by = f", by {first.by}" if first.by else ""
    print_table(f"Cost {first.cost}{by}", ["budget", "best N", "best D", "D / N", "loss*"], rows)
    print(f"brackets: {100 * first.level:g} % intervals, {first.intervals}")
    _show_growth(first)


def _show_growth(found: Plan) -> None:
    a, b = found.growth.N, found.growth.D
    if not isnan(a.best):
        N, D = (f"C^{v.best:.3g} {v.ends()}" if v.low < v.high else f"C^{v.best:.3g}" for v in (a, b))
        print(f"N ~ {N}, D ~ {D} for large budgets")


def _value_and_ends(name: str, v: Interval) -> tuple[str, str]:
    """Sizes as 7B, other numbers to four digits; a dash where there is no interval."""
    shown = short_size if name in ("N", "D", "effective D") else number
    return shown(v.best), f"[{shown(v.low)}, {shown(v.high)}]" if v.low < v.high else "-"
