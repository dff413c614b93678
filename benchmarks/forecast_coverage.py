r"""How often do forecasts hold? Every set of runs in a folder, by six protocols, one line for each family.

    python benchmarks/forecast_coverage.py [--data ../shared/data] [--bootstrap 200] [--sets]
    python benchmarks/forecast_coverage.py --bootstrap 200 \
      | python docs/quote_results.py --keep \
        forecast-families,forecast-methods,forecast-protocols,forecast-summary
    python benchmarks/forecast_coverage.py --synthetic 30 \
      | python docs/quote_results.py --keep forecast-synthetic
    python benchmarks/forecast_coverage.py --drifting 24 \
      | python docs/quote_results.py --keep forecast-drifting

Put a CSV with columns N, D, loss (and `run`, where rows are checkpoints) into the folder: it is one more
set, and the part of its name before the first underscore is its family. Known runs are the cheapest 30, 50
or 70 %; all but those of the largest N; those below a tenth of the largest compute; all but the last run.
Errors are of the logarithm of the loss. A case is one set by one protocol: shares are means over cases
unless losses are said. The oracle's width is 2 * 1.96 * the rms error of the case. The interval score is
Winkler's for 95 %: the width, and 40 times what lies outside. The log score is the mean logarithm of the
density at the truth: higher is better.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from sparselaw.fitting import fit
from sparselaw.fitting.clean_runs import clean_runs
from sparselaw.forecasting.known_runs import KnownRuns, known_runs, refusal
from sparselaw.forecasting.posterior import posterior
from sparselaw.forecasting.predictive import backtest, calibration
from sparselaw.forecasting.settings import SETTINGS, Settings
from sparselaw.laws import ChinchillaLaw, CoupledLaw, Law

Z95 = 1.959963984540054
# The method before this one: a smooth discrepancy that forgets with distance, a normal interval.
WITHOUT_DRIFT = Settings(
    floor=(0.65, 0.5), exponent=(0.30, 0.5), coupling=(0.45, 0.5), wiggle_length=2.0,
    wiggle_sizes=(0.004, 0.008, 0.016, 0.032, 0.064), drift_sizes=(1e-6,), drift_prior=(1e-6, 1.0),
    noise_shares=(0.7,), winsor=np.inf, degrees=1_000_000, scale_alone=1.0, cuts=(),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSet:
    family: str
    name: str
    runs: KnownRuns


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One set by one protocol: for each hidden loss its log error, and the scale of Student's t about it."""

    family: str
    name: str
    protocol: str
    error: np.ndarray
    scale: np.ndarray
    degrees: int
    bootstrap: np.ndarray  # is the loss inside the bootstrap's interval; empty without

    def half(self, level: float = 0.95) -> np.ndarray:
        return stats.t.ppf(0.5 + 0.5 * level, self.degrees) * self.scale

    def covered(self, level: float = 0.95) -> np.ndarray:
        return np.abs(self.error) <= self.half(level)

    def width(self) -> float:
        """Median width over the oracle's."""
        return float(np.median(self.half()) / (Z95 * np.sqrt(np.mean(self.error**2))))

    def winkler(self) -> float:
        half = self.half()
        return float(np.mean(2 * half + 40.0 * np.maximum(np.abs(self.error) - half, 0.0)))

    def log_score(self) -> float:
        density = stats.t.logpdf(self.error / self.scale, self.degrees) - np.log(self.scale)
        return float(np.mean(density))


def real_sets(folder: Path) -> Iterator[RunSet]:
    """The sets that need a selection, then every CSV of the folder and of its `forecast` and `runs`."""
    if (folder / "chinchilla").exists():
        yield _set("chinchilla", "chinchilla", folder / "chinchilla/svg_extracted_data.csv")
    if (folder / "gadre").exists():
        table = pd.read_csv(folder / "gadre/gadre_104_models.csv")
        for train_set, rows in table.groupby("train_set"):
            yield _set("gadre", f"gadre {train_set}", rows, columns={"loss": "loss_c4_val"})
    for part in ("cool_end", "hot"):
        path = folder / f"gemstones/wandb_df_for_fitting_{part}.jsonl"
        if path.exists():
            yield _set("gemstones", f"gemstones {part}", path, group="run_name")
    if (folder / "datablations").exists():
        table = pd.read_csv(folder / "datablations/datablations_c4_runs.csv")
        yield _set("datablations", "datablations, one epoch", table[table["epochs"] <= 1.0])
    for place in (folder, folder / "forecast", folder / "runs"):
        for path in sorted(place.glob("*.csv")):
            table = pd.read_csv(path)
            group = "run" if "run" in table and table["run"].nunique() < len(table) else None
            yield _set(path.stem.partition("_")[0], path.stem, table, group=group)


