"""How N and D are coupled in the theory's own surfaces: g over a map of exponents and ways of training.

    python benchmarks/coupling_of_the_theory.py [best]

``best`` adds the best ridge on sparse inputs, ten seconds a row.
"""

from __future__ import annotations

import sys

from sparselaw.fitting.theory_coupling import VARIANTS, coupling_of, inputs_for
from sparselaw.inputs import SparseInputs

ALPHA_N = (0.25, 0.35, 0.5, 0.7, 1.0)
RATIOS = (1.0, 1.2, 1.5, 2.0)  # alpha_N/alpha_D = 1 + alpha1: 1 is dense


def main() -> None:
    slow = "best" in sys.argv[1:]
    print("alpha_N  alpha_D  variant                              alpha   beta    g      rms")
    for ratio in RATIOS:
        for alpha in ALPHA_N:
            inputs = inputs_for(alpha, alpha / ratio)
            for variant in VARIANTS:
                sparse = isinstance(inputs, SparseInputs)
                if sparse and (not slow if variant == "best ridge" else inputs.alpha2 <= -1.0):
                    continue  # amplitudes that grow make SGD unstable
                found = coupling_of(inputs, variant)
                law = found.law
                print(
                    f"{alpha:<8g} {alpha / ratio:<8.3g} {variant:<36s} {law.alpha:<7.3f} {law.beta:<7.3f} "
                    f"{law.g:<6.3f} {100 * found.rms:.1f} %",
                    flush=True,
                )


if __name__ == "__main__":
    main()
