"""The networks of the item beyond-networks: which are trained, on what, and their results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from sparselaw.arrays import FloatArray, log_slope
from sparselaw.experiments.networks import Adam, Momentum, Network
from sparselaw.experiments.networks.train_networks import network_tasks
from sparselaw.experiments.paper.item import Context, Row, bars
from sparselaw.inputs import ActivationInputs, DenseInputs, Inputs, SparseInputs
from sparselaw.interval import Interval, student_interval
from sparselaw.plotting.style import COLOURS, THEORY
from sparselaw.sweeps.ratios import RatioStudy, ratios
from sparselaw.sweeps.simulate import grid
from sparselaw.theory.reduced_rank import trained_loss
from sparselaw.trials.task import Record, Task

KINDS = {
    "linear": Network(2, 32),
    "ReLU": Network(2, 64, "relu"),
    "three layers": Network(3, 16, "relu"),
}
# The three settings of the first experiments, and one more.
SETTINGS = ((1.0, 0.3), (2.0, 0.3), (0.5, 0.3), (1.0, -0.5))
SAMPLES = {2.0: (100, 400, 1600, 6400), 1.0: (100, 400, 1600, 6400), 0.5: (60, 250, 1000)}
WIDTHS = (4, 8, 16, 32)
WIDTH_SAMPLES = ((1.0, 100_000), (2.0, 100_000), (0.5, 3000))
FIRST_SEED = 1000  # none of the seeds on which the statements were found
SEEDS, QUICK_SEEDS = 6, 3

ANSWERS = 16
FACTS_D = (100, 1000, 10_000, 100_000)
FROZEN_D = {1.0: 30_000, 0.5: 3000}
QUICK_FROZEN_D = 10_000
FACTS_N = (4, 8, 16, 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The runs of one kind of network on one kind of inputs."""

    name: str
    inputs: Inputs
    tasks: Sequence[Task]
    records: Sequence[Record]

    @property
    def limit(self) -> str:
        """What limits its runs, in words, where it is not the data alone."""
        spoilt = [cell for cell in self.study.cells if not cell.limited_by_data]
        names = sorted({name for cell in spoilt for name in cell.statuses if name != "ok"})
        return f"; {len(spoilt)} of {len(self.study.cells)} cells {' or '.join(names)}" if spoilt else ""

    @property
    def study(self) -> RatioStudy:
        return ratios(zip(self.tasks, self.records, strict=True))

    def losses(self, size: str) -> tuple[FloatArray, FloatArray]:
        """The sizes of a sweep, and its losses (sizes, seeds)."""
        found: dict[int, list[float]] = {}
        for task, record in zip(self.tasks, self.records, strict=True):
            found.setdefault(getattr(task, size), []).append(record.loss)
        return np.array(list(found), dtype=float), np.array(list(found.values()))

    def exponent(self, size: str) -> Interval:
        """Minus the slope of the loss, with its interval over seeds."""
        sizes, losses = self.losses(size)
        slopes = -log_slope(sizes, losses.T)[0]
        return student_interval([float(slope) for slope in slopes])

    def rows(self) -> list[Row]:
        rows = []
        for cell in self.study.cells:
            ratio, sign = cell.ratio, cell.sign_ratio
            rows.append(
                {"experiment": self.name, **self.inputs.parameters(), "N": cell.N, "D": cell.D}
                | {"loss": cell.mean, "unseen": cell.unseen, "train": cell.train, "seeds": cell.seeds}
                | {f"ratio_{key}": value for key, value in (ratio.as_dict() if ratio else {}).items()}
                | {f"sign_ratio_{key}": value for key, value in (sign.as_dict() if sign else {}).items()}
                | {"status": " ".join(f"{count} {name}" for name, count in cell.statuses.items())}
            )
        return rows


Planned = tuple[str, Inputs, list[Task]]
Experiments = Mapping[str, Experiment]


def run_all(context: Context) -> dict[str, Experiment]:
    """Every experiment, all runs in one sweep."""
    seeds = QUICK_SEEDS if context.quick else SEEDS
    planned: list[Planned] = [
        plan
        for plans in (_networks, _widths, _other_networks, _facts, _longer)
        for plan in plans(context.quick, seeds)
    ]
    records = iter(context.run([task for _, _, tasks in planned for task in tasks]))
    return {
        name: Experiment(name=name, inputs=inputs, tasks=tasks, records=[next(records) for _ in tasks])
        for name, inputs, tasks in planned
    }


