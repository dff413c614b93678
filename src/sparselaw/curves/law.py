r"""Loss curves in the language of SGD on power-law features.

    L = E + A (tau/tau0)^-a + B (tau/tau0)^-m sum_j (V_j - V_{j-1}) G(tau - tau_j),
    tau = sum of eta over the steps,  V = (eta/eta0)^p,  G(u) = 1 - (1 + c u/eta0)^-(r a)

First what gradient flow has not learnt yet, then the noise of the steps, which follows the rate with a
memory, of a tail near the u^-(1+a) of SGD on power-law features. Five parameters are free: E, A, a, B and c.
In the theory p = 1, m = 0 and r = 1; real curves have p = 0.7, m = 0.11 and r = 0.6, which are fixed, or free
under priors where all curves have one peak rate (several peaks would curve them).

A form is such a law with its priors. Losses are in units of a typical loss, tau0 and
eta0 are the typical tau and the largest rate of the curves, c is per step at that rate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.curves.schedules import Schedule

USUAL_RATE = 3e-4  # AdamW, language models: the prior of B is for this peak rate
LARGEST_SHIFT = 1.2  # of that prior, in ln B: a rate beyond is of another optimizer, and B is anyone's guess
UNKNOWN = (np.log(0.08), 1.0)  # the prior of ln B then


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """In which a curve is measured: typical loss, largest rate, typical tau, last tau, typical size."""

    loss: float
    rate: float
    tau: float
    last: float
    N: float = 1.0


@dataclass(frozen=True, slots=True)
class Changes:
    """Every change of rate as each point sees it: (points, changes) arrays of ages, in tau or in steps.

    A change lasts from ``old`` to ``new`` ago; ``done`` is how much of it has happened. None of this depends
    on the parameters.
    """

    old: FloatArray
    new: FloatArray
    done: FloatArray
    before: FloatArray  # rates at both ends of each change
    after: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """Steps of one run at which its loss is wanted. Runs with one number share their residuals."""

    schedule: Schedule
    step: FloatArray
    run: int
    N: float
    tau: FloatArray
    changes: Changes


def track(schedule: Schedule, step: FloatArray, run: int, N: float = 1.0) -> Track:
    """Everything about steps of a schedule that no parameter changes."""
    step = np.asarray(step, np.float64)
    tau = schedule.tau(step)
    changes = rate_changes(schedule, schedule.taus, tau, step)
    return Track(schedule=schedule, step=step, run=run, N=N, tau=tau, changes=changes)


def rate_changes(schedule: Schedule, clock: FloatArray, now: FloatArray, step: FloatArray) -> Changes:
    """As points at ``step`` see them; ``clock`` at the knots and ``now`` at the points are tau or steps."""
    j = np.flatnonzero(np.diff(schedule.rates) != 0.0)
    old, new = now[:, None] - clock[j], now[:, None] - clock[j + 1]
    width = clock[j + 1] - clock[j]
    moving = np.clip(old / np.where(width > 0.0, width, 1.0), 0.0, 1.0)
    done = np.where(width > 0.0, moving, step[:, None] > schedule.steps[j])
    ages = np.maximum(old, 0.0), np.maximum(new, 0.0)
    return Changes(*ages, done, schedule.rates[j], schedule.rates[j + 1])


def followed(
    changes: Changes, change: FloatArray, speed: FloatArray | float, power: float | None
) -> FloatArray:
    """Sum of the changes, each as far as it is felt: 1 - (1 + speed age)^-power, averaged over its course.

    Without a power the memory is exponential. The mean of (1 + x)^-b between two ages is written so that
    nothing cancels where they are close: (1 + x)^(1-b) expm1((1-b) l)/((1-b) dx), l = log1p(dx/(1 + x)).
    """
    near, wide = changes.new * speed, np.maximum((changes.old - changes.new) * speed, 1e-12)
    if power is None:
        kept = np.exp(-near) * -np.expm1(-wide) / wide
    else:
        length = np.log1p(wide / (1.0 + near))
        rest = 1.0 - power
        grown = np.expm1(rest * length) / rest if abs(rest) > 1e-9 else length
        kept = np.exp(rest * np.log1p(near)) * grown / wide
    return np.asarray((changes.done * (1.0 - kept)) @ change)


class Form(ABC):
    """A law of curves: names of its parameters, their Gaussian priors, and the loss."""

    name: ClassVar[str]
    formula: ClassVar[str]
    names: tuple[str, ...]

    @abstractmethod
    def priors(self, units: Units) -> tuple[FloatArray, FloatArray]:
        """Centres and standard deviations of the parameters."""

    @abstractmethod
    def parts(self, theta: FloatArray, points: Track, units: Units) -> tuple[FloatArray, FloatArray]:
        """Loss at the points, and how far annealing has lowered it, both in units of the loss."""

    def values(self, theta: FloatArray, units: Units) -> dict[str, float]:
        """Parameters as they stand in the formula. Those called ln x are stored as logarithms."""
        raw = dict(zip(self.names, theta.tolist(), strict=True))
        shown = {
            k.removeprefix("ln "): float(np.exp(v)) if k.startswith("ln ") else v for k, v in raw.items()
        }
        return {k: v * units.loss if k in ("E", "A", "B") else v for k, v in shown.items()}


COMMON = {
    "E": (0.8, 0.3),
    "ln A": (np.log(0.15), 1.0),
    "ln a": (np.log(0.5), 0.3),
    "ln B": (np.log(0.068), 0.5),
}


def common_priors(more: dict[str, tuple[float, float]], units: Units) -> tuple[FloatArray, FloatArray]:
    """Centres and widths of the shared parameters and of ``more``; B grows as the root of the rate."""
    table = np.array([*COMMON.values(), *more.values()], np.float64)
    shift = 0.5 * np.log(units.rate / USUAL_RATE)
    table[3] = (table[3, 0] + shift, table[3, 1]) if abs(shift) <= LARGEST_SHIFT else UNKNOWN
    return table[:, 0], table[:, 1]


class FeatureForm(Form):
    """The law above; ``free`` lets p, m and r move under priors around the values given.

    For questions to the curves, ``loose`` widens these three priors.
    """

    name = "features"
    formula = (
        "L = E + A (tau/tau0)^-a + B (tau/tau0)^-m sum_j dV_j [1 - (1 + c (tau - tau_j)/eta0)^-(r a)], "
        "V = (eta/eta0)^p"
    )

    def __init__(
        self, free: bool = False, p: float = 0.7, m: float = 0.11, r: float = 0.6, *, loose: float = 1.0
    ) -> None:
        self.free, self.loose, self.usual = free, loose, (p, m, np.log(r))
        self.names = (*COMMON, "ln c", *(("p", "m", "ln r") if free else ()))

    def priors(self, units: Units) -> tuple[FloatArray, FloatArray]:
        more = {"ln c": (np.log(0.03), 1.2)}
        if self.free:
            widths = (0.1 * self.loose, 0.06 * self.loose, 0.3 * self.loose)
            more |= dict(zip(("p", "m", "ln r"), zip(self.usual, widths, strict=True), strict=True))
        return common_priors(more, units)

    def parts(self, theta: FloatArray, points: Track, units: Units) -> tuple[FloatArray, FloatArray]:
        E, ln_A, ln_a, ln_B, ln_c = theta[:5].tolist()
        p, m, ln_r = theta[5:8].tolist() if self.free else self.usual
        p, a, log_tau = max(p, 0.05), np.exp(ln_a), np.log(points.tau / units.tau)
        felt = points.changes
        change = (felt.after / units.rate) ** p - (felt.before / units.rate) ** p
        noise = np.exp(ln_B - m * log_tau)
        follow = followed(felt, change, np.exp(ln_c) / units.rate, a * np.exp(ln_r))
        full = (points.schedule.peak / units.rate) ** p
        loss = E + np.exp(ln_A - a * log_tau) + noise * follow
        return units.loss * loss, units.loss * noise * np.maximum(full - follow, 0.0)


OVER_SIZES = {
    "ln f": (np.log(0.3), 0.5), "ln x": (np.log(0.3), 0.35),
    "sA": (0.0, 0.1), "sB": (0.05, 0.1), "sc": (0.0, 0.15),
}  # fmt: skip


class SizesForm(Form):
    """Several model sizes at once: the law of one size, ``of``, with E, A, B and c moving with N.

        E(N) = E [1 - f + f (N/N0)^-x],  A, B and c as powers (N/N0)^sA, (N/N0)^sB, (N/N0)^sc

    N0 is the middle size. The exponents a, p, m, r are shared. With one or two sizes the priors decide f and
    x, which are those of language models: x = 0.3, and three tenths of E at N0 fall with N.
    """

    name = "features over sizes"
    formula = FeatureForm.formula + "; E = E0 [1 - f + f (N/N0)^-x]; A, B, c as (N/N0)^sA, sB, sc"

    def __init__(self, of: FeatureForm) -> None:
        self.of = of
        self.names = (*of.names, *OVER_SIZES)

    def priors(self, units: Units) -> tuple[FloatArray, FloatArray]:
        one, sizes = np.array(self.of.priors(units)), np.array(list(OVER_SIZES.values())).T
        centre, width = np.hstack([one, sizes])
        return centre, width

    def parts(self, theta: FloatArray, points: Track, units: Units) -> tuple[FloatArray, FloatArray]:
        one, (ln_f, ln_x, *slopes) = theta[: -len(OVER_SIZES)].copy(), theta[-len(OVER_SIZES) :].tolist()
        ln_N, f = np.log(points.N / units.N), np.exp(ln_f)
        one[0] *= 1.0 - f + f * np.exp(-np.exp(ln_x) * ln_N)
        one[[1, 3, 4]] += np.array(slopes) * ln_N
        return self.of.parts(one, points, units)
