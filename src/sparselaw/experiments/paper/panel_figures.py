"""Figures 4, 5 and 6: four panels, sparse and dense, N-sweep and D-sweep, with joint and separate exponents.

The paper fits one exponent to the sparse N-, dense N- and dense D-sweeps together (separate intercepts), and
another to the sparse D-sweep. Here each has an interval from the scatter of the seeds. Beside them stand the
same fits made on the theory's surface: what it predicts at these very sizes, finite-size effects included.
For nonlinear features, whose exponents in the limit are open, that is the theory's number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.figure import Figure

from sparselaw.arrays import FloatArray, log_slope
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.grids import Measured, SweepSpec, measure, surface
from sparselaw.experiments.paper.item import Context, Printed, Quantity, Result, SmallTable
from sparselaw.experiments.paper.precision import loss_ratio, loss_ratio_relu
from sparselaw.features import FEATURES
from sparselaw.fitting import PowerFit, Sweep, fit_power
from sparselaw.interval import Z95, Interval
from sparselaw.plotting.style import COLOURS, GREY, THEORY, finish
from sparselaw.solvers import MinNorm, Nesterov, Solver

JOINT = ("sparse N-sweep", "dense N-sweep", "dense D-sweep")
ALONE = "sparse D-sweep"
RAW_SEEDS = 10  # enough to see the raw estimator's scatter
Curves = Mapping[str, Measured]


@dataclass(frozen=True, slots=True)
class FourPanels:
    """The settings of one such figure, and the three numbers the paper prints for it."""

    features: str
    solver: Solver
    grid: grids.Grid
    joint: Printed
    alone: Printed
    ratio: Printed


_4 = (Printed(1.5, 0.05), Printed(1.2, 0.05), Printed(1.25, 0.005))
_5 = (Printed(2.0, 0.05), Printed(1.11, 0.005), Printed(1.80, 0.005))
_6 = (Printed(1.25, 0.005), Printed(1.10, 0.005), Printed(1.13, 0.005))
FIGURE_4 = FourPanels("relu", Nesterov(), grids.NESTEROV, *_4)
FIGURE_5 = FourPanels("linear", MinNorm(), grids.CLOSED_FORM, *_5)
FIGURE_6 = FourPanels("relu", MinNorm(), grids.CLOSED_FORM, *_6)


def figure_4(context: Context) -> Result:
    """ReLU features trained with Nesterov's method."""
    return make(context, FIGURE_4)


def figure_5(context: Context) -> Result:
    """Linear features, with what TF32 does to the joint exponent."""
    result = make(context, FIGURE_5)
    joint, *others = result.quantities
    rounded = _in_tf32(context, joint)
    why = f"with TF32 features, as the paper computes them, it is {rounded.measured}; {joint.why}"
    return replace(result, quantities=[replace(joint, why=why), *others, rounded])


def figure_6(context: Context) -> Result:
    """ReLU features, with other readings of the paper's procedure."""
    return replace(make(context, FIGURE_6), tables=[readings(context, FIGURE_6)])


def make(context: Context, figure: FourPanels) -> Result:
    """The four sweeps measured, their exponents beside the paper's and the theory's."""
    specs, last = specs_of(figure, context.quick), figure.grid.last
    curves, raw = measured_by_name(context, specs), measured_by_name(context, raw_specs(figure, specs))
    surfaces = dict(zip(curves, context.map(surface, specs), strict=True))
    joint, alone = fitted(curves, JOINT, last), fitted(curves, [ALONE], last)
    seeds, calm = specs[0].seeds, specs[-1].seeds
    fewer = f" ({calm} of the dense D-sweep, which scatters least)" if calm < seeds else ""
    return Result(
        quantities=_quantities(figure, curves, surfaces, raw, joint.exponent, alone.exponent),
        rows=[row for curve in (*curves.values(), *raw.values()) for row in curve.rows()],
        caption=(
            f"{'ReLU' if figure.features == 'relu' else 'Linear'} features, {figure.solver.name}, "
            f"(alpha1, alpha2) = ({grids.ALPHA1:g}, {grids.ALPHA2:g}), M = {grids.DIMENSION:,}, "
            f"{seeds} seeds{fewer}. "
            f"N-sweeps at D = {grids.SWEEP_D:,}, D-sweeps at N = {figure.grid.width:,}. Dashed: fits to the "
            f"last {last} points, exponent {joint.exponent} shared by three panels, {alone.exponent} for the "
            "sparse D-sweep. Bars: 95 %."
        ),
        draw=lambda picture: _draw(picture, curves, surfaces, joint, alone, last),
        size=(8.0, 6.4),
    )


