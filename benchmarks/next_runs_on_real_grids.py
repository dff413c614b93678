"""Are chosen runs worth more than others? On real grids, with runs that were made anyway.

    python benchmarks/next_runs_on_real_grids.py [--data ../shared/data] [--random 3]

Known at first are the 20 cheapest runs, or more where 20 allow no forecast. The target is what cost most: the
seven test runs of Farseer, else the most expensive twentieth (at least five) of a set. Runs are bought from
the others for 3, 10 and 30 % of their compute: as ``sl.next_runs`` chooses them, with a new fit at 10 and at
30 % of the money, what brings less than 5 % being left; at random; the cheapest first. Mean error and width
of the 95 % interval at the targets, in per cent.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import sparselaw as sl
from sparselaw.deciding import next_runs
from sparselaw.errors import InputError
from sparselaw.forecasting import known_runs
from sparselaw.forecasting.known_runs import refusal

SHARES = (0.03, 0.10, 0.30)
START = 20
MOST = 60  # runs a stage may buy


def sets(folder: Path) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    farseer = pd.read_csv(folder / "runs" / "farseer.csv")
    found = {"Farseer": (farseer[farseer.split != "test"], farseer[farseer.split == "test"])}
    for name, path in {"llama3": "llama3.csv", "Marin DCLM": "marin_dclm.csv"}.items():
        frame = pd.read_csv(folder / "forecast" / path)
        frame = frame.assign(C=frame.N * frame.D).sort_values("C", kind="stable")
        count = max(5, len(frame) // 20)
        found[name] = (frame.iloc[:-count], frame.iloc[-count:])
    return {
        name: tuple(part[["N", "D", "loss"]].assign(C=6.0 * part.N * part.D) for part in both)
        for name, both in found.items()
    }


def allows(known: pd.DataFrame) -> bool:
    return refusal(known_runs(known.N, known.D, known.loss)) is None


def judged(known: pd.DataFrame, targets: pd.DataFrame) -> tuple[float, float]:
    found = sl.forecast(known[["N", "D", "loss"]], at=list(zip(targets.N, targets.D, strict=True)))
    best = np.array([p.loss.best for p in found.points])
    width = np.array([(p.loss.high - p.loss.low) / p.loss.best for p in found.points])
    return 100.0 * float(np.mean(np.abs(best / targets.loss.to_numpy() - 1.0))), 100.0 * float(width.mean())


def chosen(known: pd.DataFrame, rest: pd.DataFrame, targets: pd.DataFrame, money: float) -> pd.DataFrame:
    """In stages; runs that cannot be used to narrow further are left unbought."""
    left = money
    for stage in (0.1, 2.0 / 9.0, 1.0):  # of what is left: refits at 10 and 30 % of the money
        affordable = rest[rest.C <= stage * left]
        if affordable.empty:
            continue
        try:
            found = next_runs(
                known[["N", "D", "loss"]],
                at=list(zip(targets.N, targets.D, strict=True)),
                spend=stage * left,
                sizes=list(zip(affordable.N, affordable.D, strict=True)),
                most=MOST,
            )
        except InputError:
            continue
        bought = {(run.N, run.D) for run in found.runs}
        new = rest[[pair in bought for pair in zip(rest.N, rest.D, strict=True)]]
        known, rest, left = pd.concat([known, new]), rest.drop(new.index), left - float(new.C.sum())
    return known


def greedy(order: pd.DataFrame, money: float) -> pd.DataFrame:
    """One after the other while the money lasts; what is too expensive is passed over."""
    kept, left = [], money
    for place, price in zip(order.index, order.C, strict=True):
        if price <= left:
            kept.append(place)
            left -= price
    return order.loc[kept]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--random", type=int, default=3)
    given = parser.parse_args()
    ways = ("chosen", "random", "cheapest", "all")
    head = [
        "set",
        "money",
        "runs chosen",
        "for",
        *(f"error, {w}" for w in ways),
        *(f"width, {w}" for w in ways),
    ]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for name, (pool, targets) in sets(given.data).items():
        pool = pool.sort_values("C", kind="stable").reset_index(drop=True)
        start = next(n for n in range(START, len(pool)) if allows(pool.iloc[:n]))
        known, rest = pool.iloc[:start], pool.iloc[start:]
        everything = judged(pool, targets)
        for share in SHARES:
            money = share * float(rest.C.sum())
            picked = chosen(known, rest, targets, money)
            found = [judged(picked, targets)]
            draws = [rest.sample(frac=1.0, random_state=seed) for seed in range(given.random)]
            found.append(
                tuple(np.mean([judged(pd.concat([known, greedy(d, money)]), targets) for d in draws], axis=0))
            )
            found.append(judged(pd.concat([known, greedy(rest, money)]), targets))
            found.append(everything)
            cells = [f"{way[i]:.2f}" for i in (0, 1) for way in found]
            spent = 100.0 * float(picked.C.iloc[start:].sum() / rest.C.sum())
            bought = f"{len(picked) - start} | {spent:.0f} %"
            print(f"| {name} | {100 * share:.0f} % | {bought} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
