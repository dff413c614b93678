"""How a descent goes through its samples: what the theory needs to know of a solver that is stopped early."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

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
        """The run on D samples, with a step that is given."""
        step = 1.0 if self.step is None else self.step
        if self.steps is not None:
            return self._run(step, D, float(self.steps), D, float(self.steps))
        batch = float(min(self.batch, D))
        whole = math.ceil(D / batch) if D < 1e15 else D / batch
        if self.segments:
            return _scheduled(self.segments, batch, whole, D, self.momentum)
        passes = float(self.passes or 1)
        return self._run(step, batch, passes * whole, D, passes)

    @property
    def total_passes(self) -> float:
        """Over all segments."""
        return sum(part for part, _ in self.segments) if self.segments else float(self.passes or 1)

    def once(self, D: float) -> tuple[Descent, float]:
        """The same number of visits to samples that are all different: one pass, and how many they are."""
        passes = self.total_passes
        segments = tuple((part / passes, step) for part, step in self.segments)
        return replace(self, passes=1.0, segments=segments), passes * D

    def _run(self, step: float, batch: float, steps: float, D: float, passes: float) -> Run:
        """With momentum, in units of the step eta/(1 - beta) that a lasting gradient feels in the end.

        Before, updates grow: t of them go as far as t - beta (1 - beta^t)/(1 - beta) of those.
        """
        beta = self.momentum
        if beta == 0.0:
            return Run(step=step, batch=batch, steps=steps, D=D, passes=passes)
        late = beta * -math.expm1(steps * math.log(beta)) / (1.0 - beta)
        full = step / (1.0 - beta)
        return Run(
            step=full, batch=batch, steps=steps - late, D=D, passes=passes,
            last_epoch=full * steps / passes if passes > 0.0 else None, momentum=beta, updates=steps,
        )  # fmt: skip


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
    ends: tuple[float, ...] = ()  # of the earlier segments of a schedule, in time
    louder: tuple[float, ...] = ()  # their steps over the last one
    last_epoch: float | None = None  # the time of one pass at the last step
    momentum: float = 0.0
    updates: float = 0.0  # of a run with momentum, which ``steps`` lags behind

    @property
    def time(self) -> float:
        """tau: the step times the number of steps."""
        return self.step * self.steps

    @property
    def full(self) -> bool:
        """Whether every step takes the whole batch."""
        return self.batch >= self.D

    def ball(self, top: float) -> HeavyBall:
        """The exact dynamics of full batches; ``top`` is the largest curvature that matters."""
        updates = self.steps if self.momentum == 0.0 else self.updates
        return HeavyBall(self.step * (1.0 - self.momentum), self.momentum, updates, top)

    @property
    def sample_step(self) -> float:
        """eps = eta/b: how far one sample moves the readout."""
        return self.step / self.batch

    @property
    def epoch(self) -> float:
        """The time tau of one pass."""
        return self.time / self.passes if self.last_epoch is None else self.last_epoch

    def loudness(self, times: FloatArray) -> FloatArray:
        """The step at these times over the last one: one where there is no schedule."""
        if not self.ends:
            return np.ones_like(times)
        place = np.searchsorted(np.array(self.ends), times, side="right")
        return np.asarray(np.array([*self.louder, 1.0])[place])

    @property
    def jolt(self) -> float:
        """eta^2 (1/r - 1/b): the noise of a last batch of r < b samples beyond that of a full one.

        It takes a whole step on fewer samples, just before the loss is looked at.
        """
        whole = self.D == math.floor(self.D) and self.batch < self.D < 1e15
        whole = whole and self.passes == math.floor(self.passes)  # else it ends within a pass
        last = self.D - self.batch * (math.ceil(self.D / self.batch) - 1.0) if whole else self.batch
        step = self.step * (1.0 - self.momentum)
        return step**2 * (1.0 / last - 1.0 / self.batch)

    @property
    def fresh(self) -> bool:
        """Whether every sample is seen once only, so that each step meets new data."""
        return self.passes <= 1.0 and self.batch < self.D

    @property
    def random_share(self) -> float:
        """(D - b)/(D - 1): what a batch without replacement leaves of the noise; zero for the full batch."""
        return (self.D - self.batch) / (self.D - 1.0) if self.D > 1.0 else 0.0


def _scheduled(
    segments: tuple[tuple[float, float], ...], batch: float, whole: float, D: float, momentum: float
) -> Run:
    """A run in units of its last step: rates and noise at the end are those of that step."""
    segments = tuple((passes, step / (1.0 - momentum)) for passes, step in segments)
    last = segments[-1][1]
    times = np.cumsum([passes * whole * step for passes, step in segments])
    return Run(
        step=last,
        batch=batch,
        steps=float(times[-1]) / last,
        D=D,
        passes=sum(passes for passes, _ in segments),
        ends=tuple(times[:-1].tolist()),
        louder=tuple(step / last for _, step in segments[:-1]),
        last_epoch=whole * last,
        momentum=momentum,
    )
