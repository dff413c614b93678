r"""Which prior of the drift, which tails, how much should a back-test count? One set of fits for all.

    python benchmarks/forecast_tried.py [--data ../shared/data] [--also FOLDER] \
      | python docs/quote_results.py --keep forecast-weighed

What these settings change is only how components are weighed and how wide the answer is. So every case is
fitted once for each size k of the drift, and the answers of each k are averaged anew for each choice. Cases
are those of ``forecast_coverage.py``: the real sets; laws that drift; laws that are true with 400 runs, whose
width is over what the true law asks for. ``--also`` has further tables, of which nothing was chosen.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import forecast_coverage as coverage
import numpy as np

from sparselaw.forecasting.known_runs import KnownRuns, refusal
from sparselaw.forecasting.posterior import log_prior, posterior
from sparselaw.forecasting.predictive import BackTest, calibration
from sparselaw.forecasting.settings import SETTINGS, Settings

EVERY_K = (*SETTINGS.drift_sizes, 4.0)
DRIFTING_TABLES, TRUE_TABLES = 24, 20
NORMAL = {"drift_tails": np.inf}
BEFORE = {
    **NORMAL, "drift_sizes": (0.125, 0.25, 0.5, 1.0, 2.0), "drift_prior": (0.6, 0.3), "degrees": 4,
    "scale_alone": 0.5, "scale_prior": (4.0, 0.28), "scale_per_cut": 1.5,
}  # fmt: skip
TRIED: dict[str, dict[str, object]] = {
    "in use": {},
    "before": BEFORE,
    "before, k within e^0.5": {**BEFORE, "drift_prior": (0.6, 0.5), "drift_sizes": EVERY_K},
    "before, k within e^1": {**BEFORE, "drift_prior": (0.6, 1.0), "drift_sizes": EVERY_K},
    "before, k about 0.4": {**BEFORE, "drift_prior": (0.4, 0.3), "drift_sizes": EVERY_K},
    "before, k about 0.8 within e^0.5": {**BEFORE, "drift_prior": (0.8, 0.5), "drift_sizes": EVERY_K},
    "before, six degrees": {**BEFORE, "degrees": 6, "scale_prior": (4.0, 0.45), "scale_per_cut": 1.0},
    "before, ten degrees": {**BEFORE, "degrees": 10, "scale_prior": (4.0, 0.45), "scale_per_cut": 1.0},
    "before, normal": {**BEFORE, "degrees": 10**6, "scale_prior": (4.0, 0.45), "scale_per_cut": 1.0},
    "normal prior of k": NORMAL,
    "normal prior of k, within e^0.5": {**NORMAL, "drift_prior": (0.5, 0.5)},
    "normal prior of k, about 0.4 within e^0.5": {**NORMAL, "drift_prior": (0.4, 0.5)},
    "normal prior of k, about 0.25": {**NORMAL, "drift_prior": (0.25, 0.3)},
    "tails of one degree for k": {"drift_tails": 1.0},
    "tails of three": {"drift_tails": 3.0},
    "tails of five": {"drift_tails": 5.0},
    "k about 0.4": {"drift_prior": (0.4, 0.3)},
    "k about 0.6": {"drift_prior": (0.6, 0.3)},
    "k within e^0.2": {"drift_prior": (0.5, 0.2)},
    "k within e^0.4": {"drift_prior": (0.5, 0.4)},
    "four degrees": {"degrees": 4, "scale_prior": (4.0, 0.35)},
    "eight degrees": {"degrees": 8, "scale_prior": (4.0, 0.65)},
    "from 0.45": {"scale_prior": (4.0, 0.45)},
    "from 0.5, a back-test counts 0.75": {"scale_prior": (4.0, 0.5), "scale_per_cut": 0.75},
    "from 0.45, a back-test counts one": {"scale_prior": (4.0, 0.45), "scale_per_cut": 1.0},
    "from 0.45, a back-test counts 1.5": {"scale_prior": (4.0, 0.45), "scale_per_cut": 1.5},
    "a back-test counts a quarter": {"scale_per_cut": 0.25},
    "a back-test counts one": {"scale_per_cut": 1.0},
    "shift 0.3": {"shift": 0.3},
    "shift 0.5": {"shift": 0.5},
}


class OfOneSize(NamedTuple):
    """The posterior of a table at one k: its evidence, and the log losses of further runs."""

    k: float
    log_evidence: float
    mean: np.ndarray
    variance: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """One case: of the hidden runs, and of the later runs of each back-test."""

    one: coverage.RunSet
    protocol: str
    loss: np.ndarray
    sizes: list[OfOneSize]
    back: list[tuple[np.ndarray, list[OfOneSize]]]


def each_size(known: KnownRuns, later: KnownRuns) -> list[OfOneSize]:
    found = []
    for k in EVERY_K:
        one = posterior(known, replace(SETTINGS, drift_sizes=(k,), drift_prior=(k, 1.0)))
        mean, sd = one.log_losses(later.N, later.D)
        found.append(OfOneSize(k, one.log_evidence, mean, sd**2))
    return found


def fitted_cases(sets: Iterable[coverage.RunSet], protocols: Iterable[str]) -> list[Fitted]:
    """Those that allow a forecast."""
    found = []
    for one in sets:
        for protocol in protocols:
            known, hidden = coverage.split(one.runs, protocol)
            if len(hidden) == 0 or len(known) == 0 or refusal(known) is not None:
                continue
            used, back = known.in_order().thinned(SETTINGS.most_rows), []
            for cutoff in SETTINGS.cuts:
                count = round(cutoff * len(used))
                first, later = used.take(np.arange(count)), used.take(np.arange(count, len(used)))
                if refusal(first) is None:
                    back.append((np.log(later.loss), each_size(first, later)))
            sizes = each_size(known, hidden)
            found.append(Fitted(one=one, protocol=protocol, loss=np.log(hidden.loss), sizes=sizes, back=back))
    return found


def averaged(sizes: list[OfOneSize], settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation over k, as ``posterior`` has them."""
    used = [one for one in sizes if one.k in settings.drift_sizes]
    logs = np.array(
        [one.log_evidence + log_prior(one.k, settings.drift_prior, settings.drift_tails) for one in used]
    )
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    means = np.array([one.mean for one in used])
    mean = weights @ means
    return mean, np.sqrt(weights @ (np.array([one.variance for one in used]) + (means - mean) ** 2))


