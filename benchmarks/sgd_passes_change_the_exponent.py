"""SGD with 1, 2, 4, ... passes: the exponent of the loss against D, beside the closed form and its limits.

python benchmarks/sgd_passes_change_the_exponent.py [alpha1 alpha2 [seeds [step]]]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from sparselaw.dynamics import few_passes_exponent, loss_after_passes
from sparselaw.inputs import SparseInputs


def main() -> None:
    given = [float(text) for text in sys.argv[1:]]
    alpha1, alpha2 = given[:2] if len(given) > 1 else (1.0, 0.3)
    seeds = int(given[2]) if len(given) > 2 else 20
    step = given[3] if len(given) > 3 else 0.1
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    begin = time.perf_counter()
    laws = loss_after_passes(inputs, width=16_000, seeds=seeds, step=step)
    print(f"alpha1 = {alpha1}, alpha2 = {alpha2}, {seeds} seeds, step {step:g}, N = 16,000")
    print(f"few passes: {few_passes_exponent(inputs):.3f}; to the end: {inputs.exponents.alpha_D:.3f}")
    for law in laws:
        name = "to the end" if law.passes is None else f"{law.passes} passes"
        medians = " ".join(f"{loss:.2e}" for loss in np.median(law.loss, axis=0))
        print(f"{name:11s} {law.exponent!s:26s} {law.predicted:.3f} {medians}")
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
