"""What the paper says in passing, and what lies beyond its sizes: each as a number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from sparselaw.experiments.dynamics import compare_small_steps, prepare_training
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.grids import Measured, SweepSpec, measure
from sparselaw.experiments.paper.item import Context, Item, Printed, Quantity, Result, Row, range_of
from sparselaw.experiments.paper.panels import surface
from sparselaw.fitting import Sweep, fit_power
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval, student_interval
from sparselaw.plotting.style import COLOURS, THEORY
from sparselaw.predicting import predict
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov
from sparselaw.sweeps.simulate import grid
from sparselaw.theory.surface import asymptotic_seen
from sparselaw.trials.task import Task

INPUTS = SparseInputs(alpha1=grids.ALPHA1, alpha2=grids.ALPHA2)
WEAK = SparseInputs(alpha1=-0.5, alpha2=0.8, dimension=2000)  # alpha1 <= 0: one exponent, 1.3


def make(context: Context) -> Result:
    seeds = grids.seeds(20, context.quick)
    beyond = _beyond(context, seeds)
    weak = _weak(context, seeds)
    quantities = [
        *_same_solution(context),
        _small_steps(context),
        _symmetric(weak),
        *_seen(context, seeds),
        *_constants(beyond),
        *_exponents(beyond),
    ]
    rows: list[Row] = [row for curve in (*beyond, *weak) for row in curve.rows()]
    return Result(
        quantities=quantities,
        rows=rows,
        caption=(
            f"Left: beyond the paper's sizes, N at D = {beyond[0].spec.fixed:,} and D at "
            f"N = {beyond[1].spec.fixed:,}, with the closed form. Right: alpha1 = {WEAK.alpha1:g}, where N "
            "and D are symmetric. Bars: 95 %."
        ),
        draw=lambda figure: _draw(figure, beyond, weak),
        size=(9.0, 4.2),
    )


def _beyond(context: Context, seeds: int) -> list[Measured]:
    """Ten times the paper's largest N and a hundred times its largest D."""
    largest = 10 * max(grids.CLOSED_FORM.N)
    sizes = [largest // 2**k for k in (6, 5, 4, 3, 2, 0)]  # the first four are fitted
    model_sweep = SweepSpec(
        inputs=INPUTS,
        variable="N",
        sizes=sizes[:4] if context.quick else sizes,
        fixed=500_000 if context.quick else 100 * grids.SWEEP_D,
        features="linear",
        solver=MinNorm(),
        seeds=seeds,
    )
    largest_D = 100 * max(grids.CLOSED_FORM.D)
    data_sweep = replace(
        model_sweep,
        variable="D",
        sizes=[largest_D // 2**k for k in reversed(range(8))],
        fixed=10 * grids.CLOSED_FORM.width,
        seeds=seeds,
    )
    return measure(context, [model_sweep, data_sweep])


def _weak(context: Context, seeds: int) -> list[Measured]:
    first = SweepSpec(
        inputs=WEAK,
        variable="N",
        sizes=(16, 23, 32, 45, 64, 91, 128),
        fixed=2000,
        features="linear",
        solver=MinNorm(),
        seeds=min(seeds, 10),
    )
    return measure(context, [first, replace(first, variable="D")])


def _same_solution(context: Context) -> list[Quantity]:
    """The closed form and Nesterov's method on the same data: the largest difference in loss."""
    quantities = []
    for features in ("linear", "relu"):
        tasks = grid(
            grids.SPARSE,
            N=[16, 64, 256],
            D=[320],
            seeds=2,
            features=features,
            estimator="raw",
            n_test=2000,
        )
        records = context.run([*tasks, *(replace(task, solver=Nesterov()) for task in tasks)])
        closed, descended = records[: len(tasks)], records[len(tasks) :]
        ratios = [d.loss / c.loss for c, d in zip(closed, descended, strict=True)]
        quantities.append(
            Quantity(
                f"loss by Nesterov over loss in closed form, {features} features, same data",
                range_of(ratios),
                Printed(1.0, 0.0),
                1.0,
                "range over six trials; the paper calls the two the same solution",
                interval="range",
            )
        )
    return quantities


def _small_steps(context: Context) -> Quantity:
    """Minibatch SGD against full-batch descent on the same data after the same number of small steps."""
    passes, step, seeds = 16, 0.01, 8
    settings_ = {
        "alpha1": INPUTS.alpha1,
        "alpha2": INPUTS.alpha2,
        "passes": passes,
        "step": step,
        "seeds": seeds,
    }

    def compute() -> list[float]:
        ratios = []
        for seed in range(seeds):
            training = prepare_training(Task(inputs=INPUTS, N=16_000, D=400, seed=seed))
            found = compare_small_steps(training, [passes], np.random.default_rng(seed), step)
            ratios.append(float(found.sgd.population_loss[-1] / found.full_batch.population_loss[-1]))
        return ratios

    ratios = context.remember("small-steps", settings_, compute, lambda kept: [float(r) for r in kept])
    full, few = GradientDescent(steps=passes * 400, step=step), SGD(passes=passes, step=step)
    predicted = [predict(INPUTS, N=16_000, D=400, solver=solver).loss for solver in (few, full)]
    return Quantity(
        "loss by small-step SGD over loss by full-batch descent, same data",
        range_of(ratios),
        Printed(1.0, 0.02),
        predicted[0] / predicted[1],
        f"{passes} passes at step {step}, D = 400, range over {seeds} seeds; the paper: 'agree closely'",
        interval="range",
    )


def _symmetric(weak: list[Measured]) -> Quantity:
    fits = [fit_power({c.spec.name: Sweep(x=c.x, seeds=c.losses)}, last=6).exponent for c in weak]
    difference = fits[0].best - fits[1].best
    down = float(np.hypot(fits[0].best - fits[0].low, fits[1].high - fits[1].best))
    up = float(np.hypot(fits[0].high - fits[0].best, fits[1].best - fits[1].low))
    return Quantity(
        f"alpha_N - alpha_D at alpha1 = {WEAK.alpha1:g}",
        Interval(difference - down, difference, difference + up),
        Printed(0.0, 0.0),
        0.0,
        f"N-sweep {fits[0]}, D-sweep {fits[1]}; both {WEAK.exponents.alpha_N:g} in the limit",
    )


def _seen(context: Context, seeds: int) -> list[Quantity]:
    quantities = []
    for D in (1280, grids.SWEEP_D):
        records = context.run(grid(INPUTS, N=[10**6], D=[D], seeds=50 * seeds))  # milliseconds each
        counts = [float(r.seen or 0) for r in records]
        quantities.append(
            Quantity(
                f"K(D) at D = {D:,}",
                student_interval(counts),
                Printed(asymptotic_seen(INPUTS, D), 1.0),
                INPUTS.expected_seen(D),
                "the paper's value is its asymptote, which is for large D, so ±1; theory: the exact sum",
            )
        )
    return quantities


def _constants(beyond: list[Measured]) -> list[Quantity]:
    model_sweep, data_sweep = beyond
    quantities = []
    for curve, power, name, value in (
        (model_sweep, INPUTS.exponents.alpha_N, "C_N = loss N^alpha_N", INPUTS.model_constant()),
        (data_sweep, INPUTS.exponents.alpha_D, "C_D = loss D^alpha_D", INPUTS.data_constant()),
    ):
        i = 2 if curve is model_sweep else -1  # the N-sweep is nearest its limit far below the peak
        size = curve.x[i]
        best = curve.mean[i] * size**power
        half = curve.half_width[i] * size**power
        finite = surface(curve.spec)[i] * size**power
        quantities.append(
            Quantity(
                f"{name} at {curve.spec.variable} = {size:,.0f}",
                Interval(best - half, best, best + half),
                theory=value,
                why=f"the closed-form surface at this very point gives {finite:.4f}",
            )
        )
    return quantities


def _exponents(beyond: list[Measured]) -> list[Quantity]:
    quantities = []
    for curve, theory in zip(beyond, (INPUTS.exponents.alpha_N, INPUTS.exponents.alpha_D), strict=True):
        spec = curve.spec
        count = 4 if spec.variable == "N" else len(spec.sizes)  # below the peak; far above it
        part = slice(0, count)
        fit = fit_power({spec.name: Sweep(x=curve.x[part], seeds=curve.losses[part])}).exponent
        closed = fit_power({spec.name: Sweep(x=curve.x[part], loss=surface(spec)[part])}).exponent.best
        quantities.append(
            Quantity(
                f"alpha_{spec.variable} beyond the paper's sizes",
                fit,
                theory=theory,
                why=f"{spec.variable} = {curve.x[0]:,.0f} to {curve.x[count - 1]:,.0f}; the closed-form "
                f"surface at the same sizes gives {closed:.3f}",
            )
        )
    return quantities


def _draw(figure: Figure, beyond: list[Measured], weak: list[Measured]) -> None:
    left, right = figure.subplots(1, 2)
    for ax, curves, title in (
        (left, beyond, "beyond the paper's sizes"),
        (right, weak, f"alpha1 = {WEAK.alpha1:g}"),
    ):
        for curve, colour in zip(curves, COLOURS, strict=False):
            label = f"{curve.spec.variable}-sweep"
            ax.errorbar(
                curve.x, curve.mean, yerr=curve.half_width, fmt="o", color=colour, capsize=2, label=label
            )
            ax.plot(curve.x, surface(curve.spec), color=THEORY, linewidth=1.0)
        ax.plot([], [], color=THEORY, linewidth=1.0, label="closed form")
        ax.set(xscale="log", yscale="log", xlabel="N or D", ylabel="population loss", title=title)
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.legend()


ITEMS = (Item("checks", "Statements in passing, and sizes beyond the paper", make),)
