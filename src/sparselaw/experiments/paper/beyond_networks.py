"""Beyond the paper: trained networks. Does the theory of frozen features survive feature learning?

The statements that are judged here were found by small experiments before this code was written. They are
tried again on new seeds, at the settings of those experiments and at one more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparselaw.arrays import FloatArray, log_slope
from sparselaw.experiments.networks import Adam, Momentum, Network, network_tasks
from sparselaw.experiments.paper.item import Context, Printed, Quantity, Result, Row, bars, range_of
from sparselaw.inputs import ActivationInputs, DenseInputs, Inputs, SparseInputs
from sparselaw.interval import Interval, median_interval, student_interval
from sparselaw.plotting.style import COLOURS, THEORY, finish
from sparselaw.sweeps.cells import RatioStudy, ratios
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
WIDTH_SAMPLES = {1.0: 100_000, 2.0: 100_000, 0.5: 3000}
FIRST_SEED = 1000  # none of the seeds on which the statements were found
SEEDS, QUICK_SEEDS = 6, 3
ANSWERS = 16
FACTS_D = {1.0: (100, 1000, 10_000, 100_000), 0.5: (100, 1000, 10_000)}
FROZEN_D = {1.0: 30_000, 0.5: 3000}
FLAT = 0.05  # a slope of loss/unseen this small counts as none


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The runs of one kind of network on one kind of inputs."""

    name: str
    inputs: Inputs
    tasks: Sequence[Task]
    records: Sequence[Record]

    @property
    def study(self) -> RatioStudy:
        return ratios(zip(self.tasks, self.records, strict=True))

    @property
    def limit(self) -> str:
        """What limits its runs, in words, where it is not the data alone."""
        cells = self.study.cells
        spoilt = [cell for cell in cells if not cell.limited_by_data]
        names = sorted({name for cell in spoilt for name in cell.statuses if name != "ok"})
        return f"; {len(spoilt)} of {len(cells)} cells {' or '.join(names)}" if spoilt else ""

    @property
    def words(self) -> str:
        """The sizes along it, and what limits it."""
        N, D = (sorted({getattr(task, size) for task in self.tasks}) for size in "ND")
        sizes = [f"{size} = {n[0]:,}" + f" to {n[-1]:,}" * (len(n) > 1) for size, n in (("N", N), ("D", D))]
        return f"{', '.join(sizes)}{self.limit}"

    def by_seed(self, value: Callable[[Record], float]) -> FloatArray:
        """A value of every run (seeds, sizes)."""
        found: dict[int, list[float]] = {}
        for task, record in zip(self.tasks, self.records, strict=True):
            found.setdefault(task.seed, []).append(value(record))
        return np.array(list(found.values()))

    def losses(self, size: str) -> tuple[FloatArray, FloatArray]:
        """The sizes of a sweep, and its losses (seeds, sizes)."""
        sizes = dict.fromkeys(getattr(task, size) for task in self.tasks)
        return np.array(list(sizes), dtype=float), self.by_seed(lambda record: record.loss)

    def rows(self) -> list[Row]:
        rows = []
        for cell in self.study.cells:
            row = {"experiment": self.name, **self.inputs.parameters(), "N": cell.N, "D": cell.D}
            row |= {"loss": cell.mean, "unseen": cell.unseen, "train": cell.train, "seeds": cell.seeds}
            for name, ratio in (("ratio", cell.ratio), ("sign_ratio", cell.sign_ratio)):
                row |= {f"{name}_{key}": value for key, value in (ratio.as_dict() if ratio else {}).items()}
            rows.append(row | {"status": " ".join(f"{n} {name}" for name, n in cell.statuses.items())})
        return rows


Experiments = Mapping[str, Experiment]


def make(context: Context) -> Result:
    """Train every network, all runs in one sweep, and judge the statements."""
    plans = list(_plans(context.quick, QUICK_SEEDS if context.quick else SEEDS))
    records = iter(context.run([task for _, _, tasks in plans for task in tasks]))
    found = {
        name: Experiment(name=name, inputs=inputs, tasks=tasks, records=[next(records) for _ in tasks])
        for name, inputs, tasks in plans
    }
    return Result(
        quantities=[_bound(found), *_statements(found)],
        rows=[row for experiment in found.values() for row in experiment.rows()],
        caption=(
            "Left: loss over the unseen variance of the same data, networks trained end to end (bars: 95 % "
            "over seeds). Middle: two-layer linear networks of m = 256 outputs at their exact optimum, and "
            "frozen features; lines: closed form. Right: facts, the error rate of trained embeddings beside "
            "what was not seen, and of frozen ones against their width."
        ),
        draw=lambda figure: _draw(figure, found),
        size=(11.0, 4.0),
        notes=[
            "No statement here is the paper's, which freezes the first layer: they were found by earlier, "
            "smaller experiments. The verdict compares with the earlier number.",
            "A cell whose training loss is above 5 % of its loss is left out of a slope; where too few are "
            "left, no exponent is given. The transformer is trained where torch is installed.",
        ],
    )


