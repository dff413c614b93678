"""Does the comparison of recipes say how sure one can be?

    python benchmarks/compare_recipes.py [--pairs 34] [--data ../shared/data]

First synthetic pairs whose compute multiplier is known (0.7, 0.9, 1, 1.2, and nearly equal ones from 0.95 to
1.05; the same exponents and others in both directions, so that recipes cross), on grids of 25 runs that
scatter by 0.3 %, at three times the largest budget: how often the 95 % interval holds the multiplier, and
what came of the stated probabilities. Which recipe is called A is drawn, every pair is counted from both
sides, and of two that are equal each is the lower one half of the time: a tie counted as a miss would look
like overconfidence. Then real pairs of tables: fitted on the cheaper half of each, the differences of the
other half are judged.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from sparselaw.costs import parse_cost
from sparselaw.deciding import compare
from sparselaw.errors import InputError

COST = parse_cost("6nd")
N, D = (grid.ravel() for grid in np.meshgrid(np.geomspace(5e7, 2e9, 5), np.geomspace(1e9, 6e10, 5)))
FAR = 3.0 * 6.0 * 2e9 * 6e10
MULTIPLIERS = {"0.7": (0.7, 0.7), "0.9": (0.9, 0.9), "1": (1.0, 1.0), "1.2": (1.2, 1.2)}
NEARLY = {"0.95 to 1.05": (1.0 / 1.05, 1.05)}
JUDGED = 26  # of the seeds: those of the choice are not judged
EXPONENTS = {0: "same exponents", 1: "alpha larger, beta smaller", -1: "alpha smaller, beta larger"}


def law(n, d, scale, alpha, beta, g, E):
    return E + ((400.0 * (scale * n) ** -alpha) ** (1 / g) + (1100.0 * d**-beta) ** (1 / g)) ** g


def best(C, *parameters):
    n = np.geomspace(1e6, 1e13, 4001)
    return law(n, C / 6.0 / n, *parameters).min()


def synthetic(pairs: int) -> None:
    print("| multiplier | pairs | inside 95 % | median width, factor | status ok |")
    print("|---|---|---|---|---|")
    bins = [calibrated(*judged(some, pairs)) for some in (MULTIPLIERS, NEARLY)]
    head = ["said P(lower)", "pairs", "mean said", "came true", "nearly equal: pairs", "said", "came"]
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for i, (others, nearly) in enumerate(zip(*bins, strict=True)):
        print(f"| {0.1 * i:.1f}-{0.1 * (i + 1):.1f} | {others} | {nearly} |")


def judged(multipliers, pairs: int):
    """What was said of the pairs and what came, with a line for each kind."""
    said, came = [], []
    for kind, (name, other) in enumerate(itertools.product(multipliers, EXPONENTS)):
        inside, widths, calm = 0, [], 0
        for seed in range(pairs):
            generator = np.random.default_rng([JUDGED, len(multipliers), kind, seed])
            target = np.exp(generator.uniform(*np.log(multipliers[name])))
            g, E = generator.uniform(0.35, 1.0), generator.uniform(1.5, 2.0)
            alpha, beta = generator.uniform(0.30, 0.38), generator.uniform(0.32, 0.38)
            first = (target, alpha, beta, g, E)
            second = (1.0, alpha + 0.01 * other, beta - 0.01 * other, g, E)
            if generator.random() < 0.5:
                first, second = second, first
            tables = [
                {"N": N, "D": D, "loss": law(N, D, *p) * np.exp(0.003 * generator.standard_normal(N.size))}
                for p in (first, second)
            ]
            aim = best(FAR, *first)
            truth = np.exp(brentq(lambda x, p=second, a=aim: best(FAR * np.exp(x), *p) - a, -4.0, 4.0))
            found = compare(*tables, budget=FAR)
            point = found.points[0]
            m = point.multiplier
            low, high = np.nan_to_num([m.low, m.high], nan=np.inf)
            low = 0.0 if np.isinf(low) else low
            inside += low <= truth <= high
            widths.append(high / max(low, 1e-3))
            calm += found.status == "ok"
            said.append(point.probability)
            gap = aim - best(FAR, *second)
            came.append(0.5 if abs(gap) < 1e-12 else float(gap < 0.0))
        print(
            f"| {name}, {EXPONENTS[other]} | {pairs} | {100 * inside / pairs:.0f} % | "
            f"{np.median(widths):.2g} | {calm} |",
            flush=True,
        )
    return np.array(said), np.array(came)


def calibrated(said, came) -> list[str]:
    """The lower five of ten bins, every pair counted from both sides: the others mirror them."""
    said, came = np.r_[said, 1.0 - said], np.r_[came, 1.0 - came]
    cells = []
    for low in np.arange(5) / 10.0:
        at = (said >= low) & (said < low + 0.1)
        means = [f"{values[at].mean():.2f}" if at.any() else "-" for values in (said, came)]
        cells.append(" | ".join([str(int(at.sum())), *means]))
    return cells


def within(contest, point, gap, level) -> bool:
    """The interval is for expected losses; each run that is judged has a noise of its own."""
    recipes = contest.recipes
    own = [loss.best * noise for loss, noise in zip(point.losses, recipes.posterior.run_noise, strict=True)]
    noise = recipes.calibration.half_width(level) * np.hypot(*own)
    d = point.difference
    end = d.high - d.best if gap > d.best else d.best - d.low
    return abs(gap - d.best) <= np.hypot(end, noise)


def real(folder: Path) -> None:
    import pandas as pd

    runs = folder / "runs"
    tables = {
        path.stem[10:-5]: pd.read_csv(path)[["N", "D", "loss"]]
        for path in sorted(runs.glob("marin_opt_*_best.csv"))
    }
    gadre = pd.read_csv(folder / "gadre" / "gadre_104_models.csv")
    column = next(
        name for name in gadre.columns if name.lower() in {"train_set", "dataset", "train_data", "data"}
    )
    tables |= {
        f"gadre {value}": part.rename(columns={"loss_c4_val": "loss"})[["N", "D", "loss"]]
        for value, part in gadre.groupby(column)
    }
    print(
        "\n| A | B | judged | inside 95 % | order right | mean P of the order that came |\n"
        "|---|---|---|---|---|---|"
    )
    names = list(tables)
    held = {level: [] for level in (0.95, 0.8, 0.5)}
    for a, b in itertools.combinations(names, 2):
        if a.startswith("gadre") != b.startswith("gadre"):
            continue
        halves = []
        for name in (a, b):
            frame = tables[name].assign(C=tables[name].N * tables[name].D).sort_values("C")
            halves.append((frame.iloc[: max(10, len(frame) // 2)], frame.iloc[max(10, len(frame) // 2) :]))
        later = halves[0][1].merge(halves[1][1], on=["N", "D"], suffixes=("_a", "_b"))
        if later.empty:
            continue
        known = [half[0][["N", "D", "loss"]] for half in halves]
        at = list(zip(later.N, later.D, strict=True))
        gap = (later.loss_a - later.loss_b).to_numpy()
        try:
            for level, inside in held.items():
                found = compare(*known, at=at, level=level)
                own = [within(found.contests[0], p, x, level) for p, x in zip(found.points, gap, strict=True)]
                inside += own
        except InputError as error:
            print(f"| {a} | {b} | refused: {error} | | | |")
            continue
        inside = held[0.95][-len(gap) :]
        p = np.array([point.probability for point in found.points])
        p = np.where(gap < 0, p, 1.0 - p)
        print(
            f"| {a} | {b} | {len(gap)} | {100 * np.mean(inside):.0f} % | "
            f"{100 * np.mean(p > 0.5):.0f} % | {p.mean():.2f} |",
            flush=True,
        )
    shares = [f"{100 * np.mean(inside):.0f} % at {level:.0%}" for level, inside in held.items()]
    print(f"\nall {len(held[0.95])} differences: {', '.join(shares)} inside")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=34)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    given = parser.parse_args()
    if given.pairs:
        synthetic(given.pairs)
    if given.data.is_dir():
        real(given.data)
