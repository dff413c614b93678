"""Figures 4, 5 and 6: four panels, sparse and dense, N-sweep and D-sweep, with joint and separate exponents.

The paper fits one exponent to the sparse N-, dense N- and dense D-sweeps together (separate intercepts), and
another to the sparse D-sweep. Here each has an interval from a bootstrap over seeds. Beside them stand the
same fits made on the theory's surface: what it predicts at these very sizes, finite-size effects included.
For nonlinear features, whose exponents in the limit are open, that is the theory's number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparselaw.arrays import FloatArray
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.grids import Measured, SweepSpec, measure
from sparselaw.experiments.paper.item import Context, Printed, Quantity, Result
from sparselaw.features import FEATURES
from sparselaw.fitting import PowerFit, Sweep, fit_power
from sparselaw.inputs import Inputs
from sparselaw.interval import Z95, Interval
from sparselaw.plotting.style import COLOURS, GREY, THEORY
from sparselaw.predicting import predict
from sparselaw.solvers import Solver

JOINT = ("sparse N-sweep", "dense N-sweep", "dense D-sweep")
ALONE = "sparse D-sweep"
Surfaces = dict[str, FloatArray]  # closed-form losses along each sweep, by its name
RAW_SEEDS = 10  # enough to see the raw estimator's scatter


@dataclass(frozen=True, slots=True, kw_only=True)
class FourPanels:
    """The settings of one such figure, and the three numbers the paper prints for it."""

    features: str
    solver: Solver
    grid: grids.Grid
    joint: Printed
    alone: Printed
    ratio: Printed


def make(context: Context, figure: FourPanels) -> Result:
    specs = specs_of(figure, context.quick)
    curves = {curve.spec.name: curve for curve in measure(context, specs)}
    raw = paper_procedure(context, figure, specs)
    surfaces = _surfaces(context, specs)
    joint, alone = _exponents(curves, figure.grid.last)
    noise = {name: _seed_noise(raw.get(name, curve), figure) for name, curve in curves.items()}
    quantities = _quantities(figure, curves, surfaces, raw, joint.exponent, alone.exponent, noise)
    rows = [row for curve in (*curves.values(), *raw.values()) for row in curve.rows()]
    return Result(
        quantities=quantities,
        rows=rows,
        caption=_caption(figure, joint.exponent, alone.exponent, specs),
        draw=lambda picture: _draw(picture, figure, curves, surfaces, joint, alone),
        size=(8.0, 6.4),
    )


def specs_of(figure: FourPanels, quick: bool) -> list[SweepSpec]:
    """The four sweeps."""
    return [
        SweepSpec(
            inputs=inputs,
            variable=variable,
            sizes=grids.sizes(figure.grid.N if variable == "N" else figure.grid.D, variable, quick),
            fixed=grids.SWEEP_D if variable == "N" else figure.grid.width,
            features=figure.features,
            solver=figure.solver,
            seeds=grids.seeds(_seeds(figure.grid, inputs, variable), quick, figure.features),
        )
        for inputs in (grids.SPARSE, grids.DENSE)
        for variable in ("N", "D")
    ]


def _seeds(grid: grids.Grid, inputs: Inputs, variable: str) -> int:
    """As many as the paper, but for the sweep that hardly scatters."""
    return min(grid.seeds, grid.calm_seeds) if (inputs, variable) == (grids.DENSE, "D") else grid.seeds


def paper_procedure(context: Context, figure: FourPanels, specs: Sequence[SweepSpec]) -> dict[str, Measured]:
    """The paper's raw estimator (one teacher, one test set) at the fitted points of the sparse sweeps."""
    raw = [
        replace(
            spec,
            sizes=spec.sizes[-figure.grid.last :],
            estimator="raw",
            n_test=figure.grid.n_test,
            seeds=min(spec.seeds, RAW_SEEDS) if spec.seeds > grids.QUICK_SEEDS else 2,
        )
        for spec in specs
        if spec.inputs == grids.SPARSE
    ]
    return {curve.spec.name: curve for curve in measure(context, raw)}


