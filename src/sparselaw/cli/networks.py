"""`sparselaw networks`: networks trained end to end, and their loss over the unseen variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw import numbers
from sparselaw.cli import kept_runs, options
from sparselaw.cli.options import FLOAT, INTEGER, SIZES
from sparselaw.cli.output import note, print_json, print_table
from sparselaw.errors import check_choice

if TYPE_CHECKING:
    from sparselaw.experiments.networks import Adam, Network

ANSWERS = "16"  # of facts


@options.grouped
def networks(
    alpha1: str = options.ALPHA1,
    alpha2: str = options.ALPHA2,
    D: str = options.SAMPLES,
    network: str = typer.Option(
        "linear",
        metavar="linear|relu|transformer",
        autocompletion=options.names_in("experiments.networks.network", "ACTIVATIONS"),
        help="The activation, or a transformer (facts, with torch).",
    ),
    depth: str = typer.Option("2", metavar=INTEGER, help="Layers of weights; 2 is one hidden layer."),
    width: str = typer.Option("64", "--width", "-N", "--N", metavar=SIZES, help="Units of a hidden layer."),
    frozen: bool = typer.Option(False, "--frozen", help="Leave the first layer as it was drawn."),
    task: str = typer.Option(
        "linear",
        metavar="linear|pairs|facts",
        autocompletion=options.names_in("experiments.networks.network", "TARGETS"),
        help="What is taught: a linear teacher, products of pairs, answers to Zipf tokens (alpha2 = -1).",
    ),
    outputs: str = typer.Option(
        None, metavar=INTEGER, help="Outputs of a linear teacher, or answers of facts. [default: 1, 16]"
    ),
    steps: str = typer.Option(None, metavar=INTEGER, help="Steps of Adam. [default: what is known to do]"),
    rate: str = typer.Option(None, metavar=FLOAT, help="Its rate. [default: what is known to do]"),
    start: str = typer.Option(None, metavar=FLOAT, help="Size of the first weights. [default: likewise]"),
    dimension: str = options.DIMENSION,
    seeds: str = typer.Option("10", metavar=INTEGER, help="Networks for each (N, D)."),
    seed: str = kept_runs.SEED,
    trials: Any = kept_runs.TRIALS,
    as_json: bool = options.JSON,
) -> None:
    """Train networks on sparse inputs.

    Their loss is compared with the unseen variance of the same data.
    """
    from sparselaw.experiments.networks import Network
    from sparselaw.experiments.networks.network import TARGETS
    from sparselaw.experiments.networks.train_networks import network_tasks
    from sparselaw.sweeps.ratios import COLUMNS, ratios

    facts = check_choice("task", task, TARGETS) == "facts"
    answers = numbers.size("outputs", outputs or (ANSWERS if facts else "1"))
    kind = Network(numbers.size("depth", depth), 1, network, frozen)
    tasks = network_tasks(
        options.read_inputs(alpha1, "-1" if facts and alpha2 is None else alpha2, "sparse", dimension),
        kind,
        numbers.sizes("D", D),
        widths=numbers.sizes("width", width),
        task=task,
        outputs=answers,
        adam=_adam(kind, task, answers, steps, rate, start),
        seeds=numbers.size("seeds", seeds),
        seed=numbers.whole("seed", seed),
    )
    done = kept_runs.run_kept(tasks, **trials)
    study = ratios(done)
    if as_json:
        described = {"network": network, "depth": kind.depth, "frozen": frozen, "task": task}
        print_json({**described, "failed": kept_runs.count_failed(done), **study.as_dict()})
    else:
        print_table(f"{network} networks of depth {kind.depth}, {task}", COLUMNS, study.table())
        for text in study.says():
            note(text)
    kept_runs.leave_failed(done)


def _adam(
    network: Network, task: str, outputs: int, steps: str | None, rate: str | None, start: str | None
) -> Adam | None:
    """The usual settings, with those that were named in their place."""
    from dataclasses import replace

    from sparselaw.experiments.networks.network import usual_adam

    given = {"steps": steps, "rate": rate, "start": start}
    read: dict[str, Any] = {
        name: numbers.size(name, text) if name == "steps" else numbers.real(name, text)
        for name, text in given.items()
        if text is not None
    }
    return replace(usual_adam(network, task, outputs), **read)