def specs_of(figure: FourPanels, quick: bool) -> list[SweepSpec]:
    """The four sweeps; with fewer seeds the one that hardly scatters."""
    specs, own = [], figure.grid
    for inputs in (grids.SPARSE, grids.DENSE):
        for variable, sizes, fixed in (("N", own.N, grids.SWEEP_D), ("D", own.D, own.width)):
            calm = (inputs, variable) == (grids.DENSE, "D")
            seeds = grids.seeds(min(own.seeds, own.calm_seeds) if calm else own.seeds, quick, figure.features)
            found = grids.sizes(sizes, variable, quick)
            specs.append(SweepSpec(inputs, variable, found, fixed, seeds, figure.features, figure.solver))
    return specs


def raw_specs(figure: FourPanels, specs: Sequence[SweepSpec]) -> list[SweepSpec]:
    """The paper's raw estimator (one teacher, one test set) at the fitted points of the sparse sweeps."""
    sparse = [spec for spec in specs if spec.inputs == grids.SPARSE]
    return [
        replace(
            spec,
            sizes=spec.sizes[-figure.grid.last :],
            estimator="raw",
            n_test=figure.grid.n_test,
            seeds=min(spec.seeds, RAW_SEEDS) if spec.seeds > grids.QUICK_SEEDS else 2,
        )
        for spec in sparse
    ]


def measured_by_name(context: Context, specs: Sequence[SweepSpec]) -> dict[str, Measured]:
    return {curve.spec.name: curve for curve in measure(context, specs)}


def fitted(curves: Curves, names: Sequence[str], last: int | None = None, shared: bool = True) -> PowerFit:
    """One exponent of the named sweeps together, or one for each."""
    return fit_power({name: curves[name].sweep for name in names}, last=last, shared=shared)


def _seed_noise(curves: Curves, names: Sequence[str], figure: FourPanels) -> float:
    """How far the paper's seeds move a slope that the named sweeps share: 95 %."""
    power = variance = 0.0
    for name in names:
        losses = curves[name].losses[-figure.grid.last :]
        x = np.log(curves[name].x[-figure.grid.last :])
        x = x - x.mean()
        relative = losses.var(axis=1, ddof=1) / figure.grid.seeds / losses.mean(axis=1) ** 2
        power, variance = power + float(x @ x), variance + float((x * x) @ relative)
    return Z95 * math.sqrt(variance) / power


def _quantities(
    figure: FourPanels,
    curves: Curves,
    surfaces: Mapping[str, FloatArray],
    raw: Curves,
    joint: Interval,
    alone: Interval,
) -> list[Quantity]:
    last = figure.grid.last
    noise = [_seed_noise({**curves, **raw}, names, figure) for names in (JOINT, [ALONE])]
    at_sizes = [
        fit_power({n: Sweep(x=curves[n].x, loss=surfaces[n]) for n in names}, last=last).exponent.best
        for names in (JOINT, [ALONE])
    ]
    limit_is_known = FEATURES[figure.features].has_surface
    exponents = grids.SPARSE.exponents
    theory = [exponents.alpha_N, exponents.alpha_D] if limit_is_known else at_sizes
    limit = f" ({theory[0]:.2f} in the limit of large sizes)" if limit_is_known else ""
    own = fitted(curves, JOINT, last, shared=False).exponents
    separate = ", ".join(f"{name} {own[name].best:.2f}" for name in JOINT)
    replay = fit_power({ALONE: Sweep(x=raw[ALONE].x, loss=raw[ALONE].mean)}).exponent.best
    why_joint = (
        f"the theory fitted at the same sizes gives {at_sizes[0]:.2f}{limit}; sweep by sweep: {separate}; "
        f"the paper's own estimator gives {fitted(raw, JOINT[:1]).exponent} for the first, and "
        f"its seeds alone move the shared exponent by ±{noise[0]:.2f}"
    )
    why_alone = (
        f"the theory fitted at the same sizes gives {at_sizes[1]:.3f}; the paper's own estimator gives "
        f"{replay:.3f}, and its seeds alone move the exponent by ±{noise[1]:.2f}"
    )
    best = joint.best / alone.best  # of independent exponents: relative half-widths in quadrature
    down = math.hypot(1.0 - joint.low / joint.best, alone.high / alone.best - 1.0)
    up = math.hypot(joint.high / joint.best - 1.0, 1.0 - alone.low / alone.best)
    ratio = Interval(best * (1.0 - down), best, best * (1.0 + up))
    noise.append(ratio.best * math.hypot(noise[0] / joint.best, noise[1] / alone.best))
    rows = (
        ("joint exponent (sparse N, dense N, dense D)", figure.joint, joint, theory[0], why_joint),
        ("exponent of the sparse D-sweep", figure.alone, alone, theory[1], why_alone),
        ("ratio of the two", figure.ratio, ratio, theory[0] / theory[1], ""),
    )
    return [
        Quantity(name, measured, replace(printed, below=half, above=half), value, why)
        for (name, printed, measured, value, why), half in zip(rows, noise, strict=True)
    ]


