"""Least squares by several methods: matrices in, solution out. Nothing here knows what the data mean.

One file a method, its settings beside it; ``base`` says what a solver answers, ``equations`` prepares.
"""

from sparselaw.solvers.base import SOLVERS as SOLVERS
from sparselaw.solvers.base import Solution as Solution
from sparselaw.solvers.base import Solver as Solver
from sparselaw.solvers.base import as_solver as as_solver
from sparselaw.solvers.base import from_options as from_options
from sparselaw.solvers.base import register as register
from sparselaw.solvers.base import setting_names as setting_names
from sparselaw.solvers.base import settings_of as settings_of
from sparselaw.solvers.gradient_descent import GradientDescent as GradientDescent
from sparselaw.solvers.least_squares import MinNorm as MinNorm
from sparselaw.solvers.least_squares import Ridge as Ridge
from sparselaw.solvers.nesterov import Nesterov as Nesterov
from sparselaw.solvers.sgd import SGD as SGD
