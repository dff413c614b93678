r"""Claim: a forecast's 95 % interval holds 88 to 99 % of the losses of dearer runs, at a width near the least
possible, and its best value is nearer to them than Chinchilla's law.

    python benchmarks/forecast_coverage.py [--data ../shared/data] [--bootstrap 200] [--synthetic 60]
    python benchmarks/forecast_coverage.py --bootstrap 200 \
      | python docs/quote_results.py --keep forecast-coverage,forecast-summary
    python benchmarks/forecast_coverage.py --bootstrap 100 --synthetic 60 \
      | python docs/quote_results.py --keep forecast-synthetic

Every set of runs is cut at the cheapest 30, 50 and 70 % by compute N D; the rest is foretold. The oracle's
width is 2 * 1.96 * rms error of the forecast itself: the width that a normal error of that size asks for.
With --bootstrap the interval of Chinchilla's law by resampling rows is shown beside it. With --synthetic
tables of runs are made by a law, so that the law is true, and compared with the bootstrap of that law.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from sparselaw.fitting import fit
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.forecast.average import average
from sparselaw.fitting.forecast.refusals import log_compute, refusal
from sparselaw.fitting.rows import clean_runs
from sparselaw.interval import Z95
from sparselaw.laws import ChinchillaLaw, CoupledLaw, Law

CUTS = (0.3, 0.5, 0.7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One set at one cut: log errors of the forecast and of Chinchilla's law, and half widths."""

    name: str
    cut: float
    error: np.ndarray
    half: np.ndarray  # of the 95 % interval, in log loss
    chinchilla: np.ndarray
    bootstrap: np.ndarray  # is the loss inside the bootstrap's interval; empty without

    @property
    def covered(self) -> np.ndarray:
        return np.abs(self.error) <= self.half

    @property
    def width(self) -> float:
        """Median width over the oracle's."""
        return float(np.median(self.half) / (Z95 * np.sqrt(np.mean(self.error**2))))


def real_sets(folder: Path) -> Iterator[tuple[str, Runs]]:
    """Name and runs of every set."""
    yield "chinchilla", clean_runs(folder / "chinchilla/svg_extracted_data.csv").runs
    gadre = pd.read_csv(folder / "gadre/gadre_104_models.csv")
    for train_set, rows in gadre.groupby("train_set"):
        yield f"gadre {train_set}", clean_runs(rows, columns={"loss": "loss_c4_val"}).runs
    for part in ("cool_end", "hot"):
        path = folder / f"gemstones/wandb_df_for_fitting_{part}.jsonl"
        yield f"gemstones {part}", clean_runs(path, group="run_name").runs
    repeated = pd.read_csv(folder / "datablations/datablations_c4_runs.csv")
    yield "datablations, one epoch", clean_runs(repeated[repeated["epochs"] <= 1.0]).runs
    for name in ("llama3", "marin_comma", "marin_dclm"):
        yield name, clean_runs(folder / f"forecast/{name}.csv").runs


def foretell(name: str, runs: Runs, cut: float, draws: int = 0) -> Case | None:
    """None where the cheaper runs allow no forecast."""
    order = np.argsort(log_compute(runs).round(9), kind="stable")
    count = round(cut * len(runs))
    known, later = runs.take(np.sort(order[:count])), runs.take(order[count:])
    if refusal(known.with_groups_numbered()) is not None:
        return None
    truth = np.log(later.loss)
    mean, sd = average(known).log_losses(later.N, later.D)
    table = pd.DataFrame({"N": known.N, "D": known.D, "loss": known.loss})
    group = None
    if known.group is not None:
        table["run"], group = known.group, "run"
    law = fit(table, bootstrap=draws, group=group)
    inside = np.empty(0, bool)
    if draws:
        low, high = np.quantile(np.log(law.losses_of_draws(later.N, later.D)), [0.025, 0.975], axis=0)
        inside = (low <= truth) & (truth <= high)
    return Case(
        name=name,
        cut=cut,
        error=truth - mean,
        half=Z95 * sd,
        chinchilla=truth - np.log(law.loss(later.N, later.D)),
        bootstrap=inside,
    )


def foretell_all(folder: Path, draws: int = 0) -> list[Case]:
    found = [foretell(name, runs, cut, draws) for name, runs in real_sets(folder) for cut in CUTS]
    return [case for case in found if case is not None]


def summary(cases: list[Case]) -> dict[str, float]:
    """Pooled over every run foretold; the least coverage is that of a whole set."""
    names = dict.fromkeys(case.name for case in cases)
    of_set = {n: np.mean(np.concatenate([c.covered for c in cases if c.name == n])) for n in names}
    error = np.median(np.abs(np.concatenate([c.error for c in cases])))
    other = np.median(np.abs(np.concatenate([c.chinchilla for c in cases])))
    return {
        "runs": sum(c.error.size for c in cases),
        "coverage": float(np.mean(np.concatenate([c.covered for c in cases]))),
        "least_coverage": float(min(of_set.values())),
        "width": float(np.median([c.width for c in cases])),
        "error": float(error),
        "chinchilla_error": float(other),
        "error_ratio": float(error / other),
    }


