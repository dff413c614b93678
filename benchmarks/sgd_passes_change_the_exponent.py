"""SGD with 1, 2, 4, ... passes: the exponent of the loss against D, beside the closed form and its limits.

    python benchmarks/sgd_passes_change_the_exponent.py [alpha1 alpha2 [seeds [step]]] \\
      | python docs/quote_results.py --keep sgd-passes
"""

from __future__ import annotations

import sys
import time

import numpy as np

from sparselaw.experiments.dynamics import few_passes_exponent, loss_after_passes
from sparselaw.inputs import SparseInputs


def main() -> None:
    given = [float(text) for text in sys.argv[1:]]
    alpha1, alpha2 = given[:2] if len(given) > 1 else (1.0, 0.3)
    seeds = int(given[2]) if len(given) > 2 else 20
    step = given[3] if len(given) > 3 else 0.1
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    begin = time.perf_counter()
    laws = loss_after_passes(inputs, width=16_000, seeds=seeds, step=step)
    few, end = few_passes_exponent(inputs), inputs.exponents.alpha_D
    print("| passes | exponent | closed form at these sizes | limit of large D |")
    print("|---|---|---|---|")
    for law in laws:
        name, limit = ("to the end", end) if law.passes is None else (str(law.passes), few)
        found = law.exponent
        shown = f"{found.best:.3f} [{found.low:.3f}, {found.high:.3f}]"
        print(f"| {name} | {shown} | {law.predicted:.3f} | {limit:.3f} |")
        medians = " ".join(f"{loss:.2e}" for loss in np.median(law.loss, axis=0))
        print(f"{name}: median losses {medians}", file=sys.stderr)
    print(f"{time.perf_counter() - begin:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
