"""Training seen step by step: losses along a descent, stable steps, iterations, and what they cost."""

from sparselaw.experiments.dynamics.descents import clipped_curve as clipped_curve
from sparselaw.experiments.dynamics.descents import compare_small_steps as compare_small_steps
from sparselaw.experiments.dynamics.descents import gradient_descent_curve as gradient_descent_curve
from sparselaw.experiments.dynamics.descents import nesterov_curve as nesterov_curve
from sparselaw.experiments.dynamics.descents import prepare_training as prepare_training
from sparselaw.experiments.dynamics.descents import sgd_curve as sgd_curve
from sparselaw.experiments.dynamics.descents import sgd_loss as sgd_loss
from sparselaw.experiments.dynamics.iterations import cost_table as cost_table
