"""Claim: what a point of the surface costs hangs on alpha1 and on the closure, not on N and D.

``python benchmarks/surface_point_cost.py`` prints milliseconds of processor time: the first point at a D, and
the next N at the same D.
"""

from __future__ import annotations

import time

from sparselaw.inputs import SparseInputs
from sparselaw.theory import predict
from sparselaw.theory.count_setting import count_setting, rank_setting

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


def cost(inputs: SparseInputs, N: int, D: int) -> float:
    start = time.process_time()
    predict(inputs, N=N, D=D)
    return 1e3 * (time.process_time() - start)


def main() -> None:
    predict(SparseInputs(alpha1=0.7, alpha2=0.3), N=50, D=500)  # imports
    print("| (alpha1, alpha2) | D | closure | N/rank: first point, next N at the same D (ms) |")
    print("|---|---|---|---|")
    for alpha1, alpha2, D in SETTINGS:
        found = []
        for i, share in enumerate(SHARES):
            inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2 + 1e-7 * i)  # nothing is kept from the last
            N = max(2, round(share * rank_setting(inputs, float(D)).mean))
            first, following = cost(inputs, N, D), cost(inputs, N + 1, D)
            found.append(f"{share:g}: {first:.0f}, {following:.0f}")
        crowded = count_setting(inputs, float(D)).crowded
        print(
            f"| ({alpha1:g}, {alpha2:g}) | {D:g} | {'yes' if crowded else 'no'} | {'; '.join(found)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