def _plans(quick: bool, seeds: int) -> Iterator[tuple[str, Inputs, list[Task]]]:
    """Name, inputs and runs of every experiment."""
    common: dict[str, Any] = {"seeds": seeds, "seed": FIRST_SEED}

    def networks(name: str, inputs: Inputs, network: Network, D: Any, **more: Any) -> Any:
        return name, inputs, network_tasks(inputs, network, D, **common | more)

    def features(name: str, inputs: Inputs, N: Any, D: int, outputs: int, **more: Any) -> Iterator[Any]:
        """Trained ones of many outputs, and frozen ones."""
        for kind, m in (("trained", outputs), ("linear", 1)):
            tasks = grid(inputs, N, D, features=kind, outputs=m, **common | more)
            yield f"{kind} features {name}", inputs, tasks

    usual = SparseInputs(alpha1=1.0, alpha2=0.3)
    for alpha1, alpha2 in SETTINGS[:1] if quick else SETTINGS:  # sweeps in D
        inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2)
        for kind, network in KINDS.items():
            D = SAMPLES[alpha1][:3] if quick or network.depth > 2 else SAMPLES[alpha1]
            yield networks(f"{kind} at ({alpha1:g}, {alpha2:g})", inputs, network, D)
    for alpha1 in (1.0,) if quick else WIDTH_SAMPLES:  # sweeps in N at the exact optimum
        inputs = SparseInputs(alpha1=alpha1, alpha2=0.3)
        yield from features(f"at alpha1 = {alpha1:g}", inputs, WIDTHS, WIDTH_SAMPLES[alpha1], 256)
    yield from features("at the peak", usual, 250, 16_000, 1000, seeds=4 * seeds)  # of frozen features
    D = (100, 400, 1600)
    yield networks("momentum", usual, KINDS["linear"], D, adam=Momentum(steps=1000, rate=0.5))
    yield networks("one unit", usual, Network(2, 1), D, adam=Adam(steps=3000))
    facts: dict[str, Any] = {"task": "facts", "outputs": ANSWERS}
    for alpha1 in (1.0,) if quick else (1.0, 0.5):
        inputs, name = SparseInputs(alpha1=alpha1, alpha2=-1.0), f"facts at alpha1 = {alpha1:g}"
        yield networks(name, inputs, Network(2, 16), FACTS_D[alpha1][: 3 if quick else None], **facts)
        most, widths = (10_000, WIDTHS[:3]) if quick else (FROZEN_D[alpha1], WIDTHS)
        frozen = Network(2, 16, frozen=True)
        yield networks(f"frozen {name}", inputs, frozen, most, widths=widths, **facts)
    if quick:
        return
    yield networks("pairs", usual, KINDS["ReLU"], D, task="pairs")
    dense, adam = DenseInputs(alpha=2.3, dimension=200), Adam(steps=1500, rate=0.01)
    yield networks("dense", dense, Network(2, 32, "relu"), (12, 25, 50, 100), adam=adam)
    if find_spec("torch") is not None:
        inputs, network = SparseInputs(alpha1=1.0, alpha2=-1.0), Network(2, 32, "transformer")
        yield networks("transformer", inputs, network, (250, 1000, 4000), **facts, seeds=3)


# Numbers of experiments, with intervals over their seeds; None where something else than the data limits one.


def _slope(*experiments: Experiment) -> Interval | None:
    """Of loss/unseen in D: that of the study, or the mean over all seeds of several sweeps."""
    if len(experiments) == 1:
        return experiments[0].study.ratio_slope
    if any(experiment.limit for experiment in experiments):
        return None
    slopes: list[float] = []
    for experiment in experiments:
        curves = experiment.by_seed(lambda record: record.loss / (record.control or math.nan))
        slopes += log_slope(experiment.losses("D")[0], curves)[0].tolist()
    return student_interval(slopes)


def _level(experiment: Experiment, unseen: str = "control") -> Interval | None:
    """Loss over unseen variance, a mean over the sweep."""
    if experiment.limit:
        return None
    logs = experiment.by_seed(lambda record: math.log(record.loss / (getattr(record, unseen) or math.nan)))
    return Interval(*(math.exp(end) for end in student_interval(logs.mean(axis=1).tolist())))