def _draw(
    picture: Figure,
    curves: Curves,
    surfaces: Mapping[str, FloatArray],
    joint: PowerFit,
    alone: PowerFit,
    last: int,
) -> None:
    axes = picture.subplots(2, 2).ravel()
    for ax, (name, curve), colour in zip(axes, curves.items(), COLOURS, strict=False):
        fit, spec, x = alone if name == ALONE else joint, curve.spec, curve.x[-last:]
        exponent = fit.exponents[name].best
        curve.draw(ax, surfaces[name], colour, "measured, 95 %")
        ax.plot([], [], color=THEORY, linewidth=1.0, label="theory")
        ax.plot(x, fit.A[name] * x**-exponent, "--", color=GREY, label=f"slope {exponent:.2f}")
        title = f"{name}, ${'D' if spec.variable == 'N' else 'N'}$ = {spec.fixed:,}"
        finish(ax, f"${spec.variable}$", "population loss", title, columns=3)


def _in_tf32(context: Context, joint: Quantity) -> Quantity:
    """The joint exponent with the dense D-sweep as TF32 features would have given it."""
    last = FIGURE_5.grid.last
    sizes = grids.sizes(FIGURE_5.grid.D, "D", context.quick)[-last:]
    models = grids.sizes(FIGURE_5.grid.N, "N", context.quick)[-last:]
    seeds = 2 if context.quick else 3
    pairs = [(D, seed) for D in sizes for seed in range(seeds)]
    ratios = np.reshape(context.remember("tf32", loss_ratio, pairs), (len(sizes), seeds))
    same = np.ones((len(models), seeds))
    axes = dict(zip(JOINT, (models, models, sizes), strict=True))
    assert joint.measured is not None
    moved, shifts = _shifted(joint.measured, axes, dict(zip(JOINT, (same, same, ratios), strict=True)))
    return Quantity(
        "joint exponent with TF32 features, as the paper computes them",
        moved,
        joint.printed,
        interval="95 % and range",
        why=f"TF32 multiplies the dense loss by {ratios[0].mean():.2f} at D = {sizes[0]:,} and by "
        f"{ratios[-1].mean():.2f} at D = {sizes[-1]:,}, which moves the joint exponent by "
        f"{moved.best - joint.measured.best:+.2f} (range over {seeds} data sets "
        f"{np.ptp(shifts[TOGETHER]):.2f}, added to the interval)",
    )


def _shifted(
    was: Interval, sizes: Mapping[str, Sequence[int]], ratios: Mapping[str, FloatArray]
) -> tuple[Interval, dict[str, FloatArray]]:
    """The joint exponent where losses are multiplied by ``ratios`` (sizes, seeds); every slope's shift.

    In a joint fit each sweep's slope counts by its sum of squares about the mean of log x. The range over
    the seeds is added to the interval.
    """
    slopes = {name: log_slope(sizes[name], ratios[name].T) for name in JOINT}
    shifts = {name: -slope for name, (slope, _) in slopes.items()}
    squares = [square for _, square in slopes.values()]
    shifts[TOGETHER] = np.average(np.array(list(shifts.values())), axis=0, weights=squares)
    best, reach = float(shifts[TOGETHER].mean()), float(np.ptp(shifts[TOGETHER]))
    return Interval(was.low + best - reach, was.best + best, was.high + best + reach), shifts


# Figure 6: what the joint exponent would be under other readings of the paper's procedure, as a table.
#
# The paper prints 1.25. Each row changes one thing and fits again. Where few seeds are run, they are compared
# with the same seeds of the plain reading, and the shift is added to its exponent.

