"""Beyond the paper: what becomes of the exponent of D as the number of passes grows (its first footnote).

The paper conjectures a transition between SGD with few passes and training to the end. With N infinite the
loss is D^-alpha_D Phi(pi), pi = eps P D^-x, x = (alpha2+1)/(alpha1+1): a smooth crossover. Simulated runs are
put on the curve, their local exponents beside it, and runs on repeated data beside runs on fresh ones.
"""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from sparselaw.arrays import log_slope
from sparselaw.experiments.dynamics import sgd_loss
from sparselaw.experiments.paper import grids
from sparselaw.experiments.paper.item import Context, Quantity, Result, Row, bars
from sparselaw.inputs import SparseInputs
from sparselaw.interval import Interval, student_interval
from sparselaw.plotting.style import COLOURS, THEORY, finish
from sparselaw.predicting import predict
from sparselaw.solvers import SGD
from sparselaw.theory.training.passes import crossover, few_pass_exponent, local_exponent

INPUTS = SparseInputs(alpha1=grids.ALPHA1, alpha2=grids.ALPHA2)
STEP = 0.2
SAMPLES = (200, 800, 3200)
PASSES = (1, 8, 64, 512, 2048)
SEEDS = 40
# N and visits V at their one-pass optimum for C = N V = 1e6, step 0.5
REPEATED = {(1.0, 0.3): (59, 16_896), (2.0, 0.0): (38, 26_112)}
REPEATS = (1, 4, 16, 64, 256)
LOWEST_SHARE = 0.01  # of a mean: few seeds of heavy-tailed losses have intervals that reach below zero


