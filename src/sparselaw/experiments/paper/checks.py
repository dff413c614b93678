"""What the paper says in passing, and what lies beyond its sizes: each as a number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from sparselaw.experiments.dynamics import compare_small_steps, prepare_training
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.grids import Measured, SweepSpec, measure, surface
from sparselaw.experiments.paper.item import Context, Printed, Quantity, Result, range_of
from sparselaw.fitting import Sweep, fit_power
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval, student_interval
from sparselaw.plotting.style import COLOURS, THEORY, finish
from sparselaw.predicting import predict
from sparselaw.solvers import SGD, GradientDescent, Nesterov
from sparselaw.sweeps.simulate import grid
from sparselaw.theory.surface import asymptotic_seen
from sparselaw.trials.task import Task

INPUTS = SparseInputs(alpha1=grids.ALPHA1, alpha2=grids.ALPHA2)
WEAK = SparseInputs(alpha1=-0.5, alpha2=0.8, dimension=2000)  # alpha1 <= 0: one exponent, 1.3
PASSES, STEP, STEP_SEEDS = 16, 0.01, 8  # of small steps


def make(context: Context) -> Result:
    """All checks."""
    seeds = grids.seeds(20, context.quick)
    beyond, weak = _beyond(context, seeds), _weak(context, seeds)
    return Result(
        quantities=[
            *_same_solution(context),
            _small_steps(context),
            _symmetric(weak),
            *_seen(context, seeds),
            *(_constant(curve) for curve in beyond),
            *(_exponent(curve) for curve in beyond),
        ],
        rows=[row for curve in (*beyond, *weak) for row in curve.rows()],
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
    widths = [largest // 2**k for k in (6, 5, 4, 3, 2, 0)][: 4 if context.quick else None]  # four are fitted
    largest = 100 * max(grids.CLOSED_FORM.D)
    samples = [largest // 2**k for k in reversed(range(8))]
    fixed = 500_000 if context.quick else 100 * grids.SWEEP_D
    model_sweep = SweepSpec(INPUTS, "N", widths, fixed, seeds)
    return measure(
        context, [model_sweep, SweepSpec(INPUTS, "D", samples, 10 * grids.CLOSED_FORM.width, seeds)]
    )


def _weak(context: Context, seeds: int) -> list[Measured]:
    sizes = (16, 23, 32, 45, 64, 91, 128)
    return measure(context, [SweepSpec(WEAK, variable, sizes, 2000, min(seeds, 10)) for variable in "ND"])


def _same_solution(context: Context) -> list[Quantity]:
    """The closed form and Nesterov's method on the same data: the largest difference in loss."""
    quantities = []
    for features in ("linear", "relu"):
        tasks = grid(
            grids.SPARSE, N=[16, 64, 256], D=[320], seeds=2, features=features, estimator="raw", n_test=2000
        )
        records = context.run([*tasks, *(replace(task, solver=Nesterov()) for task in tasks)])
        closed, descended = records[: len(tasks)], records[len(tasks) :]
        name = f"loss by Nesterov over loss in closed form, {features} features, same data"
        found = range_of([d.loss / c.loss for c, d in zip(closed, descended, strict=True)])
        why = "range over six trials; the paper calls the two the same solution"
        quantities.append(Quantity(name, found, Printed(1.0, 0.0), 1.0, why, interval="range"))
    return quantities


def _small_steps(context: Context) -> Quantity:
    """Minibatch SGD against full-batch descent on the same data after the same number of small steps."""

    ratios = context.remember("small-steps", _ratio_of_small_steps, range(STEP_SEEDS))
    few, full = SGD(passes=PASSES, step=STEP), GradientDescent(steps=PASSES * 400, step=STEP)
    predicted = [predict(INPUTS, N=16_000, D=400, solver=solver).loss for solver in (few, full)]
    why = (
        f"{PASSES} passes at step {STEP}, D = 400, range over {STEP_SEEDS} seeds; the paper: 'agree closely'"
    )
    name = "loss by small-step SGD over loss by full-batch descent, same data"
    theory, printed = predicted[0] / predicted[1], Printed(1.0, 0.02)
    return Quantity(name, range_of(ratios), printed, theory, why, interval="range")


