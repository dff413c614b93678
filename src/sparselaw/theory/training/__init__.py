"""Training that is not finished: SGD and gradient descent after any number of passes, in closed form.

``schedule`` says what a descent is, ``filters`` and ``medium`` what full batches leave, ``modes`` and
``minibatches`` what SGD does and what its noise adds; ``unfinished`` puts them together. ``passes`` and
``best`` ask it for many passes, and for the best place to stop.
"""

from sparselaw.theory.training.schedule import Descent

__all__ = ["Descent"]