def _exponents(curves: dict[str, Measured], last: int) -> tuple[PowerFit, PowerFit]:
    joint = fit_power({name: Sweep(x=curves[name].x, seeds=curves[name].losses) for name in JOINT}, last=last)
    alone = fit_power({ALONE: Sweep(x=curves[ALONE].x, seeds=curves[ALONE].losses)}, last=last)
    return joint, alone


def _on_surface(curves: dict[str, Measured], surfaces: Surfaces, names: Sequence[str], last: int) -> float:
    """The exponent of the same fit through the closed-form surface: finite sizes, no noise."""
    sweeps = {name: Sweep(x=curves[name].x, loss=surfaces[name]) for name in names}
    return fit_power(sweeps, last=last).exponent.best


def _surfaces(context: Context, specs: Sequence[SweepSpec]) -> Surfaces:
    """The closed-form losses of every sweep; the sweeps of one inputs share their tables, and a worker."""
    shared = [[spec for spec in specs if spec.inputs == inputs] for inputs in (grids.SPARSE, grids.DENSE)]
    return dict(pair for pairs in context.map(_named_surfaces, shared) for pair in pairs)


def _named_surfaces(specs: Sequence[SweepSpec]) -> list[tuple[str, FloatArray]]:
    return [(spec.name, surface(spec)) for spec in specs]


def surface(spec: SweepSpec) -> FloatArray:
    """The closed-form loss along a sweep; of nonlinear features, that of readouts trained to the end."""
    sizes = [(n, spec.fixed) if spec.variable == "N" else (spec.fixed, n) for n in spec.sizes]
    solver = spec.solver if FEATURES[spec.features].has_surface else None
    return np.array(
        [predict(spec.inputs, N=N, D=D, solver=solver, features=spec.features).loss for N, D in sizes]
    )


def _seed_noise(curve: Measured, figure: FourPanels) -> tuple[float, float]:
    """Sum of squares of log x about its mean, and the variance of the slope's numerator (paper's seeds)."""
    x = np.log(curve.x[-figure.grid.last :])
    x = x - x.mean()
    losses = curve.losses[-figure.grid.last :]
    relative = losses.var(axis=1, ddof=1) / figure.grid.seeds / losses.mean(axis=1) ** 2
    return float(x @ x), float((x * x) @ relative)


def _half_width(noise: dict[str, tuple[float, float]], names: Sequence[str]) -> float:
    """95 % half-width of a shared slope over the named sweeps."""
    power = sum(noise[name][0] for name in names)
    return Z95 * math.sqrt(sum(noise[name][1] for name in names)) / power


def _quantities(
    figure: FourPanels,
    curves: dict[str, Measured],
    surfaces: Surfaces,
    raw: dict[str, Measured],
    joint: Interval,
    alone: Interval,
    noise: dict[str, tuple[float, float]],
) -> list[Quantity]:
    noisy_joint, noisy_alone = _half_width(noise, JOINT), _half_width(noise, [ALONE])
    ratio = _ratio(joint, alone)
    noisy_ratio = ratio.best * math.hypot(noisy_joint / joint.best, noisy_alone / alone.best)
    exponents = grids.SPARSE.exponents
    on_surface = [_on_surface(curves, surfaces, names, figure.grid.last) for names in (JOINT, [ALONE])]
    limit_is_known = FEATURES[figure.features].has_surface
    theory = [exponents.alpha_N, exponents.alpha_D] if limit_is_known else on_surface
    replay = fit_power({ALONE: Sweep(x=raw[ALONE].x, loss=raw[ALONE].mean)}).exponent.best
    raw_N = fit_power({JOINT[0]: Sweep(x=raw[JOINT[0]].x, seeds=raw[JOINT[0]].losses)}).exponent
    limit = f" ({theory[0]:.2f} in the limit of large sizes)" if limit_is_known else ""
    why_joint = (
        f"the theory fitted at the same sizes gives {on_surface[0]:.2f}{limit}; sweep by sweep: "
        f"{_separate(curves, figure.grid.last)}; the paper's own estimator gives {raw_N} for the first, and "
        f"its seeds alone move the shared exponent by ±{noisy_joint:.2f}"
    )
    why_alone = (
        f"the theory fitted at the same sizes gives {on_surface[1]:.3f}; the paper's own estimator gives "
        f"{replay:.3f}, and its seeds alone move the exponent by ±{noisy_alone:.2f}"
    )
    triples = (
        (
            "joint exponent (sparse N, dense N, dense D)",
            figure.joint,
            joint,
            theory[0],
            noisy_joint,
            why_joint,
        ),
        ("exponent of the sparse D-sweep", figure.alone, alone, theory[1], noisy_alone, why_alone),
        ("ratio of the two", figure.ratio, ratio, theory[0] / theory[1], noisy_ratio, ""),
    )
    return [
        Quantity(name, measured, replace(printed, below=half_width, above=half_width), value, why)
        for name, printed, measured, value, half_width, why in triples
    ]