def _networks(quick: bool, seeds: int) -> Iterator[Planned]:
    """Sweeps in D."""
    for alpha1, alpha2 in SETTINGS[:1] if quick else SETTINGS:
        inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2)
        for name, network in KINDS.items():
            D = SAMPLES[alpha1][:3] if quick or network.depth > 2 else SAMPLES[alpha1]
            tasks = network_tasks(inputs, network, D, seeds=seeds, seed=FIRST_SEED)
            yield f"{name} at ({alpha1:g}, {alpha2:g})", inputs, tasks


def _widths(quick: bool, seeds: int) -> Iterator[Planned]:
    """Sweeps in N at the exact optimum, and where frozen features have their peak."""
    for alpha1, D in WIDTH_SAMPLES[:1] if quick else WIDTH_SAMPLES:
        inputs = SparseInputs(alpha1=alpha1, alpha2=0.3)
        for features, outputs in (("trained", 256), ("linear", 1)):
            tasks = grid(inputs, WIDTHS, D, seeds=seeds, seed=FIRST_SEED, features=features, outputs=outputs)
            yield f"{features} features at alpha1 = {alpha1:g}", inputs, tasks
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    for features, outputs in (("trained", 1000), ("linear", 1)):
        tasks = grid(
            inputs, 250, 16_000, seeds=4 * seeds, seed=FIRST_SEED, features=features, outputs=outputs
        )
        yield f"{features} features at the peak", inputs, tasks


def _other_networks(quick: bool, seeds: int) -> Iterator[Planned]:
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    D = (100, 400, 1600)
    plain = Momentum(steps=1000, rate=0.5)
    tasks = network_tasks(inputs, KINDS["linear"], D, adam=plain, seeds=seeds, seed=FIRST_SEED)
    yield "momentum", inputs, tasks
    yield (
        "one unit",
        inputs,
        network_tasks(inputs, Network(2, 1), D, adam=Adam(steps=3000), seeds=seeds, seed=FIRST_SEED),
    )
    if not quick:
        tasks = network_tasks(inputs, KINDS["ReLU"], D, task="pairs", seeds=seeds, seed=FIRST_SEED)
        yield "pairs", inputs, tasks


def _facts(quick: bool, seeds: int) -> Iterator[Planned]:
    common: dict[str, Any] = {"task": "facts", "outputs": ANSWERS, "seeds": seeds, "seed": FIRST_SEED}
    for alpha1 in (1.0,) if quick else (1.0, 0.5):
        inputs = SparseInputs(alpha1=alpha1, alpha2=-1.0)
        D = FACTS_D[:3] if quick or alpha1 < 1.0 else FACTS_D
        name = f"facts at alpha1 = {alpha1:g}"
        yield name, inputs, network_tasks(inputs, Network(2, 16), D, **common)
        frozen = Network(2, 16, frozen=True)
        most, widths = (QUICK_FROZEN_D, FACTS_N[:3]) if quick else (FROZEN_D[alpha1], FACTS_N)
        yield f"frozen {name}", inputs, network_tasks(inputs, frozen, most, widths=widths, **common)


def _longer(quick: bool, _: int) -> Iterator[Planned]:
    """Not in a quick run; the transformer only where torch is installed."""
    if quick:
        return
    dense = DenseInputs(alpha=2.3, dimension=200)
    network, adam = Network(2, 32, "relu"), Adam(steps=1500, rate=0.01)
    D = (12, 25, 50, 100)
    yield "dense", dense, network_tasks(dense, network, D, adam=adam, seeds=6, seed=FIRST_SEED)
    if find_spec("torch") is not None:
        inputs = SparseInputs(alpha1=1.0, alpha2=-1.0)
        common: dict[str, Any] = {"task": "facts", "outputs": ANSWERS, "seeds": 3, "seed": FIRST_SEED}
        network = Network(2, 32, "transformer")
        yield "transformer", inputs, network_tasks(inputs, network, (250, 1000, 4000), **common)


# Numbers of one experiment, with intervals over its seeds.


def mean_ratio(experiment: Experiment, *, sign: bool) -> Interval | None:
    """Loss over unseen variance, a mean over the sweep; None where something else than the data limits it."""
    if experiment.limit:
        return None
    by_seed: dict[int, list[float]] = {}
    for task, record in zip(experiment.tasks, experiment.records, strict=True):
        over = record.sign_unseen if sign else record.control
        by_seed.setdefault(task.seed, []).append(math.log(record.loss / (over or math.nan)))
    means = student_interval([float(np.mean(values)) for values in by_seed.values()])
    return Interval(math.exp(means.low), math.exp(means.best), math.exp(means.high))