LOOSE = 3e-4  # relative tolerance of the pseudoinverse, against 1e-10
LESS_DATA = 5_000  # of the N-sweeps, against 50,000
PAIRED_SEEDS, LESS_DATA_SEEDS = 2, 10
TOGETHER = "joint exponent"
COLUMNS = ("reading", *JOINT, TOGETHER)


def readings(context: Context, figure: FourPanels) -> SmallTable:
    """The table; the trials of the figure itself are taken from the store."""
    last, specs = figure.grid.last, specs_of(figure, context.quick)
    curves = measured_by_name(context, specs)
    raw = measured_by_name(context, raw_specs(figure, specs))[JOINT[0]]
    few = [
        replace(s, sizes=s.sizes[-last:], fixed=LESS_DATA, seeds=min(s.seeds, LESS_DATA_SEEDS))
        for s in specs
        if s.variable == "N"
    ]
    less, one = f"N-sweeps at D = {LESS_DATA:,} instead of", "one teacher and one test set, sparse N-sweep"
    tried: dict[str, tuple[Curves, int | None]] = {
        f"as the paper says: the last {last} points": (curves, last),
        f"the last {last - 2} points": (curves, last - 2),
        f"the last {last + 2} points": (curves, last + 2),
        "all points": (curves, None),
        one: ({**curves, JOINT[0]: raw}, last),
        f"{less} {grids.SWEEP_D:,}": ({**curves, **measured_by_name(context, few)}, last),
    }
    rows = []
    for words, (found, count) in tried.items():
        own = fitted(found, JOINT, count, shared=False).exponents
        exponents = [f"{own[name].best:.2f}" for name in JOINT]
        rows.append([words, *exponents, str(fitted(found, JOINT, count).exponent)])
    rows += [_one_seed(curves, last), *_paired(context, curves, last)]
    words = f"Readings of the joint exponent that were tried; the paper prints {figure.joint.value:g}"
    return SmallTable(title=words, columns=COLUMNS, rows=rows)


def _one_seed(curves: Curves, last: int) -> list[str]:
    """The exponents of each seed by itself: median and range."""
    seeds = range(min(curves[name].losses.shape[1] for name in JOINT))

    def words(names: Sequence[str], digits: int) -> str:
        sweeps = [{n: Sweep(x=curves[n].x, loss=curves[n].losses[:, seed]) for n in names} for seed in seeds]
        found = [fit_power(sweep, last=last).exponent.best for sweep in sweeps]
        return f"{np.median(found):.{digits}f} ({min(found):.{digits}f} to {max(found):.{digits}f})"

    first = f"one seed at a time, {len(seeds)} of them: median and range"
    return [first, *(words([name], 2) for name in JOINT), words(JOINT, 3)]


def _paired(context: Context, curves: Curves, last: int) -> list[list[str]]:
    """Both ends of each sweep with a looser tolerance, and in single precision with TF32 features."""
    ends = {n: list(curves[n].spec.sizes[-last :: last - 1]) for n in JOINT}
    specs = [
        replace(curves[n].spec, sizes=ends[n], solver=MinNorm(rtol=LOOSE), seeds=PAIRED_SEEDS) for n in JOINT
    ]
    cut = measured_by_name(context, specs)
    loose = {n: cut[n].losses / curves[n].losses[-last :: last - 1, :PAIRED_SEEDS] for n in JOINT}
    settings = [(n, size, seed) for n in JOINT for size in ends[n] for seed in range(PAIRED_SEEDS)]
    ratios = context.remember("relu-single-precision", loss_ratio_relu, settings)
    single = np.reshape(ratios, (len(JOINT), 2, PAIRED_SEEDS))
    joint, own = fitted(curves, JOINT, last).exponent, fitted(curves, JOINT, last, shared=False).exponents
    rows = []
    for words, paired in (
        (f"rtol = {LOOSE:g} instead of 1e-10", loose),
        ("float32 and TF32 features, pseudoinverse in float32", dict(zip(JOINT, single, strict=True))),
    ):
        moved, shifts = _shifted(joint, ends, paired)
        slopes = [f"{own[n].best + shifts[n].mean():.2f} ({shifts[n].mean():+.3f})" for n in JOINT]
        rows.append([words, *slopes, str(moved)])
    return rows