def synthetic(truth: Law, tables: int, rows: int, draws: int) -> dict[str, float]:
    """Runs of a law that is true: coverage of dearer runs, and of the law's own loss by its bootstrap."""
    covered, wide, other = [], [], []
    for seed in range(tables):
        generator = np.random.Generator(np.random.PCG64(seed))
        C = np.exp(generator.uniform(np.log(1e18), np.log(1e22), rows))
        N = np.sqrt(C / 120.0) * np.exp(generator.uniform(-1.5, 1.5, rows))
        D = C / (6.0 * N)
        loss = truth.loss(N, D) * np.exp(0.005 * generator.standard_normal(rows))
        dear = np.argsort(C)[rows // 2 :]
        cheap = np.argsort(C)[: rows // 2]
        table = pd.DataFrame({"N": N[cheap], "D": D[cheap], "loss": loss[cheap]})
        mean, sd = average(clean_runs(table).runs).log_losses(N[dear], D[dear])
        covered.append(np.abs(np.log(loss[dear]) - mean) <= Z95 * sd)
        wide.append(np.median(2 * Z95 * sd))
        if draws:
            law = fit(table, law=truth.name, objective="least-squares", bootstrap=draws)
            logs = np.log(law.losses_of_draws(N[dear], D[dear]))
            both = np.sqrt(logs.std(axis=0) ** 2 + np.mean(law.residuals**2))  # the law's and a run's own
            other.append(np.median(2 * Z95 * both))
    return {
        "coverage": float(np.mean(np.concatenate(covered))),
        "width": float(np.median(wide)),
        "bootstrap_width": float(np.median(other)) if draws else float("nan"),
    }


def show(cases: list[Case]) -> None:
    print("| set | cut | foretold | inside 95 % | width / oracle's | rms error | Chinchilla's | bootstrap |")
    print("|---|---|---|---|---|---|---|---|")
    for c in cases:
        rms, other = (100 * np.sqrt(np.mean(e**2)) for e in (c.error, c.chinchilla))
        inside = f"{100 * c.bootstrap.mean():.0f} %" if c.bootstrap.size else "-"
        print(
            f"| {c.name} | {100 * c.cut:.0f} % | {c.error.size} | {100 * c.covered.mean():.0f} % "
            f"| {c.width:.2f} | {rms:.2f} % | {other:.2f} % | {inside} |"
        )
    found = summary(cases)
    inside = (
        np.mean(np.concatenate([c.bootstrap for c in cases]))
        if all(c.bootstrap.size for c in cases)
        else None
    )
    rows = {
        "losses foretold": f"{found['runs']:,}",
        "inside 95 %": f"{100 * found['coverage']:.0f} %",
        "inside the bootstrap's 95 %": "-" if inside is None else f"{100 * inside:.0f} %",
        "inside 95 % in the set where it is least": f"{100 * found['least_coverage']:.0f} %",
        "median width over the oracle's": f"{found['width']:.2f}",
        "median error": f"{100 * found['error']:.2f} %",
        "median error of Chinchilla's law": f"{100 * found['chinchilla_error']:.2f} %",
    }
    print("\n| pooled over all sets | |\n|---|---|")
    print("\n".join(f"| {what} | {value} |" for what, value in rows.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared/data")
    parser.add_argument("--bootstrap", type=int, default=0)
    parser.add_argument("--synthetic", type=int, default=0, help="tables of a true law")
    options = parser.parse_args()
    if options.synthetic:
        additive = ChinchillaLaw(E=1.8172, A=477.8, B=2143.4, alpha=0.3473, beta=0.3672)
        coupled = CoupledLaw(E=1.6, A=90.0, B=300.0, alpha=0.27, beta=0.30, g=0.45)
        print("| true law | runs known | coverage | median width | bootstrap's |")
        print("|---|---|---|---|---|")
        for law in (additive, coupled):
            for rows in (60, 240, 800):
                draws = options.bootstrap if law is additive else 0  # of the coupled law it takes minutes
                found = synthetic(law, options.synthetic, rows, draws)
                other = f"{100 * found['bootstrap_width']:.2f} %" if draws else "-"
                print(
                    f"| {law.name} | {rows // 2} | {100 * found['coverage']:.1f} % "
                    f"| {100 * found['width']:.2f} % | {other} |"
                )
    elif options.data.exists():
        show(foretell_all(options.data, options.bootstrap))
    else:
        print(f"{options.data} is not there: give the folder of the shared runs with --data")


if __name__ == "__main__":
    main()
