"""How a descent goes through its samples: what the theory needs to know of a solver that is stopped early."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent:
    """A constant step ``step`` (None: a stable one is chosen), stopped early.

    Minibatches: ``passes`` over the samples in batches of ``batch``. Full batch: ``steps`` of them.
    """

    step: float | None = None
    steps: int | None = None
    passes: float | None = None
    batch: int = 1

    def among(self, D: float, usual: float) -> Run:
        """The run on D samples; ``usual`` is the step where none is given."""
        step = usual if self.step is None else self.step
        if self.steps is not None:
            return Run(step=step, batch=D, steps=float(self.steps), D=D, passes=float(self.steps))
        passes, batch = float(self.passes or 1), float(min(self.batch, D))
        whole = math.ceil(D / batch) if D < 1e15 else D / batch
        return Run(step=step, batch=batch, steps=passes * whole, D=D, passes=passes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A descent on D samples: ``steps`` steps of size ``step`` = eta on batches of ``batch`` = b samples."""

    step: float
    batch: float
    steps: float
    D: float
    passes: float

    @property
    def time(self) -> float:
        """tau: the step times the number of steps."""
        return self.step * self.steps

    @property
    def sample_step(self) -> float:
        """eps = eta/b: how far one sample moves the readout."""
        return self.step / self.batch

    @property
    def epoch(self) -> float:
        """The time tau of one pass."""
        return self.time / self.passes

    @property
    def fresh(self) -> bool:
        """Whether every sample is seen once only, so that each step meets new data."""
        return self.passes == 1.0 and self.batch < self.D

    @property
    def random_share(self) -> float:
        """(D - b)/(D - 1): what a batch without replacement leaves of the noise; zero for the full batch."""
        return (self.D - self.batch) / (self.D - 1.0) if self.D > 1.0 else 0.0
