"""Claim: real loss curves under schedules that were not fitted end inside the 95 % interval, within 0.25 %.

    python benchmarks/curve_folds.py | python docs/quote_results.py \\
        --keep curve-folds,curve-choices,curve-running,curve-sizes

Curves of 25M and 100M parameters under nine schedules (../shared/data/curves, or SPARSELAW_DATA), the warm-up
of 2,160 steps given. Final losses are the last ones logged. Five laws are fitted by the same code under the
same priors. The constants of the law and of its intervals were set with these curves in sight.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from curve_rivals import MomentumForm, MultiPowerForm

from sparselaw.curves.law import FeatureForm, Form
from sparselaw.curves.logs import Log, make_logs
from sparselaw.curves.model import Asked, Model, fit_model, student

WARMUP = 2_160
LAWS: dict[str, Callable[[], Form | None]] = {
    "momentum": MomentumForm,
    "multi-power": MultiPowerForm,
    "theory as it stands (p = 1, m = 0, r = 1)": lambda: FeatureForm(p=1.0, m=0.0, r=1.0),
    "five parameters (p = 0.7, m = 0.11, r = 0.6)": FeatureForm,
    "as fitted by default (p, m, r under priors)": lambda: None,
}
TWO_STEP = ("wsdcon_3", "wsdcon_9", "wsdcon_18")
COSINES = ("cosine_24000", "cosine_72000")  # share no trunk with any other
SEEN = (0.3, 0.5, 0.7, 0.9)
LEVELS = (0.5, 0.8, 0.95)


@dataclass(frozen=True, slots=True)
class Miss:
    """A final loss as predicted: relative error, and its standard error by the fit."""

    error: float
    sd: float

    def within(self, level: float) -> bool:
        return abs(self.error) <= student(level) * self.sd

    @property
    def inside(self) -> bool:
        return self.within(0.95)


def read(path: Path | None = None) -> dict[str, dict[str, Log]]:
    """Size -> schedule -> log; empty where the data are not there."""
    folder = Path(os.environ.get("SPARSELAW_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    file = path or folder / "curves" / "schedules_25M_100M.csv"
    if not file.exists():
        return {}
    found: dict[str, dict[str, Log]] = {}
    for log in make_logs(file, warmup=WARMUP)[0]:
        size, _, schedule = log.name.partition("_")
        found.setdefault(size, {})[schedule] = log
    return found


def missed(known: Sequence[Log], hidden: Sequence[Log], form: Form | None) -> list[Miss]:
    """Fit to some curves, predict the last losses of others."""
    model = fit_model(own_points(known), form)
    return _misses(model, [Asked(schedule=log.schedule, N=log.size) for log in hidden], hidden)


def running(log: Log, seen: float, others: Sequence[Log]) -> Miss:
    """A curve of which a part is seen, with finished ones beside it."""
    model = fit_model([log.until(seen * log.last), *(replace(o, own=0) for o in others)])
    return _misses(model, [model.end(0)], [log])[0]


def _misses(model: Model, asked: Sequence[Asked], logs: Sequence[Log]) -> list[Miss]:
    mean, cov = model.predict(asked)
    errors = mean - np.log([log.loss[-1] for log in logs])
    return [Miss(e, v**0.5) for e, v in zip(errors.tolist(), np.diag(cov).tolist(), strict=True)]


def own_points(known: Sequence[Log]) -> list[Log]:
    """Curves of a list, of which a shared trunk counts once."""
    return [replace(log, own=_shared(log, known)) for log in known]


def _shared(log: Log, known: Sequence[Log]) -> int:
    """Points of a trunk that a curve before it in the list has too."""
    most = 0
    for before in itertools.takewhile(lambda other: other is not log, known):
        n = min(before.step.size, log.step.size)
        equal = (before.step[:n] == log.step[:n]) & (before.loss[:n] == log.loss[:n])
        most = max(most, n if equal.all() else int(np.argmin(equal)))
    return most if most > 5 else 0


def folds(curves: dict[str, Log], two_step: str) -> tuple[list[Log], list[Log]]:
    """Constant, cosine of 24,000 and a two-step run; all the others."""
    names = ("constant_24000", "cosine_24000", two_step)
    return [curves[n] for n in names], [log for n, log in curves.items() if n not in names]


def choices(curves: dict[str, Log]) -> Iterator[tuple[list[Log], list[Log]]]:
    """Every three of the curves, and the others."""
    for names in itertools.combinations(curves, 3):
        yield [curves[n] for n in names], [log for n, log in curves.items() if n not in names]


def row(name: str, misses: Sequence[Miss]) -> str:
    error = 100.0 * np.abs([m.error for m in misses])
    inside = " / ".join(f"{100 * np.mean([m.within(level) for m in misses]):.0f}" for level in LEVELS)
    half = 100.0 * student() * np.median([m.sd for m in misses])
    bias = 100.0 * np.mean([m.error for m in misses])
    return (
        f"| {name} | {len(misses)} | {error.mean():.2f} % | {error.max():.2f} % | {bias:+.2f} % "
        f"| {inside} % | {half:.2f} % |"
    )


HEAD = (
    " | ends | mean error | worst | mean with sign | inside 50 / 80 / 95 % | half width |\n"
    "|---|---|---|---|---|---|---|"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--file", type=Path, help="another table of run, step, lr, loss")
    sizes = read(parser.parse_args().file)
    if not sizes:
        raise SystemExit("the curves are not there: put them in ../shared/data or set SPARSELAW_DATA")
    print("| fitted on constant, cosine and a two-step run" + HEAD)
    for name, form in LAWS.items():
        found = [m for c in sizes.values() for two in TWO_STEP for m in missed(*folds(c, two), form())]
        print(row(name, found), flush=True)
    for size, curves in sizes.items():
        for two in TWO_STEP:
            print(row(f"by default, {size}, {two}", missed(*folds(curves, two), None)), flush=True)
    print("\n| fitted on any three of the nine" + HEAD)
    for name, form in LAWS.items():
        found = [
            m for c in sizes.values() for known, hidden in choices(c) for m in missed(known, hidden, form())
        ]
        print(row(name, found), flush=True)
    print("\n| seen" + HEAD)
    for seen in SEEN:
        alone = [running(log, seen, []) for c in sizes.values() for log in c.values()]
        print(row(f"{100 * seen:.0f} %, alone", alone), flush=True)
    for seen in SEEN:
        beside = [
            running(log, seen, [o for n, o in c.items() if n in COSINES and o is not log])
            for c in sizes.values()
            for log in c.values()
        ]
        print(row(f"{100 * seen:.0f} %, beside finished cosines", beside), flush=True)
    print("\n| a size of which little is seen" + HEAD)
    for known, asked in (("25M", "100M"), ("100M", "25M")):
        hidden = [log for name, log in sizes[asked].items() if name != "constant_72000"]
        whole = sizes[asked]["constant_72000"]
        found = missed([*sizes[known].values(), whole.until(12_000)], hidden, None)
        print(row(f"{asked}: 12,000 steps at a constant rate, all of {known}", found), flush=True)


if __name__ == "__main__":
    main()