def _set(family: str, name: str, source: object, **reading: object) -> RunSet:
    found = clean_runs(source, **reading).runs
    return RunSet(
        family=family,
        name=name,
        runs=known_runs(found.N, found.D, found.loss, found.scale, found.group).in_order(),
    )


def split(runs: KnownRuns, protocol: str) -> tuple[KnownRuns, KnownRuns]:
    """Known and hidden; ``runs`` are in order."""
    compute = runs.log_compute
    if protocol.startswith("cheapest"):
        share = float(protocol.split()[1]) / 100.0
        known = np.arange(len(runs)) < round(share * len(runs))
    elif protocol == "largest N hidden":
        known = runs.N < runs.N.max()
    elif protocol == "above a tenth hidden":
        known = compute < compute.max() - np.log(10.0)
    else:
        last = int(np.argmax(compute))
        known = np.arange(len(runs)) != last if runs.group is None else runs.group != runs.group[last]
    return runs.take(np.flatnonzero(known)), runs.take(np.flatnonzero(~known))


PROTOCOLS = (
    "cheapest 30 %", "cheapest 50 %", "cheapest 70 %", "largest N hidden", "above a tenth hidden", "last run",
)  # fmt: skip


def forecast_case(one: RunSet, protocol: str, settings: Settings, draws: int = 0) -> Case | None:
    """None where the known runs allow no forecast."""
    known, hidden = split(one.runs, protocol)
    if len(hidden) == 0 or len(known) == 0 or refusal(known) is not None:
        return None
    mean, sd = posterior(known, settings).log_losses(hidden.N, hidden.D)
    told = calibration(backtest(known, settings), settings)
    inside = _bootstrap(known, hidden, draws) if draws else np.empty(0, bool)
    return Case(
        family=one.family,
        name=one.name,
        protocol=protocol,
        error=np.log(hidden.loss) - mean - told.shift * sd,
        scale=np.sqrt(told.v) * sd,
        degrees=settings.degrees,
        bootstrap=inside,
    )


def _bootstrap(known: KnownRuns, hidden: KnownRuns, draws: int) -> np.ndarray:
    """Chinchilla's law by resampled rows, whole runs where there are groups."""
    table = pd.DataFrame({"N": known.N, "D": known.D, "loss": known.loss})
    if known.group is not None:
        table["run"] = known.group
    law = fit(table, bootstrap=draws, group=None if known.group is None else "run")
    low, high = np.quantile(np.log(law.losses_of_draws(hidden.N, hidden.D)), [0.025, 0.975], axis=0)
    return (low <= np.log(hidden.loss)) & (np.log(hidden.loss) <= high)


def forecast_all(sets: list[RunSet], settings: Settings = SETTINGS, draws: int = 0) -> list[Case]:
    found = [forecast_case(one, protocol, settings, draws) for one in sets for protocol in PROTOCOLS]
    return [case for case in found if case is not None]


def summary(cases: list[Case]) -> dict[str, float]:
    """By case, but for the share of the losses and the median error."""

    def by_case(value: Callable[[Case], float]) -> float:
        return float(np.mean([value(case) for case in cases]))

    error = np.concatenate([case.error for case in cases])
    inside = np.concatenate([case.bootstrap for case in cases])
    return {
        "cases": len(cases),
        "runs": error.size,
        "50": by_case(lambda c: c.covered(0.5).mean()),
        "80": by_case(lambda c: c.covered(0.8).mean()),
        "95": by_case(lambda c: c.covered().mean()),
        "losses": float(np.mean(np.concatenate([case.covered() for case in cases]))),
        "width": float(np.median([case.width() for case in cases])),
        "error": float(np.median(np.abs(error))),
        "bias": by_case(lambda c: c.error.mean()),
        "winkler": by_case(Case.winkler),
        "log": by_case(Case.log_score),
        "bootstrap": float(np.mean([c.bootstrap.mean() for c in cases])) if inside.size else float("nan"),
    }


