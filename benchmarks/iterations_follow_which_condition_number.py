"""The paper's cost table, measured: which condition number do the iterations of a descent follow?

    python benchmarks/iterations_follow_which_condition_number.py [alpha1 alpha2 [seeds]]

Prints the exponents of iterations against D or N in the three regimes, to a relative gradient norm and to
within 1 % of the final loss, beside the paper's prediction and the corrected one.
"""

from __future__ import annotations

import sys
import time

from sparselaw.experiments.dynamics import cost_table
from sparselaw.inputs import SparseInputs


def main() -> None:
    given = [float(text) for text in sys.argv[1:]]
    alpha1, alpha2 = given[:2] if len(given) > 1 else (1.0, 0.3)
    seeds = int(given[2]) if len(given) > 2 else 40
    begin = time.perf_counter()
    print(f"alpha1 = {alpha1}, alpha2 = {alpha2}, {seeds} seeds")
    print(f"{'regime':13s} {'method':17s} {'until':14s} {'measured':24s} {'paper':>6s} {'corrected':>9s}")
    for row in cost_table(SparseInputs(alpha1=alpha1, alpha2=alpha2), seeds):
        law = f"{row.variable}^{row.measured.best:.2f} [{row.measured.low:.2f}, {row.measured.high:.2f}]"
        predicted = f"{row.paper:6.2f} {row.corrected:9.2f}"
        print(f"{row.regime:13s} {row.method:17s} {row.until:14s} {law:24s} {predicted}  {row.follows}")
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
