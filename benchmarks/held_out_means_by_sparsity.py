"""The means of the cells held out, by sparsity: rows of single cells in, one row for each sixth of them out.

    python -m pytest -m agreement -s -k means_of_cells_held_out tests/agreement/test_sharp_cells.py \\
      | python benchmarks/held_out_means_by_sparsity.py | python docs/quote_results.py --keep held-out-means

A cell counts as right within 2 % or two standard errors, and the leading surface as wrong beyond 5 %.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

GROUPS = ((0.0, 0.3), (0.3, 0.5), (0.5, 0.8), (0.8, 1.35), (1.35, 1.9), (1.9, 9.0))  # alpha1
Cell = tuple[float, float, float, float, float, float]  # alpha1, D, N/rank, leading, sharp, standard error


def read(lines: Iterable[str]) -> list[Cell]:
    """The cells of what the test prints: ratios to the simulated mean."""
    found = []
    for line in (line.strip().lstrip(".") for line in lines):
        if line.startswith("| (") and "alpha" not in line:
            place, _, D, N, rank, leading, sharp, error, _ = (c.strip() for c in line.strip("|").split("|"))
            alpha1 = float(place.strip("()").split(",")[0])
            sigma = float(error.rstrip("%")) / 100.0
            found.append((alpha1, float(D), float(N) / float(rank), float(leading), float(sharp), sigma))
    return found


def row(cells: Sequence[Cell]) -> str:
    alpha1, D, share, leading, sharp, sigma = zip(*cells, strict=True)
    misses = [abs(ratio - 1.0) for ratio in sharp]
    right = sum(miss <= max(0.02, 2.0 * error) + 1e-9 for miss, error in zip(misses, sigma, strict=True))
    far = sum(abs(ratio - 1.0) > 0.05 for ratio in leading)
    ends = " | ".join(f"{min(x):.2g} to {max(x):.2g}" for x in (alpha1, share))
    first, last = ends.split(" | ")
    return (
        f"| {first} | {len(cells)} | {min(D):.0f} to {max(D):.0f} | {last} | {right} | "
        f"{100.0 * max(misses):.1f} % | {far} |"
    )


def main() -> None:
    cells = read(sys.stdin)
    print(
        "| alpha1 | cells | D | N/rank | within 2 % or two standard errors | farthest off | "
        "leading surface off by more than 5 % |"
    )
    print("|---" * 7 + "|")
    for low, high in GROUPS:
        if own := [cell for cell in cells if low <= cell[0] < high]:
            print(row(own))


if __name__ == "__main__":
    main()