def line(name: str, cases: list[Case]) -> str:
    s = summary(cases)
    shares = " | ".join(f"{100 * s[level]:.0f} %" for level in ("50", "80", "95", "losses"))
    boot = "-" if np.isnan(s["bootstrap"]) else f"{100 * s['bootstrap']:.0f} %"
    return (
        f"| {name} | {s['cases']:.0f} | {s['runs']:.0f} | {shares} | {s['width']:.2f} "
        f"| {100 * s['error']:.2f} % | {100 * s['winkler']:.1f} % | {s['log']:.2f} | {boot} |"
    )


def heading(first: str) -> str:
    return (
        f"| {first} | cases | losses | inside 50 % | 80 % | 95 % | 95 %, of the losses | width / oracle's "
        "| median error | interval score | log score | bootstrap's 95 % |\n" + "|---" * 12 + "|"
    )


def parts(cases: list[Case], key: str) -> list[tuple[str, list[Case]]]:
    names = dict.fromkeys(getattr(case, key) for case in cases)
    return [(name, [case for case in cases if getattr(case, key) == name]) for name in names]


def show(sets: list[RunSet], draws: int, each: bool) -> None:
    cases = forecast_all(sets, SETTINGS, draws)
    print(heading("set" if each else "family"))
    for name, some in parts(cases, "name" if each else "family"):
        print(line(name, some))
    print("\n" + heading("method"))
    print(line("forecast", cases))
    before = forecast_all(sets, WITHOUT_DRIFT)
    print(line("without drift", before))
    print("\n" + heading("known runs"))
    for name, some in parts(cases, "protocol"):
        print(line(name, some))
    show_summary(cases, before)


def show_summary(cases: list[Case], before: list[Case]) -> None:
    """The figures that pages quote."""
    found, other = summary(cases), summary(before)
    families = {name: summary(some)["95"] for name, some in parts(cases, "family")}
    worst = min(families, key=families.__getitem__)
    rows = {
        "sets": str(len({case.name for case in cases})),
        "families": str(len(families)),
        "cases": str(len(cases)),
        "losses predicted": f"{found['runs']:,.0f}",
        "by case inside 95 %": f"{100 * found['95']:.0f} %",
        "of the losses inside 95 %": f"{100 * found['losses']:.0f} %",
        "least by family": f"{100 * families[worst]:.0f} %",
        "without drift by case": f"{100 * other['95']:.0f} %",
        "bootstrap by case": "-" if np.isnan(found["bootstrap"]) else f"{100 * found['bootstrap']:.0f} %",
        "median error": f"{100 * found['error']:.2f} %",
        "error without drift": f"{100 * other['error']:.2f} %",
    }
    print("\n| over all sets | |\n|---|---|")
    print("\n".join(f"| {what} | {value} |" for what, value in rows.items()))


def true_runs(truth: Law, seed: int, rows: int) -> RunSet:
    """Runs of a law that is true but for noise."""
    generator = np.random.Generator(np.random.PCG64(seed))
    C = np.exp(generator.uniform(np.log(1e18), np.log(1e22), rows))
    N = np.sqrt(C / 120.0) * np.exp(generator.uniform(-1.5, 1.5, rows))
    D = C / (6.0 * N)
    loss = truth.loss(N, D) * np.exp(NOISE * generator.standard_normal(rows))
    return RunSet(family=truth.name, name=f"{truth.name} {seed}", runs=known_runs(N, D, loss).in_order())


def own_width(truth: Law, runs: KnownRuns) -> float:
    """What the true law's fit asks for: what is not known of its parameters (their Fisher information), and
    one run's noise."""
    J, at = (_slopes(truth, part) for part in split(runs, "cheapest 50 %"))
    unknown = np.einsum("ij,jk,ik->i", at, np.linalg.inv(J.T @ J), at)
    return float(np.median(2 * Z95 * NOISE * np.sqrt(1.0 + unknown)))


def synthetic(truth: Law, tables: int, rows: int, settings: Settings = SETTINGS) -> dict[str, float]:
    """The more expensive half hidden."""
    sets = [true_runs(truth, seed, rows) for seed in range(tables)]
    cases = [forecast_case(one, "cheapest 50 %", settings) for one in sets]
    return {
        "coverage": float(np.mean(np.concatenate([case.covered() for case in cases]))),
        "width": float(np.median([np.median(2 * case.half()) for case in cases])),
        "own": float(np.median([own_width(truth, one.runs) for one in sets])),
    }


NOISE = 0.005