def make(context: Context) -> Result:
    """Runs on the crossover's curve, and runs on repeated data beside runs on fresh ones."""
    samples, passes = (SAMPLES[:2], PASSES[:4]) if context.quick else (SAMPLES, PASSES)
    repeats = REPEATS[:3] if context.quick else REPEATS
    settings = [(INPUTS, math.inf, D, SGD(passes=P, step=STEP)) for D in samples for P in passes]
    settings += [
        (SparseInputs(alpha1=a, alpha2=b), N, visits // P, SGD(passes=P, step=0.5))
        for (a, b), (N, visits) in REPEATED.items()
        for P in repeats
    ]
    seeds = range(6 if context.quick else SEEDS)
    losses = iter(context.remember("passes", _loss, [(*setting, i) for setting in settings for i in seeds]))
    rows = [_row(*setting, [next(losses) for _ in seeds]) for setting in settings]
    curve, repeated = rows[: len(samples) * len(passes)], rows[len(samples) * len(passes) :]
    return Result(
        quantities=[*(_exponent(curve, count) for count in passes), *_ratios(repeated)],
        rows=rows,
        caption=(
            f"SGD with N infinite at ({INPUTS.alpha1:g}, {INPUTS.alpha2:g}), step {STEP:g}, batch 1. "
            "Left: loss D^alpha_D against pi = eps P D^-x, points simulated (95 %), coloured lines theory "
            "at that D, black Phi. Right: the exponent of D at a fixed number of passes."
        ),
        draw=lambda figure: _draw(figure, curve),
        size=(9.0, 4.2),
        notes=[
            "The footnote's phase transition is a smooth crossover about three decades wide, from "
            f"(a-1)/a = {few_pass_exponent(INPUTS):.3f} to (a-1)/(alpha1+1) = "
            f"{INPUTS.exponents.alpha_D:.3f}; after few passes the exponent is that of dense inputs with the "
            "same variances."
        ],
    )


def _loss(run: tuple[SparseInputs, float, int, SGD, int]) -> float:
    inputs, N, D, solver, seed = run
    return sgd_loss(inputs, N, D, solver, seed=seed)


def _row(inputs: SparseInputs, N: float, D: int, solver: SGD, losses: list[float]) -> Row:
    """Simulated mean with its interval, beside the theory."""
    found, point = student_interval(losses), predict(inputs, N=N, D=D, solver=solver)
    row: Row = {"alpha1": inputs.alpha1, "alpha2": inputs.alpha2, "N": str(N), "D": D}
    row |= {"passes": solver.passes, "step": solver.step}
    row |= {"loss": found.best, "low": found.low, "high": found.high}
    row |= {"theory": point.loss, "pi": point.pi, "kappa": point.kappa, "caution": point.caution}
    return row | {"part": "crossover" if math.isinf(N) else "repeated data"}


def _exponent(curve: list[Row], count: int) -> Quantity:
    """-dlog loss/dlog D after so many passes; the ends of the interval from those of the means."""
    rows = [row for row in curve if row["passes"] == count]
    D = [row["D"] for row in rows]
    x = np.log(D) - np.mean(np.log(D))
    best, theory = (-float(log_slope(D, [row[name] for row in rows])[0]) for name in ("loss", "theory"))
    half = float(np.linalg.norm(x * [_log_half(row) for row in rows]) / (x @ x))
    name = f"exponent of D after {count} passes" if count > 1 else "exponent of D after one pass"
    why = f"D = {D[0]:,} to {D[-1]:,}, N infinite, step {STEP:g}"
    return Quantity(name, Interval(best - half, best, best + half), theory=theory, why=why)


def _log_half(row: Row) -> float:
    """Half of the interval of a mean loss, in its logarithm."""
    return 0.5 * math.log(row["high"] / max(row["low"], LOWEST_SHARE * row["loss"]))


def _ratios(rows: list[Row]) -> list[Quantity]:
    """The same number of visits to fewer and fewer samples, over that of fresh ones."""
    found = []
    for row in rows:
        if row["passes"] == 1:
            fresh = row
            continue
        half = math.hypot(_log_half(row), _log_half(fresh))
        best = row["loss"] / fresh["loss"]
        measured = Interval(best * math.exp(-half), best, best * math.exp(half))
        at = f"{row['passes']} passes at ({row['alpha1']:g}, {row['alpha2']:g})"
        why = f"N = {row['N']}, {row['D']:,} unique samples, {fresh['D']:,} visits, step 0.5"
        theory = row["theory"] / fresh["theory"]
        found.append(Quantity(f"loss over that of fresh data, {at}", measured, theory=theory, why=why))
    return found


def _draw(figure: Figure, curve: list[Row]) -> None:
    left, right = figure.subplots(1, 2)
    alpha_D, kappa = INPUTS.exponents.alpha_D, curve[0]["kappa"]
    pi = np.geomspace(0.3 * min(row["pi"] for row in curve), 3.0 * max(row["pi"] for row in curve), 60)
    phi = np.array([crossover(INPUTS, x) for x in pi])
    left.plot(pi, phi, "--", color=THEORY, label=r"$\Phi$: no minibatch noise")
    left.plot(pi, phi / (1 - kappa), ":", color=THEORY, label=r"$\Phi/(1-\kappa)$")
    for colour, D in zip(COLOURS, sorted({row["D"] for row in curve}), strict=False):
        rows = [row for row in curve if row["D"] == D]
        x, scale = [row["pi"] for row in rows], D**alpha_D
        found = [Interval(*(scale * row[end] for end in ("low", "loss", "high"))) for row in rows]
        best = [interval.best for interval in found]
        left.errorbar(x, best, bars(found), fmt="o", ms=4, capsize=2, color=colour, label=f"$D$ = {D:,}")
        left.plot(x, [scale * row["theory"] for row in rows], "-", lw=0.8, color=colour)
    finish(left, r"$\pi = \epsilon P D^{-x}$", r"loss $\cdot\,D^{\alpha_D}$")
    right.plot(pi, [local_exponent(INPUTS, x) for x in pi], color=THEORY, label="theory, $D$ large")
    for level, word in ((few_pass_exponent(INPUTS), "few passes"), (alpha_D, "to the end")):
        right.axhline(level, ls=":", color="0.5")
        right.annotate(word, (pi[-1], level), va="bottom", ha="right", fontsize="small")
    for count in sorted({row["passes"] for row in curve}):
        measured = _exponent(curve, count).measured
        assert measured is not None
        middle = float(np.exp(np.mean([np.log(row["pi"]) for row in curve if row["passes"] == count])))
        right.errorbar(middle, measured.best, bars([measured]), fmt="o", ms=4, capsize=2, color=COLOURS[0])
    finish(right, r"$\pi$", "exponent of $D$", log="x")
