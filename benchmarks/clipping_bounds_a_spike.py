"""One sample with a large rare coordinate: a fixed step diverges, a clipped or a smaller one does not.

    python benchmarks/clipping_bounds_a_spike.py | python docs/quote_results.py --keep unstable-step

With alpha2 < -1 a rare coordinate comes with a large amplitude. Seen once, it puts an eigenvalue c_j / D into
the Hessian that may exceed 2 / step; the fixed step then blows up along that one direction. Clipping bounds
every move by step * clip: along that direction the run goes on swinging, and everywhere else it descends. A
step below 2 / lambda_max converges. (alpha1, alpha2) = (1.5, -2), N = 10^6, D = 100; some seconds.
"""

from __future__ import annotations

import sys

import numpy as np

from sparselaw.experiments.dynamics import clipped_curve, gradient_descent_curve, prepare_training
from sparselaw.experiments.dynamics.descents import Training, population_loss
from sparselaw.inputs import SparseInputs
from sparselaw.solvers.gradient_descent import largest_stable_step
from sparselaw.trials.task import Task

INPUTS = SparseInputs(alpha1=1.5, alpha2=-2.0)
STEPS = (10, 1_000, 100_000)


def main() -> None:
    seed, training, limit = first_unstable(step=1.0)
    final = float(population_loss(training, training.optimum[:, None])[0])
    curves = (
        gradient_descent_curve(training, STEPS, 1.0),
        clipped_curve(training, STEPS, 1.0, clip=0.5),
        gradient_descent_curve(training, STEPS, 0.9 * limit),
    )
    words = f"largest stable step {limit:.3f}, loss of the minimum-norm solution {final:.4f}"
    print(f"seed {seed}: {words}", file=sys.stderr)
    print(f"| steps | fixed step 1 | clipped at 0.5, step 1 | step {0.9 * limit:.3f} |")
    print("|---|---|---|---|")
    for k, steps in enumerate(STEPS):
        print(f"| {steps:,} | {' | '.join(shown(curve.population_loss[k]) for curve in curves)} |")


def first_unstable(step: float) -> tuple[int, Training, float]:
    """The first seed whose data make the step unstable, and the largest step that is not."""
    for seed in range(2000):
        training = prepare_training(Task(inputs=INPUTS, N=10**6, D=100, seed=seed))
        if (limit := largest_stable_step(training.equations)) < step:
            return seed, training, limit
    raise SystemExit(f"a step of {step} is stable on 2,000 data sets")


def shown(loss: float) -> str:
    return f"{loss:.4g}" if np.isfinite(loss) else "overflow"


if __name__ == "__main__":
    main()
