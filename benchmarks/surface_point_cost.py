r"""Claim: a point of the surface costs less than 20 ms without closure and less than 300 ms with it, a curve
of 60 points less than a second; what it costs hangs on alpha1 and on the closure, not on N and D.

    python benchmarks/surface_point_cost.py \
      | python docs/quote_results.py --keep surface-points,surface-curves

prints milliseconds of processor time, nothing being known of the inputs before: the first point at a D, the
next N at the same D, curves, and the dearest of each kind.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from sparselaw.gram.coactivation import Coactivation
from sparselaw.inputs import SparseInputs
from sparselaw.predicting import predict
from sparselaw.theory.surface import curve

SETTINGS = [
    (0.2, 0.4, 200),
    (0.2, 1.5, 1000),
    (0.35, 0.2, 1000),
    (0.5, 0.5, 1000),
    (0.5, 0.5, 10**8),
    (1.0, 0.3, 20_000),
    (1.5, -1.2, 20_000),
    (2.0, 0.0, 50_000),
    (2.5, 0.5, 10**12),
]
SHARES = (0.2, 0.6, 0.9, 1.0, 3.0)  # of the rank; at 1 a median
AGAIN = 3  # the least of so many


def fresh(alpha1: float, alpha2: float) -> Iterator[SparseInputs]:
    """Inputs that hardly differ: nothing is kept from the last."""
    return (SparseInputs(alpha1=alpha1, alpha2=alpha2 + 1e-7 * i) for i in itertools.count(1))


def cost(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return 1e3 * (time.process_time() - start)


def points() -> None:
    print("| (alpha1, alpha2) | D | closure | N/rank: first point, next N at the same D (ms) |")
    print("|---|---|---|---|")
    dearest = {False: 0.0, True: 0.0}
    for alpha1, alpha2, D in SETTINGS:
        models, found = fresh(alpha1, alpha2), []
        for share in SHARES:
            best = [float("inf")] * 2
            for inputs in itertools.islice(models, AGAIN):
                N = max(2, round(share * inputs.gram(float(D)).rank))
                each = [cost(partial(predict, inputs, N=n, D=D)) for n in (N, N + 1)]
                best = [min(pair) for pair in zip(best, each, strict=True)]
            law = inputs.gram(float(D))
            crowded = isinstance(law, Coactivation) and law.crowded
            dearest[crowded] = max(dearest[crowded], best[0])
            found.append(f"{share:g}: {best[0]:.0f}, {best[1]:.0f}")
        row = f"| ({alpha1:g}, {alpha2:g}) | {D:g} | {'yes' if crowded else 'no'} | {'; '.join(found)} |"
        print(row, flush=True)
    print(f"dearest first point: {dearest[False]:.0f} ms without closure, {dearest[True]:.0f} ms with it")


def curves() -> None:
    sizes, data = np.unique(np.geomspace(8, 4000, 60).round()), np.unique(np.geomspace(100, 1e5, 60).round())
    lines: dict[str, dict[str, Any]] = {
        "N": {"N": sizes, "D": 2000.0},
        "D": {"N": 64.0, "D": data},
        "N, noise": {"N": sizes, "D": 2000.0, "noise": 0.01},
        "D, noise": {"N": 64.0, "D": data, "noise": 0.01},
        "N, ridge and noise": {"N": sizes, "D": 2000.0, "noise": 0.01, "ridge": 0.1},
        "D, ridge and noise": {"N": 64.0, "D": data, "noise": 0.01, "ridge": 0.1},
    }
    print("\n60 points along N at D = 2,000 or along D at N = 64 (ms)")
    print("| alpha1 | " + " | ".join(lines) + " |")
    print("|---" * (len(lines) + 1) + "|")
    dearest = 0.0
    for alpha1 in (0.2, 0.3, 0.5, 1.0, 2.0):
        models, row = fresh(alpha1, 0.3), []
        for asked in lines.values():
            best = min(cost(partial(curve, i, **asked)) for i in itertools.islice(models, AGAIN))
            row.append(f"{best:.0f}")
            dearest = max(dearest, best)
        print(f"| {alpha1:g} | {' | '.join(row)} |", flush=True)
    print(f"dearest curve: {dearest:.0f} ms")


def main() -> None:
    predict(SparseInputs(alpha1=0.7, alpha2=0.3), N=50, D=500)  # imports
    points()
    curves()


if __name__ == "__main__":
    main()