def _levels(experiment: Experiment) -> Interval | None:
    """The range of loss/unseen over data sizes."""
    found = [cell.ratio.best for cell in experiment.study.cells if cell.ratio is not None]
    return range_of(found) if found else None


def _fall(experiment: Experiment, size: str = "N") -> Interval | None:
    """Minus the slope of the loss."""
    if size == "D" and experiment.limit:
        return None
    return student_interval((-log_slope(*experiment.losses(size))[0]).tolist())


def _over_tail(experiment: Experiment) -> Interval:
    """Loss over sum_{j>N} s_j, a mean over the widths of a sweep."""
    inputs = cast(ActivationInputs, experiment.inputs)
    N, losses = experiment.losses("N")
    tails = np.array([inputs.tail_variance(int(n)) for n in N])
    return student_interval(np.mean(losses / tails, axis=1).tolist())


def _median(experiment: Experiment) -> Interval:
    return median_interval([record.loss / (record.control or math.nan) for record in experiment.records])


def _closed_losses(experiment: Experiment) -> list[float]:
    """The closed form at the widths of a sweep of trained features."""
    inputs, first = cast(ActivationInputs, experiment.inputs), experiment.tasks[0]
    return [trained_loss(inputs, int(n), first.D, first.outputs) for n in experiment.losses("N")[0]]


def _closed_fall(experiment: Experiment) -> float:
    return -float(log_slope(experiment.losses("N")[0], _closed_losses(experiment))[0])


def _frozen_constant(experiment: Experiment) -> float:
    """C_N N^-(a-1) of frozen features over the tail N^-(a-1) / (a-1), variances j^-a."""
    law = experiment.inputs.power_law()
    return law.model_constant * (law.spectrum - 1.0)


_with_data, _with_sign = partial(_fall, size="D"), partial(_level, unseen="sign_unseen")


def _statements(found: Experiments) -> list[Quantity]:
    """Numbers found earlier, ``stated`` give or take ``tolerance``, beside what is measured now."""
    judged: list[Quantity] = []

    def state(
        quantity: str,
        of: str | Sequence[str],
        measure: Callable[..., Interval | None],
        stated: float,
        tolerance: float,
        theory: float | Callable[[Experiment], float] | None = None,
        note: str = "",
        interval: str = "95 %",
    ) -> None:
        used = [found[name] for name in ([of] if isinstance(of, str) else of) if name in found]
        if used:
            words = used[0].words if len(used) == 1 else f"{len(used)} settings, one slope for each seed"
            value = theory(used[0]) if callable(theory) else theory
            why = "; ".join(filter(None, (words, note)))
            printed = Printed(stated, tolerance, whose="statement")
            judged.append(Quantity(quantity, measure(*used), printed, value, why, interval))

    slope, settings = "slope of loss/unseen in D", [f"({a:g}, {b:g})" for a, b in SETTINGS]
    for kind in KINDS:
        names = [f"{kind} at {at}" for at in settings]
        for name in names:
            state(f"{slope}: {name}", name, _slope, 0.0, FLAT, 0.0)
        state(f"{slope}: {kind}, all settings together", names, _slope, 0.0, FLAT, 0.0)
    state(f"{slope}: pairs", "pairs", _slope, 0.0, FLAT, 0.0)
    for at in settings:
        state(f"loss / unseen: linear at {at}", f"linear at {at}", _level, 1.0, 0.05)
        state(f"loss / sign-unseen: ReLU at {at}", f"ReLU at {at}", _with_sign, 1.0, 0.2)
    state("loss / unseen: ReLU at (1, 0.3)", "ReLU at (1, 0.3)", _level, 2.4, 0.4)
    for alpha1, exponent in ((1.0, 2.27), (2.0, 3.08), (0.5, 1.81)):
        at = f"alpha1 = {alpha1:g}"
        trained, frozen = f"trained features at {at}", f"linear features at {at}"
        name = f"alpha_N of trained linear networks, 256 outputs, {at}"
        state(name, trained, _fall, exponent, 0.1, _closed_fall, "theory: closed form at the same sizes")
        state(f"loss / tail sum, trained features, {at}", trained, _over_tail, 0.9, 0.1)
        state(f"loss / tail sum, frozen features, {at}", frozen, _over_tail, 4.2, 0.4, _frozen_constant)
    for features, level, within in (("linear", 11.0, 2.0), ("trained", 1.003, 0.003)):
        name = f"median loss / unseen at N = 250, D = 16,000, {features} features"
        note = "just above the coordinates seen, where frozen features have their peak"
        state(name, f"{features} features at the peak", _median, level, within, note=note)
    name = "loss / unseen of a linear network trained by momentum"
    note = "an exponent would be the optimiser's"
    state(name, "momentum", _levels, 15.0, 11.0, note=note, interval="range")
    name = "loss / unseen of a linear network of one unit, scalar target"
    note = "once the first layer is trained a scalar linear target needs N = 1"
    state(name, "one unit", _level, 1.0, 0.05, 1.0, note)
    for alpha1, alpha_N, alpha_D in ((1.0, 1.11, 0.49), (0.5, 0.57, 0.37)):
        at, note, fall = f"facts at alpha1 = {alpha1:g}", "theory: alpha2 = -1", alpha1 / (alpha1 + 1.0)
        state(f"error / (unseen (C-1)/C), trained embeddings, {at}", at, _level, 1.0, 0.05, 1.0)
        state(f"alpha_D of trained embeddings, {at}", at, _with_data, alpha_D, 0.05, fall, note)
        state(f"alpha_N of frozen embeddings, {at}", f"frozen {at}", _fall, alpha_N, 0.1, alpha1, note)
    name = "error exponent in D of a one-layer transformer, facts at alpha1 = 1"
    state(name, "transformer", _with_data, 0.54, 0.04, 0.5)
    note = "near the sparse exponent, so that it alone does not tell sparse from dense; the ratio does"
    state("alpha_D of a ReLU network on dense inputs", "dense", _with_data, 1.25, 0.11, note=note)
    return judged


