"""Claim: where the end of a curve is known, 90 % or more of the ends lie inside the 95 % interval.

    python benchmarks/curve_coverage.py [--law 200] [--sgd 20] \\
        | python docs/quote_results.py --keep curve-coverage

Curves of the law itself, drawn from its priors with correlated noise; and SGD on Gaussian features of
power-law variances with noisy labels, where p = 1 and m = 0 and the priors of language models are wrong.
Three schedules of each draw are fitted, a fourth is predicted: its mean over runs for SGD, by an exact
recursion.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import sparselaw as sl
from oracles.made_curves import law_curves, sgd_curves

LAW = ("constant:24000", "cosine:24000", "wsd:20000,24000", "cosine:48000", "linear:24000,end=0",
       "step:8000,16000", "constant:48000")  # fmt: skip
SGD = ("constant:4000", "cosine:4000", "wsd:3200,4000", "cosine:8000", "linear:4000,end=0", "step:2000,4000")
SETTINGS: dict[str, dict[str, float]] = {
    "SGD, spectrum 1.7, noise 1": {},
    "SGD, spectrum 1.5, noise 0.3": {"alpha": 0.5, "noise": 0.3},
    "SGD, spectrum 1.7, noise 3, half the rate": {"noise": 3.0, "peak": 0.1},
}
Make = Callable[[int, Sequence[str]], list[tuple[Any, ...]]]


def ends(make: Make, shapes: Sequence[str], draws: int, warmup: float) -> list[tuple[float, float, bool]]:
    """Error, half width (both relative) and inside or not, of the fourth of four shapes in each draw."""
    found = []
    for seed in range(draws):
        order = np.random.Generator(np.random.PCG64([9, seed])).permutation(len(shapes))[:4]
        chosen = [shapes[i] for i in order]
        curves = make(seed, chosen)
        fitted = sl.fit_curves([c[:3] for c in curves[:3]], schedules=[chosen[3]], warmup=warmup)
        loss, truth = fitted.schedules[0].final, curves[3][3]
        found.append((loss.best / truth - 1.0, loss.high / loss.best - 1.0, loss.contains(truth)))
    return found


def row(name: str, found: list[tuple[float, float, bool]]) -> str:
    error, half, inside = (np.array(v) for v in zip(*found, strict=True))
    return (
        f"| {name} | {len(found)} | {100 * inside.mean():.1f} % | {100 * np.median(np.abs(error)):.2f} % "
        f"| {100 * np.abs(error).max():.2f} % | {100 * np.median(half):.2f} % |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--law", type=int, default=200)
    parser.add_argument("--sgd", type=int, default=20)
    given = parser.parse_args()
    print("| curves | draws | inside 95 % | median error | worst | median half width |")
    print("|---|---|---|---|---|---|")
    print(row("the law itself, correlated noise", ends(law_curves, LAW, given.law, 1_000)), flush=True)
    for name, setting in SETTINGS.items():
        made = ends(lambda seed, shapes, s=setting: sgd_curves(seed, shapes, **s), SGD, given.sgd, 200)  # type: ignore[misc]
        print(row(name, made), flush=True)


if __name__ == "__main__":
    main()
