"""How a descent goes through its samples: what the theory needs to know of a solver that is stopped early."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.filters import HeavyBall


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent:
    """A constant step ``step`` (None: a stable one is chosen), stopped early.

    Minibatches: ``passes`` over the samples in batches of ``batch``. Full batch: ``steps``. A schedule
    of several constant steps, minibatches only, has ``segments`` of (passes, step), in order. With
    ``momentum`` beta each update adds beta times the last one.

    It answers as a solver does, so that ``predict`` takes it in place of one.
    """

    step: float | None = None
    steps: int | None = None
    passes: float | None = None
    batch: int = 1
    segments: tuple[tuple[float, float], ...] = ()
    momentum: float = 0.0

    @property
    def ridge_of_theory(self) -> None:
        return None

    @property
    def descent(self) -> Descent:
        return self

    def among(self, D: float) -> Run:
        """The run on D samples, with a step that is given.

        Times are in units of the last step, with momentum of eta/(1 - beta), which a lasting gradient feels
        in the end. Before, updates grow: t of them go as far as t - beta (1 - beta^t)/(1 - beta) of those.
        """
        step, beta = 1.0 if self.step is None else self.step, self.momentum
        if self.steps is not None:
            batch, per_pass = D, 1.0
            segments: tuple[tuple[float, float], ...] = ((float(self.steps), step),)
        else:
            batch = float(min(self.batch, D))
            per_pass = math.ceil(D / batch) if D < 1e15 else D / batch
            segments = self.segments or ((float(self.passes or 1), step),)
        passes = sum(many for many, _ in segments)
        updates = sum(many * per_pass for many, _ in segments)
        last = segments[-1][1] / (1.0 - beta)
        ends = np.cumsum([many * per_pass * one / (1.0 - beta) for many, one in segments])
        late = 0.0
        if beta > 0.0:
            late = beta * -math.expm1(segments[-1][0] * per_pass * math.log(beta)) / (1.0 - beta)
        short = 0.0
        if D == math.floor(D) and batch < D < 1e15 and passes >= 0.5:
            # A last batch takes a whole step on fewer samples, just before the loss is looked at. A run that
            # ends within a step of the end of a pass has a share of it: the loss is a straight line there.
            near = max(1.0 - abs(passes - round(passes)) * per_pass, 0.0)
            short = near * (1.0 / (D - batch * (math.ceil(D / batch) - 1.0)) - 1.0 / batch)
        return Run(
            step=last,
            batch=batch,
            steps=float(ends[-1]) / last - late,
            D=D,
            passes=passes,
            updates=updates,
            momentum=beta,
            ends=tuple(ends[:-1].tolist()),
            earlier_steps=tuple(one / segments[-1][1] for _, one in segments[:-1]),
            short_batch=short,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A descent on D samples: ``steps`` steps of size ``step`` = eta on batches of ``batch`` = b samples.

    With momentum beta, ``step`` is eta/(1 - beta).
    """

    step: float
    batch: float
    steps: float
    D: float
    passes: float
    updates: float  # behind which ``steps`` lag with momentum
    momentum: float = 0.0
    ends: tuple[float, ...] = ()  # of the earlier segments of a schedule, in time
    earlier_steps: tuple[float, ...] = ()  # theirs over the last one
    short_batch: float = 0.0  # 1/r - 1/b of a last batch of r < b samples

    @property
    def time(self) -> float:
        """tau: the step times the number of steps."""
        return self.step * self.steps

    @property
    def full(self) -> bool:
        """Whether every step takes the whole batch."""
        return self.batch >= self.D

    @property
    def epoch(self) -> float:
        """The time tau of one pass at the last step."""
        return self.step * self.updates / self.passes

    def ball(self, top: float) -> HeavyBall:
        """The exact dynamics of full batches; ``top`` is the largest curvature that matters."""
        return HeavyBall(self.own_step, self.momentum, self.updates, top)

    @property
    def own_step(self) -> float:
        """eta, without what momentum adds."""
        return self.step * (1.0 - self.momentum)

    @property
    def sample_step(self) -> float:
        """eps = eta/b: how far one sample moves the readout."""
        return self.step / self.batch

    @property
    def shares(self) -> list[tuple[float, float]]:
        """(share of the time, step over the last one) of every segment."""
        if not self.ends:
            return [(1.0, 1.0)]
        lengths = np.diff([0.0, *self.ends, self.time])
        return list(zip(lengths / self.time, (*self.earlier_steps, 1.0), strict=True))

    def relative_step(self, times: FloatArray) -> FloatArray:
        """The step at these times over the last one: one where there is no schedule."""
        if not self.ends:
            return np.ones_like(times)
        place = np.searchsorted(np.array(self.ends), times, side="right")
        return np.asarray(np.array([*self.earlier_steps, 1.0])[place])

    @property
    def fresh(self) -> bool:
        """Whether every sample is seen once only, so that each step meets new data."""
        return self.passes <= 1.0 and not self.full

    @property
    def random_share(self) -> float:
        """(D - b)/(D - 1): what a batch without replacement leaves of the noise; all of it if fresh."""
        if self.fresh:
            return 1.0
        return (self.D - self.batch) / (self.D - 1.0) if self.D > 1.0 else 0.0
