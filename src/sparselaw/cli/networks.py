"""`sparselaw networks`: networks trained end to end, and their loss over the unseen variance."""

from __future__ import annotations

from typing import Any

from sparselaw.cli import kept_runs, options
from sparselaw.cli.options import flag, names_in, real, size, sizes, word
from sparselaw.cli.output import note, print_json, print_table
from sparselaw.errors import check_choice


def networks(
    alpha1: str | None = options.ALPHA1,
    alpha2: str | None = options.ALPHA2,
    D: list[int] = options.SAMPLES,
    network: str = word(
        "linear",
        "The activation, or a transformer (facts, with torch).",
        *("linear", "relu", "transformer"),
        offered=names_in("experiments.networks.network", "ACTIVATIONS"),
    ),
    depth: int = size("2", "Layers of weights; 2 is one hidden layer."),
    width: list[int] = sizes("64", "Units of a hidden layer.", "--width", "-N", "--N"),
    frozen: bool = flag("--frozen", "Leave the first layer as it was drawn."),
    task: str = word(
        "linear",
        "What is taught: a linear teacher, products of pairs, answers to Zipf tokens (alpha2 = -1).",
        *("linear", "pairs", "facts"),
        offered=names_in("experiments.networks.network", "TARGETS"),
    ),
    outputs: int | None = size(None, "Outputs of a linear teacher, or answers of facts. [default: 1, 16]"),
    steps: int | None = size(None, "Steps of Adam. [default: what is known to do]"),
    rate: float | None = real(None, "Its rate. [default: what is known to do]"),
    start: float | None = real(None, "Size of the first weights. [default: likewise]"),
    dimension: str | None = options.DIMENSION,
    seeds: int = size("10", "Networks for each (N, D)."),
    seed: int = kept_runs.SEED,
    trials: dict[str, Any] = kept_runs.TRIALS,
    json: bool = options.JSON,
) -> None:
    """Train networks on sparse inputs.

    Their loss is compared with the unseen variance of the same data.
    """
    from dataclasses import replace

    from sparselaw.experiments.networks import Network, network_tasks
    from sparselaw.experiments.networks.network import TARGETS, usual_adam
    from sparselaw.sweeps.cells import COLUMNS, ratios

    facts = check_choice("task", task, TARGETS) == "facts"
    answers = outputs or (16 if facts else 1)
    kind = Network(depth, 1, network, frozen)
    given = {"steps": steps, "rate": rate, "start": start}
    adam: Any = {name: value for name, value in given.items() if value is not None}
    tasks = network_tasks(
        options.read_inputs(alpha1, "-1" if facts and alpha2 is None else alpha2, "sparse", dimension),
        kind,
        D,
        widths=width,
        task=task,
        outputs=answers,
        adam=replace(usual_adam(kind, task, answers), **adam),
        seeds=seeds,
        seed=seed,
    )
    done = kept_runs.run_kept(tasks, **trials)
    study = ratios(done)
    if json:
        described = {"network": network, "depth": depth, "frozen": frozen, "task": task}
        print_json({**described, "failed": kept_runs.count_failed(done), **study.as_dict()})
    else:
        print_table(f"{network} networks of depth {depth}, {task}", COLUMNS, study.table())
        for text in study.says():
            note(text)
    kept_runs.leave_failed(done)
