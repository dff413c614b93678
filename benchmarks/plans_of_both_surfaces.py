"""What the corrections of the loss surface change in a plan: the best N and its loss, leading and sharp.

    python benchmarks/plans_of_both_surfaces.py | python docs/quote_results.py --keep plans-of-both-surfaces

Some ten seconds.
"""

from __future__ import annotations

import sparselaw as sl
from sparselaw.planning import Plan

CASES = (
    (1, 0.3, "direct", "1e9"),
    (1, 0.3, "direct", "1e14"),
    (1, 0.3, "6nd", "1e9"),
    (0.5, 0.5, "direct", "1e8"),
    (0.3, 0.5, "direct", "1e4"),
    (0.3, -1.1, "direct", "1e7"),
    (0.2, 0.4, "direct", "1e6"),
)


def main() -> None:
    print("| (alpha1, alpha2), cost | budget | N: leading, sharp | loss: leading, sharp |")
    print("|---|---|---|---|")
    for alpha1, alpha2, cost, budget in CASES:
        inputs = sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)
        plans = [
            sl.plan(inputs, budget=float(budget), cost=cost, surface=surface)
            for surface in ("leading", "sharp")
        ]
        sizes, losses = (
            ", ".join(f"{value:.4g}" for value in pair) for pair in zip(*map(best, plans), strict=True)
        )
        print(f"| ({alpha1}, {alpha2}), {cost} | {budget} | {sizes} | {losses} |", flush=True)


def best(plan: Plan) -> tuple[float, float]:
    return plan.N.best, plan.loss.best


if __name__ == "__main__":
    main()
