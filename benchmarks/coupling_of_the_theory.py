r"""How N and D are coupled in the theory's own surfaces: g over a map of exponents and ways of training.

    python benchmarks/coupling_of_the_theory.py [best]
    python benchmarks/coupling_of_the_theory.py table \
      | python docs/quote_results.py --keep coupling-of-the-theory

``best`` adds the best ridge on sparse inputs, ten seconds a row; ``table`` prints that of the page
alone, some four minutes.
"""

from __future__ import annotations

import sys

from theory_coupling import VARIANTS, coupling_of, inputs_for

from sparselaw.fitting import sparsity
from sparselaw.inputs import SparseInputs

ALPHA_N = (0.25, 0.35, 0.5, 0.7, 1.0)
COLUMNS = {  # of the table: ratio, way of training
    "dense, best ridge": (1.0, "best ridge"),
    "sparse, best ridge, alpha1 = 0.2": (1.2, "best ridge"),
    "0.5": (1.5, "best ridge"),
    "1": (2.0, "best ridge"),
    "one pass": (1.0, "one pass"),
}
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


def table() -> None:
    """g at each alpha_N of the shipped table, and what the law leaves of the surfaces."""
    print(f"| alpha_N | {' | '.join(COLUMNS)} |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    left: dict[str, list[float]] = {name: [] for name in COLUMNS}
    for alpha in sparsity.MAP_ALPHA_N:
        cells = []
        for name, (ratio, variant) in COLUMNS.items():
            found = coupling_of(inputs_for(alpha, alpha / ratio), variant)
            cells.append(f"{found.law.g:.3f}")
            left[name].append(100.0 * found.rms)
        print(f"| {alpha} | {' | '.join(cells)} |", flush=True)
    print(f"| rms | {' | '.join(f'{min(rms):.1f} to {max(rms):.1f} %' for rms in left.values())} |")


if __name__ == "__main__":
    table() if "table" in sys.argv[1:] else main()