def _ratio_of_small_steps(seed: int) -> float:
    training = prepare_training(Task(inputs=INPUTS, N=16_000, D=400, seed=seed))
    return float(compare_small_steps(training, [PASSES], np.random.default_rng(seed), STEP)[0])


def _symmetric(weak: list[Measured]) -> Quantity:
    N, D = (fit_power({c.spec.name: c.sweep}, last=6).exponent for c in weak)
    down, up = np.hypot(N.best - N.low, D.high - D.best), np.hypot(N.high - N.best, D.best - D.low)
    difference = N.best - D.best
    return Quantity(
        f"alpha_N - alpha_D at alpha1 = {WEAK.alpha1:g}",
        Interval(difference - float(down), difference, difference + float(up)),
        Printed(0.0, 0.0),
        0.0,
        f"N-sweep {N}, D-sweep {D}; both {WEAK.exponents.alpha_N:g} in the limit",
    )


def _seen(context: Context, seeds: int) -> list[Quantity]:
    quantities = []
    for D in (1280, grids.SWEEP_D):
        records = context.run(grid(INPUTS, N=[10**6], D=[D], seeds=50 * seeds))  # milliseconds each
        found = student_interval([float(r.seen or 0) for r in records])
        printed, theory = Printed(asymptotic_seen(INPUTS, D), 1.0), INPUTS.expected_seen(D)
        why = "the paper's value is its asymptote, which is for large D, so ±1; theory: the exact sum"
        quantities.append(Quantity(f"K(D) at D = {D:,}", found, printed, theory, why))
    return quantities


def _constant(curve: Measured) -> Quantity:
    """The loss times the power of the size, where the sweep is nearest its limit: of N far below the peak."""
    size, law, exponents = curve.spec.variable, INPUTS.power_law(), INPUTS.exponents
    i, power, value = -1, exponents.alpha_D, law.data_constant
    if size == "N":
        i, power, value = 2, exponents.alpha_N, law.model_constant
    scale = curve.x[i] ** power
    best, half = curve.mean[i] * scale, curve.half_width[i] * scale
    why = f"the closed-form surface at this very point gives {surface(curve.spec)[i] * scale:.4f}"
    name = f"C_{size} = loss {size}^alpha_{size} at {size} = {curve.x[i]:,.0f}"
    return Quantity(name, Interval(best - half, best, best + half), theory=value, why=why)


def _exponent(curve: Measured) -> Quantity:
    """The exponent of the sweep, of N below the peak."""
    size = curve.spec.variable
    part = slice(0, 4 if size == "N" else None)
    x, losses = curve.x[part], surface(curve.spec)[part]
    closed = fit_power({size: Sweep(x=x, loss=losses)}).exponent.best
    return Quantity(
        f"alpha_{size} beyond the paper's sizes",
        fit_power({size: Sweep(x=x, seeds=curve.losses[part])}).exponent,
        theory=INPUTS.exponents.alpha_N if size == "N" else INPUTS.exponents.alpha_D,
        why=f"{size} = {x[0]:,.0f} to {x[-1]:,.0f}; the closed-form surface at the same sizes gives "
        f"{closed:.3f}",
    )


def _draw(figure: Figure, beyond: list[Measured], weak: list[Measured]) -> None:
    titles = ("beyond the paper's sizes", rf"$\alpha_1$ = {WEAK.alpha1:g}")
    for ax, curves, title in zip(figure.subplots(1, 2), (beyond, weak), titles, strict=True):
        for curve, colour in zip(curves, COLOURS, strict=False):
            curve.draw(ax, surface(curve.spec), colour, f"{curve.spec.variable}-sweep")
        ax.plot([], [], color=THEORY, linewidth=1.0, label="closed form")
        finish(ax, "$N$ or $D$", "population loss", title, columns=3)
