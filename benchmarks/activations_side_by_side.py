"""Seven activations: how the loss falls with N, and what it is beside the unseen variance as data grow.

    python benchmarks/activations_side_by_side.py measure    # adds missing cells to the CSV; ten minutes
    python benchmarks/activations_side_by_side.py theory     # sl.predict at the same sizes; a minute
    python benchmarks/activations_side_by_side.py table      # the table, from both CSVs

N-limited: N = 48, 96, 192 with so much data that they hardly matter. D-limited: N = 5,000; R is the loss over
the unseen variance of the same data, sums over trials of one over sums of the other. Minimum norm throughout.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np

import sparselaw as sl
from sparselaw.interval import student_factor

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "activations.csv"
THEORY = RESULTS.with_name("activations-theory.csv")
SETTINGS = ((1.0, 0.3, 200_000), (1.5, 0.3, 1_000_000))  # alpha1, alpha2, D of the N-sweep
WIDTHS, WIDE = (48, 96, 192), 5_000
SAMPLES = (160, 320, 640, 1280)
NAMES = ("linear", "relu", "leaky-relu", "gelu", "tanh", "erf", "sign", "abs")
SEEDS = {"N": 8, "D": 24}
COLUMNS = ("alpha1", "alpha2", "features", "sweep", "N", "D", "seeds", "loss", "stderr", "R", "R_stderr")
Row = dict[str, str]


def measure() -> None:
    rows = _read()
    done = {tuple(row[key] for key in COLUMNS[:7]) for row in rows}
    for sweep in ("D", "N"):
        for alpha1, alpha2, plenty in SETTINGS:
            model = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)
            for name in NAMES:
                cells = [(N, plenty) for N in WIDTHS] if sweep == "N" else [(WIDE, D) for D in SAMPLES]
                for N, D in cells:
                    key = (f"{alpha1:g}", f"{alpha2:g}", name, sweep, str(N), str(D), str(SEEDS[sweep]))
                    if key in done:
                        continue
                    start = time.perf_counter()
                    trials = sl.simulate(model, N=N, D=D, features=name, seeds=SEEDS[sweep], workers=1)
                    rows.append(dict(zip(COLUMNS, (*key, *_cell(trials)), strict=True)))
                    print(
                        *rows[-1].values(),
                        f"{time.perf_counter() - start:.0f} s",
                        file=sys.stderr,
                        flush=True,
                    )
                    _write(rows)


def _cell(trials) -> tuple[str, ...]:
    """Mean loss and R, each with its standard error."""
    loss, unseen = trials["loss"].to_numpy(), trials["control"].to_numpy()
    ratio = loss.sum() / unseen.sum()
    spread = (loss - ratio * unseen).std(ddof=1) / np.sqrt(loss.size) / unseen.mean()
    found = (loss.mean(), loss.std(ddof=1) / np.sqrt(loss.size), ratio, spread)
    return tuple(f"{value:.6g}" for value in found)


def table() -> None:
    rows = _read()
    with THEORY.open(newline="", encoding="utf-8") as file:
        theories = {tuple(row[:3]): row[3:] for row in csv.reader(file)}
    for alpha1, alpha2, plenty in SETTINGS:
        columns = (f"N slope, D = {plenty:,}", "theory", "R", "theory", "slope of R in D", "theory")
        print(f"| ({alpha1:g}, {alpha2:g}) | {' | '.join(columns)} |")
        print("|---" * (len(columns) + 1) + "|")
        for name in NAMES:
            key = (f"{alpha1:g}", f"{alpha2:g}", name)
            mine = [row for row in rows if (row["alpha1"], row["alpha2"], row["features"]) == key]
            by_N, by_D = ([row for row in mine if row["sweep"] == sweep] for sweep in "ND")
            learned = all(float(row["R"]) < 100.0 for row in by_D)  # abs learns nothing
            ratio, slope = (_mean(by_D), _slope(by_D, "D", "R", "R_stderr", 1.0)) if learned else ("", "")
            said = theories[key]
            found = (_slope(by_N, "N", "loss", "stderr", -1.0), said[0], ratio, said[1], slope, said[2])
            print(f"| {name} | {' | '.join(found if learned else (*found[:2], '', '', '', ''))} |")
        print()


def theory() -> None:
    with THEORY.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("alpha1", "alpha2", "features", "N_slope", "R", "R_slope"))
        for alpha1, alpha2, plenty in SETTINGS:
            model = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)
            for name in NAMES:
                writer.writerow((f"{alpha1:g}", f"{alpha2:g}", name, *_theory(model, name, plenty)))


def _theory(model: sl.SparseInputs, name: str, plenty: int) -> tuple[str, str, str]:
    """What sl.predict has for the same sizes: the slope in N, the mean of R, and its slope in D."""
    losses = [sl.predict(model, N=N, D=plenty, features=name).loss for N in WIDTHS]
    ratios = [sl.predict(model, N=WIDE, D=D, features=name).loss / model.expected_unseen(D) for D in SAMPLES]
    steps = (np.polyfit(np.log(x), np.log(y), 1)[0] for x, y in ((WIDTHS, losses), (SAMPLES, ratios)))
    first, second = (float(step) for step in steps)
    return f"{-first:.3f}", f"{float(np.mean(ratios)):.2f}", f"{second:.3f}"


def _mean(rows: list[Row]) -> str:
    """The mean of R over the sizes."""
    best = float(np.mean([float(row["R"]) for row in rows]))
    error = float(np.sqrt(np.sum([float(row["R_stderr"]) ** 2 for row in rows]))) / len(rows)
    half = student_factor(int(rows[0]["seeds"])) * error
    return f"{best:.2f} [{best - half:.2f}, {best + half:.2f}]"


def _slope(rows: list[Row], size: str, value: str, error: str, sign: float) -> str:
    """d log(value) / d log(size) with its 95 % interval, from the standard errors of the points."""
    x = np.log([float(row[size]) for row in rows])
    y = np.log([float(row[value]) for row in rows])
    relative = np.array([float(row[error]) / float(row[value]) for row in rows])
    weight = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    best = sign * float(weight @ y)
    half = student_factor(int(rows[0]["seeds"])) * float(np.sqrt(weight**2 @ relative**2))
    return f"{best:.3f} [{best - half:.3f}, {best + half:.3f}]"


def _read() -> list[Row]:
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _write(rows: list[Row]) -> None:
    order = {name: k for k, name in enumerate(NAMES)}
    rows.sort(key=lambda r: (r["alpha1"], r["sweep"], order[r["features"]], int(r["N"]), int(r["D"])))
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    {"table": table, "theory": theory}.get("".join(sys.argv[1:2]), measure)()