def _ratio(joint: Interval, alone: Interval) -> Interval:
    """The quotient of two independent exponents, relative half-widths in quadrature."""
    best = joint.best / alone.best
    down = math.hypot(1.0 - joint.low / joint.best, alone.high / alone.best - 1.0)
    up = math.hypot(joint.high / joint.best - 1.0, 1.0 - alone.low / alone.best)
    return Interval(best * (1.0 - down), best, best * (1.0 + up))


def _separate(curves: dict[str, Measured], last: int) -> str:
    own = fit_power({n: Sweep(x=curves[n].x, seeds=curves[n].losses) for n in JOINT}, last=last, shared=False)
    return ", ".join(f"{name} {own.exponents[name].best:.2f}" for name in JOINT)


def _caption(figure: FourPanels, joint: Interval, alone: Interval, specs: Sequence[SweepSpec]) -> str:
    seeds, calm = specs[0].seeds, specs[-1].seeds
    fewer = f" ({calm} of the dense D-sweep, which scatters least)" if calm < seeds else ""
    return (
        f"{'ReLU' if figure.features == 'relu' else 'Linear'} features, {figure.solver.name}, "
        f"(alpha1, alpha2) = ({grids.ALPHA1:g}, {grids.ALPHA2:g}), M = {grids.DIMENSION:,}, "
        f"{seeds} seeds{fewer}. "
        f"N-sweeps at D = {grids.SWEEP_D:,}, D-sweeps at N = {figure.grid.width:,}. Dashed: fits to the "
        f"last {figure.grid.last} points, exponent {joint} shared by three panels, {alone} for the sparse "
        "D-sweep. Bars: 95 %."
    )


def _draw(
    picture: Figure,
    figure: FourPanels,
    curves: dict[str, Measured],
    surfaces: Surfaces,
    joint: PowerFit,
    alone: PowerFit,
) -> None:
    axes = picture.subplots(2, 2, squeeze=False)
    names = ("sparse N-sweep", "sparse D-sweep", "dense N-sweep", "dense D-sweep")
    for ax, name, colour in zip(axes.ravel(), names, COLOURS, strict=False):
        fit = alone if name == ALONE else joint
        fitted = (fit.exponents[name].best, fit.A[name])
        _panel(ax, curves[name], surfaces[name], fitted, figure, colour)


def _panel(
    ax: Axes,
    curve: Measured,
    theory: FloatArray,
    fit: tuple[float, float],
    figure: FourPanels,
    colour: str,
) -> None:
    (exponent, A), spec = fit, curve.spec
    ax.errorbar(
        curve.x,
        curve.mean,
        yerr=curve.half_width,
        fmt="o",
        color=colour,
        capsize=2,
        label="measured, 95 %",
    )
    ax.plot(curve.x, theory, color=THEORY, linewidth=1.0, label="theory")
    fitted = curve.x[-figure.grid.last :]
    ax.plot(fitted, A * fitted**-exponent, "--", color=GREY, label=f"slope {exponent:.2f}")
    ax.set(xscale="log", yscale="log", xlabel=spec.variable, ylabel="population loss")
    fixed = "D" if spec.variable == "N" else "N"
    ax.set_title(f"{spec.name}, {fixed} = {spec.fixed:,}")
    ax.legend()
