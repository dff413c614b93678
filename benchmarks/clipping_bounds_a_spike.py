"""One sample with a large rare coordinate: a fixed step diverges, a clipped or a smaller one does not.

    python benchmarks/clipping_bounds_a_spike.py | python docs/quote_results.py --keep unstable-step

(alpha1, alpha2) = (1.5, -2), N = 10^6, D = 100; some seconds.
"""

from __future__ import annotations

import sys

import numpy as np

from sparselaw.experiments.dynamics import demonstrate, find_unstable
from sparselaw.inputs import SparseInputs

STEPS = (10, 1_000, 100_000)


def main() -> None:
    task = find_unstable(SparseInputs(alpha1=1.5, alpha2=-2.0), N=10**6, D=100, step=1.0)
    found = demonstrate(task, step=1.0, clip=0.5, steps=STEPS)
    print(
        f"seed {found.seed}: largest stable step {found.largest_stable_step:.3f}, "
        f"loss of the minimum-norm solution {found.final_loss:.4f}",
        file=sys.stderr,
    )
    print(f"| steps | fixed step 1 | clipped at 0.5, step 1 | step {0.9 * found.largest_stable_step:.3f} |")
    print("|---|---|---|---|")
    for k, steps in enumerate(STEPS):
        losses = (curve.population_loss[k] for curve in (found.fixed, found.clipped, found.smaller))
        print(f"| {steps:,} | {' | '.join(shown(loss) for loss in losses)} |")


def shown(loss: float) -> str:
    return f"{loss:.4g}" if np.isfinite(loss) else "overflow"


if __name__ == "__main__":
    main()
