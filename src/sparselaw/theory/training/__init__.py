"""Training that is not finished: SGD and gradient descent after any number of passes, in closed form.

``schedule`` says what a descent is, ``modes`` and the two propagators what it does to each coordinate,
``volterra`` what its own noise adds, ``unfinished`` puts them together.
"""

from sparselaw.theory.training.schedule import Descent

__all__ = ["Descent"]
