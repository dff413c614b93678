"""Where a fixed step diverges, and what restores stability: a clipped gradient or a smaller step.

With alpha2 < -1 a rare coordinate comes with a large amplitude. Seen once, it puts an eigenvalue c_j / D
into the Hessian that may exceed 2 / step; the fixed step then blows up along that one direction. Clipping
bounds every move by step * clip, so that the run stays within a ball: along the spiked direction it goes on
swinging with an amplitude of about step * clip, and everywhere else it descends. A step below 2 /
lambda_max converges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparselaw.dynamics.curves import Curve, clipped_curve, gradient_descent_curve
from sparselaw.dynamics.training import Training, prepare_training
from sparselaw.errors import InputError
from sparselaw.inputs import SparseInputs
from sparselaw.solvers.gradient_descent import largest_stable_step
from sparselaw.trials.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """Three descents on the same data, on which the fixed step is unstable."""

    seed: int
    largest_stable_step: float
    final_loss: float  # of the minimum-norm solution
    fixed: Curve
    clipped: Curve
    smaller: Curve  # at 0.9 of the largest stable step


def find_unstable(inputs: SparseInputs, N: int, D: int, step: float, most_seeds: int = 2000) -> Task:
    """The first seed whose data make ``step`` unstable."""
    for seed in range(most_seeds):
        task = Task(inputs=inputs, N=N, D=D, seed=seed)
        if step > largest_stable_step(prepare_training(task).equations):
            return task
    raise InputError(
        "step", step, f"is stable on all of {most_seeds} data sets", "choose a larger step, or alpha2 < -1"
    )


def demonstrate(task: Task, step: float, clip: float, steps: Sequence[int]) -> Demonstration:
    """The three descents at the given numbers of steps."""
    training: Training = prepare_training(task)
    limit = largest_stable_step(training.equations)
    end = gradient_descent_curve(training, [10**15], 0.5 * limit)
    return Demonstration(
        seed=task.seed,
        largest_stable_step=limit,
        final_loss=float(end.population_loss[0]),
        fixed=gradient_descent_curve(training, steps, step),
        clipped=clipped_curve(training, steps, step, clip),
        smaller=gradient_descent_curve(training, steps, 0.9 * limit),
    )