def _bound(found: Experiments) -> Quantity:
    """No learner can beat the unseen variance on average."""
    cells = [
        (cell.ratio, name, cell.D)
        for name, experiment in found.items()
        for cell in experiment.study.cells
        if cell.ratio is not None
    ]
    ratio, name, D = min(cells, key=lambda entry: entry[0].best)
    return Quantity(
        "lowest loss / unseen variance of all networks",
        ratio,
        Printed(1.0, 0.0, above=math.inf, whose="statement"),
        why=f"no learner has less than 1 on average; the lowest of {len(cells)} cells is {name}, D = {D:,}",
    )


def _draw(figure: Figure, found: Experiments) -> None:
    left, middle, right = figure.subplots(1, 3)

    def widths(ax: Axes, name: str, colour: str, marker: str = "x", label: str | None = None) -> None:
        N, losses = found[name].losses("N")
        ax.plot(N, np.median(losses, axis=0), marker, linestyle="", color=colour, label=label)

    for kind, colour in zip(KINDS, COLOURS, strict=False):
        for name in [name for name in found if name.split(" at ")[0] == kind]:
            shown = [(cell.D, cell.ratio) for cell in found[name].study.cells if cell.ratio is not None]
            D, ratio = zip(*shown, strict=True)
            left.errorbar(
                D, [r.best for r in ratio], yerr=bars(ratio), fmt="o-", markersize=3, linewidth=0.8,
                capsize=2, color=colour, label=kind if name.endswith("(1, 0.3)") else None,
            )  # fmt: skip
    left.axhline(1.0, color=THEORY, linewidth=1.0)
    left.set_ylim(0.7, 12.0)
    finish(left, "$D$", "loss / unseen variance", "networks")
    for alpha1, colour in zip(WIDTH_SAMPLES, COLOURS, strict=False):
        name = f"features at alpha1 = {alpha1:g}"
        if f"trained {name}" in found:
            widths(middle, f"trained {name}", colour, "o", rf"trained, $\alpha_1$ = {alpha1:g}")
            middle.plot(WIDTHS, _closed_losses(found[f"trained {name}"]), color=THEORY, linewidth=1.0)
            widths(middle, f"linear {name}", colour)
    middle.plot([], [], "x", color="grey", label="frozen")
    finish(middle, "$N$", "population loss (median)", "256 outputs")
    for name, colour in zip([f"facts at alpha1 = {a:g}" for a in FACTS_D], COLOURS, strict=False):
        if name in found:
            cells = found[name].study.cells
            seen = [cell.D for cell in cells]
            right.plot(
                seen,
                [cell.mean for cell in cells],
                "o",
                color=colour,
                label=name.replace("alpha1", r"$\alpha_1$"),
            )
            right.plot(seen, [cell.unseen for cell in cells], color=THEORY, linewidth=1.0)
            widths(right, f"frozen {name}", colour)
    right.plot([], [], "x", color="grey", label="frozen, against N")
    right.plot([], [], color=THEORY, linewidth=1.0, label="unseen (C-1)/C")
    finish(right, "$D$, or $N$", "error rate", "facts")
