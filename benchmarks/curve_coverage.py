"""Claim: where the end of a curve is known, 90 to 98 % of the ends lie inside the 95 % interval.

    python benchmarks/curve_coverage.py [--law 100] [--sgd 14] \\
        | python docs/quote_results.py --keep curve-coverage,curve-better

Curves of the law itself, drawn from its priors with correlated noise; and SGD as this package runs it, on
sparse and on Gaussian features of power-law variances with noisy labels, where p = 1 and m = 0 and the priors
of language models are wrong. Three schedules of each draw are fitted. Predicted is how a run of a fourth one
ends; or, running, how the first ends of which half is seen, with the other two beside it.

The second table asks which of two schedules of as many steps ends lower: after a fit to three runs, each of
the others against each of the fitted. Curves of the law itself, and every three of the nine real ones.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import curve_folds
import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import sparselaw as sl
from oracles.made_curves import law_curves
from sparselaw.curves.ends import compared
from sparselaw.curves.logs import make_logs
from sparselaw.curves.model import Asked, Model, fit_model, student
from sparselaw.curves.schedules import written_schedule
from sparselaw.solvers.sgd import one_pass

LAW = ("constant:24000", "cosine:24000", "wsd:20000,24000", "cosine:48000", "linear:24000,end=0",
       "step:8000,16000", "constant:48000")  # fmt: skip
SGD = ("constant:4000", "cosine:4000", "wsd:3200,4000", "cosine:8000", "linear:4000,end=0", "step:2000,4000")
BATCH, LOGGED, WARMUP, COORDINATES = 16, 20, 200, 200
LEVELS = (0.5, 0.8, 0.95)
SETTINGS: dict[str, tuple[sl.inputs.Inputs, float, float]] = {
    "SGD, sparse (0.2, 0), noise 1": (sl.SparseInputs(alpha1=0.2, alpha2=0.0), 1.0, 0.2),
    "SGD, sparse (-0.3, 0), noise 0.3": (sl.SparseInputs(alpha1=-0.3, alpha2=0.0), 0.3, 0.2),
    "SGD, Gaussian of spectrum 1.7, noise 3": (sl.DenseInputs(alpha=0.7), 3.0, 0.1),
}
Make = Callable[[int, Sequence[str]], list[tuple[Any, ...]]]


def simulated(
    inputs: Any, noise: float, peak: float, seed: int, shapes: Sequence[str]
) -> list[tuple[Any, ...]]:
    """(step, rate, loss, last loss) of one run of SGD for each shape: the package's loop on fresh samples.

    The first 200 coordinates of the inputs, a teacher of ones, labels with noise. The population loss has
    the noise of the labels in it, so that it has a floor.
    """
    j = np.arange(1.0, COORDINATES + 1.0)
    variances, found = inputs.variances(j), []
    for i, text in enumerate(shapes):
        rng = np.random.Generator(np.random.PCG64([seed, i]))
        schedule = written_schedule(text, peak=peak, warmup=WARMUP)
        step = np.arange(LOGGED, schedule.last + 1, LOGGED)
        theta, losses, rows = np.zeros((1, COORDINATES)), [], np.arange(LOGGED * BATCH)
        still = np.zeros_like(theta)  # no momentum
        for end in step:
            x = rng.standard_normal((rows.size, COORDINATES)) * np.sqrt(variances)
            if inputs.kind == "sparse":
                active = rng.random(x.shape) < inputs.probabilities(j)
                x = active * np.sign(x) * inputs.amplitudes(j)
            y = x.sum(axis=1, keepdims=True) + np.sqrt(noise) * rng.standard_normal((rows.size, 1))
            rate = float(schedule.tau(end) - schedule.tau(end - LOGGED)) / LOGGED
            one_pass(theta, still, x, y, rows, rows, rate, BATCH, 0.0, np.inf)
            losses.append(float(variances @ (theta[0] - 1.0) ** 2 + noise))
        found.append((step, schedule.rate(step), np.array(losses), losses[-1]))
    return found


def scores(model: Model, asked: Asked, truth: float) -> tuple[float, float, float]:
    """Relative error, standard error, and the error over it."""
    mean, cov = model.predict([asked])
    error, sd = float(mean[0] - np.log(truth)), float(np.sqrt(cov[0, 0]))
    return error, sd, abs(error) / sd


def ends(
    make: Make, shapes: Sequence[str], draws: int, warmup: float
) -> tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]]:
    """The fourth of four shapes after a fit to three; and the first of them, of which half is seen."""
    other, running = [], []
    for seed in range(draws):
        order = np.random.Generator(np.random.PCG64([9, seed])).permutation(len(shapes))[:4]
        chosen = [shapes[i] for i in order]
        curves = make(seed, chosen)
        logs = make_logs([c[:3] for c in curves[:3]], warmup=warmup)[0]
        schedule = written_schedule(chosen[3], peak=logs[0].schedule.peak, warmup=warmup)
        other.append(scores(fit_model(logs), Asked(schedule=schedule, N=1.0), curves[3][3]))
        half = fit_model([logs[0].until(0.5 * logs[0].last), *logs[1:]])
        running.append(scores(half, half.end(0), curves[0][3]))
    return other, running


def row(name: str, found: Sequence[tuple[float, float, float]]) -> str:
    error, sd, z = (np.array(v) for v in zip(*found, strict=True))
    inside = " | ".join(f"{100 * np.mean(z <= student(level)):.0f} %" for level in LEVELS)
    return (
        f"| {name} | {len(found)} | {inside} | {100 * np.median(np.abs(error)):.2f} % "
        f"| {100 * np.abs(error).max():.2f} % | {100 * student() * np.median(sd):.2f} % |"
    )


PAIRED = ("constant:24000", "cosine:24000", "wsd:20000,24000", "linear:24000,end=0", "cosine:24000,end=0",
          "wsd:18000,24000,end=0", "wsd:12000,24000")  # fmt: skip
BINS = (0.5, 0.6, 0.75, 0.9, 0.97, 1.0 + 1e-9)
Verdict = tuple[float, bool, bool]  # P(better) of what is called better, was it, is the difference inside


def verdicts(model: Model, asked: Sequence[Asked], truth: Sequence[float]) -> list[Verdict]:
    """Each schedule asked for against each run of the fit that has about as many steps."""
    runs, found = range(len(model.logs)), []
    mean, cov = model.predict([*asked, *(model.end(i) for i in runs)])
    for i, j in itertools.product(range(len(asked)), runs):
        if abs(asked[i].schedule.last / model.logs[j].last - 1.0) < 0.05:
            pair = [i, len(asked) + j]
            difference, better = compared(mean[pair], cov[np.ix_(pair, pair)])
            true = truth[pair[0]] - truth[pair[1]]
            lower = true < 0.0 if better >= 0.5 else true > 0.0
            found.append((max(better, 1.0 - better), lower, difference.contains(true)))
    return found


def law_verdicts(draws: int) -> list[Verdict]:
    found = []
    for seed in range(draws):
        order = np.random.Generator(np.random.PCG64([8, seed])).permutation(len(PAIRED))[:6]
        shapes = [PAIRED[i] for i in order]
        curves = law_curves(seed, shapes)
        model = fit_model(make_logs([c[:3] for c in curves[:3]], warmup=1_000)[0])
        peak = model.logs[0].schedule.peak
        asked = [Asked(schedule=written_schedule(s, peak=peak, warmup=1_000), N=1.0) for s in shapes[3:]]
        found += verdicts(model, asked, [c[3] for c in [*curves[3:], *curves[:3]]])
    return found


def real_verdicts() -> list[Verdict]:
    found = []
    for curves in curve_folds.read().values():
        for known, hidden in curve_folds.choices(curves):
            model = fit_model(curve_folds.own_points(known))
            asked = [Asked(schedule=log.schedule, N=log.size) for log in hidden]
            found += verdicts(model, asked, [float(log.loss[-1]) for log in [*hidden, *known]])
    return found


def better_rows(name: str, found: Sequence[Verdict]) -> list[str]:
    said, came, inside = (np.array(v, float) for v in zip(*found, strict=True))
    rows = []
    for low, high in itertools.pairwise(BINS):
        of = (said >= low) & (said < high)
        if of.any():
            share = f"{np.mean(said[of]):.2f} | {np.mean(came[of]):.2f} | {100 * np.mean(inside[of]):.0f} %"
            rows.append(f"| {name}, P {low:g} to {min(high, 1):.2g} | {of.sum()} | {share} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--law", type=int, default=100)
    parser.add_argument("--sgd", type=int, default=14)
    given = parser.parse_args()
    print("| curves | draws | inside 50 % | 80 % | 95 % | median error | worst | median half width |")
    print("|---|---|---|---|---|---|---|---|")
    kinds: dict[str, tuple[Make, Sequence[str], int, float]] = {
        "the law itself": (law_curves, LAW, given.law, 1_000)
    }
    for name, setting in SETTINGS.items():
        kinds[name] = (lambda seed, shapes, s=setting: simulated(*s, seed, shapes), SGD, given.sgd, WARMUP)  # type: ignore[misc]
    every: tuple[list[Any], list[Any]] = [], []
    for name, how in kinds.items():
        other, running = ends(*how)
        print(row(f"{name}: another schedule", other), flush=True)
        print(row(f"{name}: running, half seen", running), flush=True)
        if name in SETTINGS:
            every[0].extend(other)
            every[1].extend(running)
    print(row("all of SGD: another schedule", every[0]))
    print(row("all of SGD: running, half seen", every[1]))
    print("\n| which of two schedules ends lower | pairs | P said | came true | difference inside 95 % |")
    print("|---|---|---|---|---|")
    for name, found in (("the law itself", law_verdicts(given.law)), ("25M and 100M", real_verdicts())):
        print("\n".join(better_rows(name, found)) if found else f"| {name} | 0 | - | - | - |", flush=True)


if __name__ == "__main__":
    main()