def _slopes(law: Law, runs: KnownRuns) -> np.ndarray:
    """d ln loss / d ln parameter, by central differences."""
    columns = []
    for name in law.parameters():
        ends = [replace(law, **{name: getattr(law, name) * np.exp(step)}) for step in (1e-5, -1e-5)]
        above, below = (np.log(one.loss(runs.N, runs.D)) for one in ends)
        columns.append((above - below) / 2e-5)
    return np.column_stack(columns)


LAWS = (
    ChinchillaLaw(E=1.8172, A=477.8, B=2143.4, alpha=0.3473, beta=0.3672),
    CoupledLaw(E=1.6, A=90.0, B=300.0, alpha=0.27, beta=0.30, g=0.45),
)


def show_synthetic(tables: int) -> None:
    print(
        "| true law | runs known | inside 95 % | median width | the true law's own |\n|---|---|---|---|---|"
    )
    for law in LAWS:
        for rows in (60, 240, 800):
            s = synthetic(law, tables, rows)
            print(
                f"| {law.name} | {rows // 2} | {100 * s['coverage']:.1f} % | {100 * s['width']:.2f} % "
                f"| {100 * s['own']:.2f} % |",
                flush=True,
            )


DRIFTS = {
    "exponents rise by half": (0.5, 0.001),
    "exponents rise by half, noise 0.4 %": (0.5, 0.004),
    "exponents rise 2.5 times from small ones": (1.5, 0.001),
    "N counts embeddings": (0.0, 0.001),
    "N counts embeddings, small models": (0.0, 0.001),
}


def drifting(kind: str, seed: int, rows: int) -> KnownRuns:
    """Runs whose coupled law is not one law: its exponents rise along the runs, or N is not what counts."""
    rise, noise = DRIFTS[kind]
    generator = np.random.Generator(np.random.PCG64(1000 + seed))
    C = np.exp(generator.uniform(np.log(1e18), np.log(1e22), rows))
    N = np.sqrt(C / 120.0) * np.exp(generator.uniform(-1.5, 1.5, rows))
    D = C / (6.0 * N)
    alpha, beta = 0.24 + 0.1 * generator.random(2)
    g, E = 0.35 + 0.5 * generator.random(), 1.5 + 0.4 * generator.random()
    least = 0.6 if rise > 1.0 else 1.0
    terms = []
    for exponent, size in ((least * alpha, np.log(N)), (least * beta, np.log(D))):
        x = size - size.min()
        terms.append(np.log(2.2) - exponent * (x + 0.5 * rise * x**2 / np.ptp(size)))
    loss = E + np.exp(g * np.logaddexp(terms[0] / g, terms[1] / g))
    if "embeddings" in kind:
        small, vocabulary = (20.0, 50_000) if "small" in kind else (1.0, 32_000)
        N = N / small
        N = N + 2.0 * vocabulary * (N / (12.0 / 64.0)) ** (1.0 / 3.0)  # depth = width / 64
    return known_runs(N, D, loss * np.exp(noise * generator.standard_normal(rows))).in_order()


def drifting_sets(tables: int) -> list[RunSet]:
    """So many of 40 and of 120 runs of each kind, half of them known."""
    return [
        RunSet(family=kind, name=f"{kind} {rows} {seed}", runs=drifting(kind, seed, rows))
        for kind in DRIFTS
        for rows in (40, 120)
        for seed in range(tables)
    ]


def show_drifting(tables: int, settings: Settings = SETTINGS) -> None:
    cases = [forecast_case(one, "cheapest 50 %", settings) for one in drifting_sets(tables)]
    print(heading("what drifts"))
    for kind, some in parts(cases, "family"):
        print(line(kind, some))
    print(line("all of them", cases))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared/data")
    parser.add_argument("--bootstrap", type=int, default=0, help="draws of Chinchilla's law beside")
    parser.add_argument("--sets", action="store_true", help="a line for each set in place of each family")
    parser.add_argument("--synthetic", type=int, default=0, help="tables of a true law")
    parser.add_argument("--drifting", type=int, default=0, help="tables of laws that drift")
    options = parser.parse_args()
    if options.synthetic:
        show_synthetic(options.synthetic)
    elif options.drifting:
        show_drifting(options.drifting)
    elif options.data.exists():
        show(list(real_sets(options.data)), options.bootstrap, options.sets)
    else:
        print(f"{options.data} is not there: give the folder of the shared runs with --data")


if __name__ == "__main__":
    main()
