"""Curves of the loss surface and plans from the theory against the same asked for point by point, in one run.

python benchmarks/curves_and_plans.py | python docs/quote_results.py --keep curves-and-plans,plan-times
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import sparselaw as sl
from sparselaw.planning.allocate import Peak, allocate
from sparselaw.theory.scaling_limit import frontier
from sparselaw.theory.surface import curve, loss_at, peak_of

MODEL = sl.SparseInputs(alpha1=1.0, alpha2=0.3)


def cpu(work: Callable[[], object], repeat: int = 5) -> float:
    """The least processor time of a few, in milliseconds."""
    found = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        found.append(1e3 * (time.process_time() - start))
    return min(found)


def by_points(N: np.ndarray, D: np.ndarray, surface: str) -> float:
    """Every tenth point, one by one, as if it were all."""
    pairs = list(zip(*np.broadcast_arrays(N, D), strict=True))[::10]
    return 10.0 * cpu(lambda: [loss_at(MODEL, float(n), float(d), surface) for n, d in pairs], 1)


def main() -> None:
    curve(MODEL, N=[3.0, 4.0], D=50.0)
    N, D = np.unique(np.geomspace(4, 4000, 300).round()), np.unique(np.geomspace(10, 1e6, 300).round())
    lines = {
        "loss along N at D = 50,000, 300 points, leading": ((N, np.array([50_000.0])), "leading"),
        "loss along D at N = 100, 300 points, leading": ((np.array([100.0]), D), "leading"),
        "the same along N, sharp, with the closure": ((N, np.array([50_000.0])), "sharp"),
        "the same along D, sharp, with the closure": ((np.array([100.0]), D), "sharp"),
    }
    print("| what | now, ms | one by one, ms |")
    print("|---|---|---|")
    for name, ((n, d), surface) in lines.items():
        now = cpu(
            lambda n=n, d=d, surface=surface: curve(MODEL, N=n, D=d, surface=surface),
            1 + 4 * (surface == "leading"),
        )  # type: ignore[misc]
        before = by_points(n, d, surface)
        print(f"| {name} | {now:.0f} | {float(f'{before:.2g}'):,.0f} |")

    def old_plan() -> None:
        peak_name, threshold = peak_of(MODEL)

        def loss(sizes: np.ndarray, data: np.ndarray) -> np.ndarray:
            return np.array([loss_at(MODEL, float(n), float(d)) for n, d in zip(sizes, data, strict=True)])

        from sparselaw.costs import parse_cost

        allocate(
            loss,
            parse_cost("direct"),
            1e12,
            peak=Peak(threshold=threshold, name=peak_name),
            grid=45,
            steps=24,
        )

    now, before = cpu(lambda: sl.plan(MODEL, budget=1e12, surface="leading")), cpu(old_plan, 1)
    print(f"| `plan` from the theory, C = 1e12, leading | {now:.0f} | {float(f'{before:.2g}'):,.0f} |")
    print(f"| frontier | {cpu(lambda: frontier(MODEL)):.0f} |  |")
    print("\n| alpha1 | budget | a sharp plan, nothing prepared, ms |")
    print("|---|---|---|")
    for alpha1, budget in ((0.2, 1e6), (0.3, 1e7), (0.5, 1e8), (1.0, 1e9), (2.0, 1e9)):
        fresh = iter(sl.SparseInputs(alpha1=alpha1, alpha2=0.3 + 1e-7 * i) for i in range(9))
        plan = cpu(lambda fresh=fresh, budget=budget: sl.plan(next(fresh), budget=budget), 2)
        print(f"| {alpha1:g} | {budget:.0e} | {plan:.0f} |".replace("e+0", "e"))


if __name__ == "__main__":
    main()
