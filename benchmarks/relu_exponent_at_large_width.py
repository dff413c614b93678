"""Does the exponent of N with ReLU features tend to that of linear ones? Up to N = 4,096, data without end.

    python benchmarks/relu_exponent_at_large_width.py measure [most N] [seeds]   # adds rows to the CSV
    python benchmarks/relu_exponent_at_large_width.py table                      # the table, from the CSV
    python benchmarks/relu_exponent_at_large_width.py theory                     # sl.predict beside it

The best readout of N drawn units on infinitely much data. With relu = z/2 + |z|/2 and inputs of either sign
alike, the odd and even parts of the features are orthogonal,

    4 E phi phi^T = R = u S u^T + E |u x| |u x|^T,    2 E phi x_j = s_j u_j,
    loss = sum_j s_j - tr(R^-1 u S^2 u^T).

Only E |u x| |u x|^T is a sum over patterns of x (up to sign). The most probable 8 N of them have their exact
probabilities, and 4 N drawn ones stand for the rest. Coordinates beyond 2 N are left out of it; in u S u^T
they are their mean. N = 4,096 takes 1.5 GiB and about two minutes of one core, nearly all of it in that sum.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np
from scipy import linalg

import sparselaw as sl
from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse, preactivations
from sparselaw.features import FEATURES
from sparselaw.interval import student_factor
from sparselaw.nonlinear.features_limit import features_limit, limit_at

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "relu-width.csv"
MODEL = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
WIDTHS = (64, 128, 256, 512, 1024, 2048, 4096)
SEEDS = {64: 40, 128: 24, 256: 16, 512: 12, 1024: 8, 2048: 6, 4096: 2}
BLOCK = 4096  # patterns at a time
HEAD, REST = 8, 4  # patterns for each unit: the most probable, and the drawn
COLUMNS = ("N", "seed", "head", "rest", "mass", "loss", "seconds")


def loss_of_layer(
    N: int, seed: int, head: int = HEAD, rest: int = REST, model: sl.SparseInputs = MODEL
) -> dict[str, float]:
    """The loss of the best readout of N units drawn with this seed."""
    rng = np.random.default_rng([N, seed])
    J = 2 * N
    inputs = sl.SparseInputs(alpha1=model.alpha1, alpha2=model.alpha2, dimension=J)
    s = inputs.variances(np.arange(1.0, J + 1.0))
    beyond = model.unseen_variance(np.arange(1.0, J + 1.0))
    u = rng.standard_normal((J, N)) / np.sqrt(N)
    scaled = u * np.sqrt(s)[:, None]
    R = scaled.T @ scaled + np.eye(N) * beyond / N
    mass, patterns = 0.0, 0
    for indptr, column, value, weight in even_patterns(inputs, head * N, rest * N, rng):
        mass, patterns = mass + weight.sum(), patterns + weight.size
        for begin in range(0, weight.size, BLOCK):
            rows = slice(begin, min(begin + BLOCK, weight.size))
            start, stop = indptr[rows.start], indptr[rows.stop]
            own = indptr[rows.start : rows.stop + 1] - start
            z = np.abs(preactivations(own, column[start:stop], value[start:stop], u))
            z *= np.sqrt(weight[rows])[:, None]
            R += linalg.blas.dsyrk(1.0, z.T, trans=0, lower=1)
    root = linalg.cholesky(R, lower=True, overwrite_a=True, check_finite=False)
    scaled *= np.sqrt(s)[:, None]
    answered = linalg.solve_triangular(root, scaled.T, lower=True, overwrite_b=True, check_finite=False)
    return {"mass": mass, "patterns": patterns, "loss": float(s.sum() + beyond - np.sum(answered**2))}


def even_patterns(inputs: sl.SparseInputs, head: int, rest: int, rng: np.random.Generator):
    """(indptr, column, value, weight) of the most probable patterns, and of drawn ones for the others."""
    j = np.arange(1.0, inputs.dimension + 1.0)
    p, amplitude = inputs.probabilities(j), inputs.amplitudes(j)
    nothing = float(np.exp(np.log1p(-p[1:]).sum()))  # no coordinate but the first, which is always there
    odds = p[1:] / (1.0 - p[1:])
    least = nothing * odds[1] / head
    while True:  # the sets of further coordinates, as many as are wanted with their signs
        sets = list(_sets(nothing, odds, least))
        if sum(2 ** len(chosen) for chosen, _ in sets) >= head:
            break
        least /= 1.3
    yield _signed(sets, amplitude)
    if not rest:
        return
    held = sum(chance for _, chance in sets)
    found: dict[tuple[int, ...], int] = {}
    while len(found) < rest:
        data = draw_sparse(inputs, 200_000, rng)
        patterns = distinct_patterns(inputs, data)
        coordinate = data.active.astype(int)[patterns.column]
        for k in range(patterns.counts.size):
            own = slice(patterns.indptr[k], patterns.indptr[k + 1])
            chosen = coordinate[own]
            if nothing * np.prod(odds[chosen[1:] - 2]) / 2.0 ** (len(chosen) - 1) < least:
                sign = np.sign(patterns.value[own]).astype(int)
                key = tuple((chosen * sign * sign[0]).tolist())
                found[key] = found.get(key, 0) + int(patterns.counts[k])
    counts = np.array(list(found.values()), dtype=float)
    lengths = [len(key) for key in found]
    signed = np.concatenate([np.array(key) for key in found])
    column = np.abs(signed) - 1
    weight = counts * (1.0 - held) / counts.sum()
    yield np.concatenate([[0], np.cumsum(lengths)]), column, np.sign(signed) * amplitude[column], weight


def _sets(chance: float, odds: np.ndarray, least: float, chosen: tuple[int, ...] = (), first: int = 0):
    """Sets of coordinates whose patterns (one of 2^size choices of signs) have at least this probability."""
    yield chosen, chance
    for k in range(first, odds.size):
        further = chance * odds[k]
        if further / 2.0 ** (len(chosen) + 1) < least:
            return
        yield from _sets(further, odds, least, (*chosen, k + 1), k + 1)


def _signed(sets, amplitude: np.ndarray):
    columns, values, weights, lengths = [], [], [], []
    for chosen, chance in sets:
        column = np.array((0, *chosen))
        for word in range(2 ** len(chosen)):
            sign = np.array([1, *(1 - 2 * (word >> bit & 1) for bit in range(len(chosen)))])
            columns.append(column)
            values.append(sign * amplitude[column])
            weights.append(chance / 2 ** len(chosen))
            lengths.append(len(column))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return indptr, np.concatenate(columns), np.concatenate(values), np.array(weights)


def measure(most: int, seeds: int | None) -> None:
    rows = _read()
    done = {(int(row["N"]), int(row["seed"])) for row in rows}
    for N in (n for n in WIDTHS if n <= most):
        for seed in range(SEEDS[N] if seeds is None else seeds):
            if (N, seed) in done:
                continue
            start = time.perf_counter()
            found = loss_of_layer(N, seed)
            row = {"N": N, "seed": seed, "head": HEAD, "rest": REST, "mass": f"{found['mass']:.9f}"}
            row |= {"loss": f"{found['loss']:.9g}", "seconds": f"{time.perf_counter() - start:.1f}"}
            rows.append({key: str(value) for key, value in row.items()})
            print(row, file=sys.stderr, flush=True)
            rows.sort(key=lambda r: (int(r["N"]), int(r["seed"])))
            with RESULTS.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


def table() -> None:
    """Losses and local exponents; the scatter of layers is pooled over a width and the one before it."""
    rows = _read()
    widths = sorted({int(row["N"]) for row in rows})
    logs = {N: np.log([float(row["loss"]) for row in rows if int(row["N"]) == N]) for N in widths}
    print("| N | layers | loss | exponent since half of it |")
    print("|---|---|---|---|")
    for before, N in zip([widths[0], *widths[:-1]], widths, strict=True):
        pooled = [logs[n] - logs[n].mean() for n in {before, N}]
        free = sum(part.size - 1 for part in pooled)
        scatter = float(np.sqrt(sum(part @ part for part in pooled) / free))
        loss = f"{np.exp(logs[N].mean()):.4g} ± {100 * scatter / np.sqrt(logs[N].size):.1f} %"
        shown = ""
        if before < N:
            best = float(logs[before].mean() - logs[N].mean()) / np.log(2)
            error = scatter * np.sqrt(1 / logs[before].size + 1 / logs[N].size) / np.log(2)
            half = student_factor(free + 1) * error
            shown = f"{best:.3f} [{best - half:.3f}, {best + half:.3f}]"
        print(f"| {N:,} | {logs[N].size} | {loss} | {shown} |")


def theory() -> None:
    """The theory over these losses, its own error, its local exponents, and the share of even functions."""
    rows, features = _read(), FEATURES["relu"]
    print("| N | theory/simulated | standard error | own error | local exponent | T_even/N |")
    print("|---|---|---|---|---|---|")
    for N in sorted({int(row["N"]) for row in rows}):
        losses = np.array([float(row["loss"]) for row in rows if int(row["N"]) == N])
        found = features_limit(MODEL, features.response, float(N))
        scatter = losses.std(ddof=1) / losses.size**0.5 / losses.mean()
        low, high = (limit_at(MODEL, features.response, N * factor) for factor in (0.5**0.5, 2.0**0.5))
        slope = np.log2(low.loss / high.loss)
        error = (abs(high.error - low.error) + 0.01) / np.log(2.0)  # of the ratio of neighbours: 1 %
        print(
            f"| {N:,} | {found.loss / losses.mean():.3f} | {scatter:.1%} | {found.error:.1%} | "
            f"{slope:.2f} ± {error:.2f} | {1.0 - found.linear / N:.2f} |",
            flush=True,
        )


def _read() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    if sys.argv[1:2] == ["table"]:
        table()
    elif sys.argv[1:2] == ["theory"]:
        theory()
    else:
        numbers = [int(word) for word in sys.argv[2:]]
        measure(numbers[0] if numbers else max(WIDTHS), numbers[1] if len(numbers) > 1 else None)