def weighed(case: Fitted, settings: Settings) -> coverage.Case:
    tests = []
    for loss, sizes in case.back:
        mean, sd = averaged(sizes, settings)
        tests.append(_scored((loss - mean) / sd, case.one.runs))
    told = calibration(tuple(tests), settings)
    mean, sd = averaged(case.sizes, settings)
    return coverage.Case(
        family=case.one.family,
        name=case.one.name,
        protocol=case.protocol,
        error=case.loss - mean - told.shift * sd,
        scale=np.sqrt(told.v) * sd,
        degrees=settings.degrees,
        bootstrap=np.empty(0, bool),
    )


def _scored(scores: np.ndarray, runs: KnownRuns) -> BackTest:
    """A back-test of which only the scores are used."""
    unused = np.empty(0)
    return BackTest(
        cutoff=0.0, fitted=0, runs=scores.size, covered=0.0, error=0.0, bias=0.0, width=0.0, later=runs,
        mean=unused, half=unused, scores=scores,
    )  # fmt: skip


def line(name: str, real: list[coverage.Case], others: list[list[coverage.Case]], own: list[float]) -> str:
    """One row; ``others`` are the drifting laws, the true ones by law, and further tables if any."""
    s = coverage.summary(real)
    least = min(coverage.summary(some)["95"] for _, some in coverage.parts(real, "family"))
    cells = [f"{100 * s[part]:.0f} %" for part in ("50", "80", "95", "losses")]
    cells += [f"{100 * least:.0f} %", f"{100 * s['winkler']:.1f} %", f"{s['log']:.2f}"]
    drift, *true = others[: 1 + len(own)]
    d = coverage.summary(drift)
    worst = min(coverage.summary(some)["95"] for _, some in coverage.parts(drift, "family"))
    cells += [f"{100 * d['95']:.0f} %, {100 * worst:.0f} %", f"{d['log']:.2f}"]
    for cases, narrowest in zip(true, own, strict=True):
        cells.append(f"{np.median([np.median(2 * case.half()) for case in cases]) / narrowest:.2f}")
    for cases in others[1 + len(own) :]:
        more = coverage.summary(cases)
        cells.append(f"{100 * more['95']:.0f} %, {100 * more['winkler']:.1f} %, {more['log']:.2f}")
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared/data")
    parser.add_argument("--also", type=Path, help="a folder of further tables")
    options = parser.parse_args()
    half = ["cheapest 50 %"]
    true = [[coverage.true_runs(law, seed, 800) for seed in range(TRUE_TABLES)] for law in coverage.LAWS]
    fitted = [
        fitted_cases(coverage.real_sets(options.data), coverage.PROTOCOLS),
        fitted_cases(coverage.drifting_sets(DRIFTING_TABLES), half),
        *(fitted_cases(sets, half) for sets in true),
    ]
    if options.also:
        fitted.append(fitted_cases(coverage.real_sets(options.also), coverage.PROTOCOLS))
    own = [
        float(np.median([coverage.own_width(law, one.runs) for one in sets]))
        for law, sets in zip(coverage.LAWS, true, strict=True)
    ]
    head = ["settings", "inside 50 %", "80 %", "95 %", "95 %, of the losses", "least family"]
    head += ["interval score", "log score", "drifting laws: inside 95 %, least kind", "log score of these"]
    head += [f"width where {law.name} is true, 400 runs" for law in coverage.LAWS]
    head += ["further tables: inside 95 %, interval score, log score"] * bool(options.also)
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    found: dict[str, list[list[coverage.Case]]] = {}
    for name, change in TRIED.items():
        settings = replace(SETTINGS, **change)
        found[name] = [[weighed(case, settings) for case in cases] for cases in fitted]
        print(line(name, found[name][0], found[name][1:], own), flush=True)
    chosen: list[coverage.Case] = []
    for family, _ in coverage.parts(found["in use"][0], "family"):
        score = {
            name: np.mean([case.log_score() for case in cases[0] if case.family != family])
            for name, cases in found.items()
        }
        best = max(score, key=score.__getitem__)
        chosen += [case for case in found[best][0] if case.family == family]
    s = coverage.summary(chosen)
    shares = " | ".join(f"{100 * s[part]:.0f} %" for part in ("50", "80", "95", "losses"))
    least = min(coverage.summary(some)["95"] for _, some in coverage.parts(chosen, "family"))
    scores = f"{100 * least:.0f} % | {100 * s['winkler']:.1f} % | {s['log']:.2f}"
    print(
        f"| for each family, the best by the log score of the others | {shares} | {scores} |"
        + " - |" * (len(head) - 8)
    )


if __name__ == "__main__":
    main()
