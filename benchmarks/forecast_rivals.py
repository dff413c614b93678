"""Every set of runs and every method in one table: coverage, interval score, error.

    python benchmarks/forecast_rivals.py | python docs/quote_results.py --keep rivals,rivals-summary

Sets and protocols are those of ``forecast_coverage.py`` (``--data FOLDER``). A method is a function of the
known runs and of the sizes that are asked for; it returns low, middle and high of the logarithm of the loss
at each size. To enter a rival, write one and add it to ``METHODS``. A cell has the share of the losses
inside the 95 % interval, the interval score (Winkler's: the width, and 40 times what lies outside) and the
rms error, each a mean over the cases of the set. Cases that the forecast refuses are left out for all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from forecast_coverage import PROTOCOLS, Z95, RunSet, real_sets, split
from scipy import stats

from sparselaw.fitting import fit
from sparselaw.forecasting.known_runs import KnownRuns, refusal
from sparselaw.forecasting.posterior import posterior
from sparselaw.forecasting.predictive import backtest, calibration
from sparselaw.forecasting.settings import SETTINGS

Ends = tuple[np.ndarray, np.ndarray, np.ndarray]  # low, middle, high of ln loss
Method = Callable[[KnownRuns, np.ndarray, np.ndarray], Ends]
DRAWS = 60


def by_law(law: str, scatter: bool) -> Method:
    """Refits to resampled rows, whole runs where rows are checkpoints; with ``scatter`` residuals on top."""

    def method(known: KnownRuns, N: np.ndarray, D: np.ndarray) -> Ends:
        table = pd.DataFrame({"N": known.N, "D": known.D, "loss": known.loss})
        if known.group is not None:
            table["run"] = known.group
        group = None if known.group is None else "run"
        found = fit(table, law=law, bootstrap=DRAWS, group=group, leave_out=False)
        draws = np.log(found.losses_of_draws(N, D))
        middle = np.log(np.asarray(found.loss(N, D)))
        if not scatter:
            low, high = np.quantile(draws, [0.025, 0.975], axis=0)
            return low, middle, high
        half = Z95 * np.sqrt(draws.var(axis=0, ddof=1) + np.mean(found.residuals**2))
        return middle - half, middle, middle + half

    return method


def forecast(known: KnownRuns, N: np.ndarray, D: np.ndarray) -> Ends:
    mean, sd = posterior(known, SETTINGS).log_losses(N, D)
    told = calibration(backtest(known, SETTINGS), SETTINGS)
    middle = mean + told.shift * sd
    half = stats.t.ppf(0.975, SETTINGS.degrees) * np.sqrt(told.v) * sd
    return middle - half, middle, middle + half


METHODS: dict[str, Method] = {
    "Chinchilla's law, bootstrap": by_law("chinchilla", scatter=False),
    "the same and residuals": by_law("chinchilla", scatter=True),
    "coupled law, bootstrap": by_law("coupled", scatter=False),
    "coupled and residuals": by_law("coupled", scatter=True),
    "sparselaw forecast": forecast,
}


def scores(method: Method, known: KnownRuns, hidden: KnownRuns) -> tuple[float, float, float]:
    """Share inside, interval score, rms error."""
    low, middle, high = method(known, hidden.N, hidden.D)
    truth = np.log(hidden.loss)
    outside = np.maximum(low - truth, 0.0) + np.maximum(truth - high, 0.0)
    inside = float(np.mean(outside == 0.0))
    return inside, float(np.mean(high - low + 40.0 * outside)), float(np.sqrt(np.mean((truth - middle) ** 2)))


def cases_of(one: RunSet) -> list[tuple[KnownRuns, KnownRuns]]:
    pairs = (split(one.runs, protocol) for protocol in PROTOCOLS)
    return [(known, hidden) for known, hidden in pairs if len(known) and len(hidden) and not refusal(known)]


def cell(found: np.ndarray) -> str:
    inside, score, error = 100.0 * found
    return f"{inside:.0f} %, {score:.1f}, {error:.2f}"


def show(sets: list[RunSet]) -> None:
    means = []  # (sets, methods, 3)
    print(f"| set | cases | {' | '.join(METHODS)} |\n" + "|---" * (2 + len(METHODS)) + "|")
    counts, every = [], []
    for one in sets:
        cases = cases_of(one)
        if not cases:
            continue
        found = np.array([[scores(method, *case) for method in METHODS.values()] for case in cases])
        means.append(found.mean(axis=0))
        counts.append(len(cases))
        every.append(found)
        print(f"| {one.name} | {len(cases)} | {' | '.join(map(cell, means[-1]))} |", flush=True)
        print(f"{one.name}: done", file=sys.stderr)
    all_cases, by_set = np.concatenate(every), np.array(means)
    print("\n| method | inside 95 % | worst set | interval score | worst set's | rms error | worst set's |")
    print("|---|---|---|---|---|---|---|")
    for i, name in enumerate(METHODS):
        inside, score, error = 100.0 * all_cases[:, i].mean(axis=0)
        least, widest, farthest = 100.0 * np.array(
            [by_set[:, i, 0].min(), by_set[:, i, 1].max(), by_set[:, i, 2].max()]
        )
        print(
            f"| {name} | {inside:.0f} % | {least:.0f} % | {score:.1f} % | {widest:.1f} % | {error:.2f} % "
            f"| {farthest:.2f} % |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared/data")
    parser.add_argument("--sets", type=int, default=None, help="only the first few")
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not there: give a folder of tables with --data")
    show(list(real_sets(options.data))[: options.sets])


if __name__ == "__main__":
    main()