def pooled_slope(experiments: Sequence[Experiment]) -> Interval | None:
    """The mean slope of loss/unseen in D over all seeds of several sweeps; None where one is limited."""
    if any(experiment.limit for experiment in experiments):
        return None
    slopes: list[float] = []
    for experiment in experiments:
        curves: dict[int, list[float]] = {}
        for task, record in zip(experiment.tasks, experiment.records, strict=True):
            curves.setdefault(task.seed, []).append(record.loss / (record.control or math.nan))
        sizes = sorted({task.D for task in experiment.tasks})
        slopes += [float(slope) for slope in log_slope(sizes, list(curves.values()))[0]]
    return student_interval(slopes)


def over_tail(experiment: Experiment) -> Interval:
    """Loss over sum_{j>N} s_j, a mean over the widths of a sweep."""
    inputs = cast(ActivationInputs, experiment.inputs)
    N, losses = experiment.losses("N")
    tails = np.array([inputs.tail_variance(int(n)) for n in N])
    return student_interval([float(value) for value in np.mean(losses / tails[:, None], axis=0)])


def frozen_constant(inputs: Inputs) -> float:
    """C_N N^-(a-1) of frozen features over the tail N^-(a-1) / (a-1), variances j^-a."""
    return inputs.model_constant() * (inputs.spectrum - 1.0)


# The picture of the item beyond-networks.


def draw(figure: Figure, found: Mapping[str, Experiment]) -> None:
    left, middle, right = figure.subplots(1, 3)
    for (kind, _), colour in zip(KINDS.items(), COLOURS, strict=False):
        for name, experiment in found.items():
            if name.split(" at ")[0] == kind:
                shown = [cell for cell in experiment.study.cells if cell.ratio is not None]
                ratios = [cell.ratio for cell in shown if cell.ratio is not None]
                label = kind if name.endswith("(1, 0.3)") else None
                left.errorbar(
                    [cell.D for cell in shown], [r.best for r in ratios], yerr=bars(ratios), fmt="o-",
                    markersize=3, linewidth=0.8, capsize=2, color=colour, label=label,
                )  # fmt: skip
    left.axhline(1.0, color=THEORY, linewidth=1.0)
    left.set(xscale="log", yscale="log", xlabel="D", ylabel="loss / unseen variance", title="networks")
    left.set_ylim(0.7, 12.0)
    for alpha1, colour in zip((1.0, 2.0, 0.5), COLOURS, strict=False):
        name = f"features at alpha1 = {alpha1:g}"
        if f"trained {name}" in found:
            trained = found[f"trained {name}"]
            N, losses = trained.losses("N")
            middle.plot(N, losses.mean(axis=1), "o", color=colour, label=f"trained, alpha1 = {alpha1:g}")
            middle.plot(N, closed_losses(trained), color=THEORY, linewidth=1.0)
            N, losses = found[f"linear {name}"].losses("N")
            middle.plot(N, np.median(losses, axis=1), "x", color=colour)
    middle.plot([], [], "x", color="grey", label="frozen")
    middle.set(xscale="log", yscale="log", xlabel="N", ylabel="population loss", title="256 outputs")
    for alpha1, colour in zip((1.0, 0.5), COLOURS, strict=False):
        name = f"facts at alpha1 = {alpha1:g}"
        if name in found:
            cells = found[name].study.cells
            right.plot(
                [cell.D for cell in cells], [cell.mean for cell in cells], "o", color=colour, label=name
            )
            right.plot(
                [cell.D for cell in cells], [cell.unseen for cell in cells], color=THEORY, linewidth=1.0
            )
            N, losses = found[f"frozen {name}"].losses("N")
            right.plot(N, losses.mean(axis=1), "x", color=colour)
    right.plot([], [], "x", color="grey", label="frozen, against N")
    right.plot([], [], color=THEORY, linewidth=1.0, label="unseen (C-1)/C")
    right.set(xscale="log", yscale="log", xlabel="D, or N", ylabel="error rate", title="facts")
    for ax in (left, middle, right):
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.legend(fontsize="x-small")


def closed_losses(experiment: Experiment) -> list[float]:
    """The closed form at the widths of a sweep of trained features."""
    inputs, D = cast(ActivationInputs, experiment.inputs), experiment.tasks[0].D
    N, _ = experiment.losses("N")
    return [trained_loss(inputs, int(n), D, experiment.tasks[0].outputs) for n in N]
