"""A schedule to try: the best of a family for as many steps, what it gains, and whether that is worth it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.curves.ends import compared, end_of, present_run, size_of
from sparselaw.curves.model import Asked, Model, loss_interval
from sparselaw.curves.shapes import written_schedule
from sparselaw.interval import Interval

DECAYS = (0.05, 0.1, 0.2, 0.3, 0.5)  # share of the steps for the decay of a wsd
ENDS = (0.0, 0.1)  # of the peak


@dataclass(frozen=True, slots=True, kw_only=True)
class BestSchedule:
    """``gain`` is the loss saved against ``against``; every member of the family is in ``tried``."""

    steps: float
    N: float
    schedule: str
    final: Interval
    against: str
    gain: Interval
    probability: float
    tried: tuple[tuple[str, float], ...]

    @property
    def worth_it(self) -> bool:
        """Is the gain above its error?"""
        return self.gain.low > 0.0

    def words(self) -> str:
        sure = "" if self.worth_it else ": not worth it, the gain is below its error"
        return (
            f"best of {len(self.tried)} for {self.steps:.0f} steps: {self.schedule}, {self.final}; "
            f"gain over {self.against} {self.gain}{sure}"
        )

    def as_dict(self) -> dict[str, Any]:
        size = {"N": self.N} if self.N != 1.0 else {}
        return {
            "steps": self.steps, **size, "schedule": self.schedule, "final": self.final.as_dict(),
            "against": self.against, "gain": self.gain.as_dict(), "probability": self.probability,
            "worth_it": self.worth_it, "tried": [{"schedule": s, "final": v} for s, v in self.tried],
        }  # fmt: skip


def family(steps: int, peak: float, warmup: float) -> list[str]:
    """Names: cosine, linear and wsd of several decays, to nothing and to a tenth of the peak.

    >>> family(1000, 1.0, 0)[:3]
    ['cosine:1000,end=0', 'linear:1000,end=0', 'wsd:950,1000,end=0']
    """
    names = []
    for end in ENDS:
        tail = f",end={end * peak:.6g}"
        starts = [round((1.0 - share) * steps) for share in DECAYS]
        names += [f"cosine:{steps}{tail}", f"linear:{steps}{tail}"]
        names += [f"wsd:{start},{steps}{tail}" for start in starts if start >= warmup]
    return names


def best_schedule(
    model: Model, steps: int, N: float, warmup: float, present: str | None = None
) -> BestSchedule:
    """The lowest mean of the family, at the peak rate of the run it is compared with.

    That run is the present one where it has as many steps and that size, otherwise the cosine to a tenth.
    """
    own = present_run(model, written_schedule(f"constant:{steps}", peak=1.0, warmup=0.0), N, present)
    log = model.logs[own]
    peak = log.schedule.peak
    names = family(steps, peak, warmup)
    asked = [Asked(schedule=written_schedule(n, peak=peak, warmup=warmup), N=N) for n in names]
    same = abs(log.schedule.last / steps - 1.0) < 0.01 and size_of(log) == N
    usual = f"cosine:{steps},end={0.1 * peak:.6g}"
    against = end_of(model, own) if same else asked[names.index(usual)]
    mean, cov = model.predict([*asked, against])
    best = int(np.argmin(mean[:-1]))
    pair = np.ix_([len(names), best], [len(names), best])
    gain, probability = compared(mean[[len(names), best]], cov[pair])
    return BestSchedule(
        steps=steps, N=N, schedule=names[best],
        final=loss_interval(mean[best], float(np.sqrt(cov[best, best]))),
        against=log.name if same else usual, gain=gain, probability=1.0 - probability,
        tried=tuple((n, float(np.exp(m))) for n, m in zip(names, mean[:-1], strict=True)),
    )  # fmt: skip
