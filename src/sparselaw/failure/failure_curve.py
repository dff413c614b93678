"""The failure probability as records: how to sample it, one point, points along D and how fast they fall."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from sparselaw.arrays import log_slope
from sparselaw.errors import InputError, check_choice, check_finite, check_not_negative, check_size
from sparselaw.inputs import Inputs
from sparselaw.inputs.base import no_spike
from sparselaw.interval import Z95, Interval
from sparselaw.records import Record, html_table, put, to_dict

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("auto", "direct", "importance", "exact-spike")
COLUMNS = ("D", "probability", "spike", "bulk", "method")
_KEYS = {"direct": 0, "importance": 1, "spike": 2, "isometry": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How to sample, and when to stop.

    Sampling stops at ``failures`` (effective) failures if given, else at the relative standard error, and in
    any case after ``replicates`` data sets for one D.
    """

    method: str = "auto"
    relative_error: float = 0.1
    failures: int | None = None
    replicates: int = 200_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        relative_error = check_finite("relative_error", self.relative_error)
        if not 0.0 < relative_error < 1.0:
            raise InputError("relative_error", relative_error, "must lie between 0 and 1", "choose 0.1")
        object.__setattr__(self, "replicates", check_size("replicates", self.replicates))
        if self.failures is not None:
            object.__setattr__(self, "failures", check_size("failures", self.failures))
        check_not_negative("seed", self.seed)

    @property
    def wanted(self) -> int:
        """The (effective) failures to stop at."""
        return self.failures if self.failures is not None else math.ceil(self.relative_error**-2)


def random_numbers(seed: int, D: int, purpose: str) -> np.random.Generator:
    """The random numbers of one D and purpose; they do not depend on the other points asked for."""
    sequence = np.random.SeedSequence(seed, spawn_key=(D, _KEYS[purpose]))
    return np.random.Generator(np.random.PCG64(sequence))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """How far the sampling at one D has come."""

    D: int
    method: str
    done: int  # data sets drawn, those of a pilot and for learning the mixture included
    total: float | None  # about as many there will be; None while nobody knows
    failures: float  # (effective) failures so far


Progress = Callable[[Sampled], None]
Report = Callable[[int, float | None, float], None]  # done, total and failures of ``Sampled``


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The probability of failure without a spike, from data sets that were drawn."""

    bulk: Interval
    replicates: int = 0
    failures: float = 0  # those with a spike too; of weighted draws the effective number
    spikes: int = 0
    status: str = "ok"  # or low-ess

    @property
    def relative_error(self) -> float:
        """Of weighted draws: the standard error of the estimate over the estimate."""
        if not self.failures:
            return math.inf
        return math.sqrt(max(1.0 / self.failures - 1.0 / self.replicates, 0.0))


def with_spike(spike: float, bulk: Interval) -> Interval:
    """spike + (1 - spike) * bulk: the exact part has no error, and the whole is never below it.

    >>> with_spike(0.5, Interval(0.0, 0.1, 0.2))
    Interval(low=0.5, best=0.55, high=0.6)
    """
    return Interval(*(spike + (1.0 - spike) * value for value in bulk))


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePoint:
    """P(lambda_max(X X^T / D) > threshold), split by its cause.

    ``spike`` is the exact probability that some activation alone is enough (j > j*). ``bulk`` is the
    probability of failure given that there is none: that of the same data with coordinates up to j* only,
    since coordinates are independent. So probability = spike + (1 - spike) * bulk, whose error is that of
    the bulk alone.
    """

    D: int
    threshold: float
    probability: Interval
    spike: float
    bulk: Interval
    method: Literal["exact", "exact-spike", "direct", "importance"]
    spike_index: float  # j*; infinite where no activation is enough alone
    replicates: int  # data sets drawn for the answer
    failures: float  # failures among them; for importance sampling their effective number
    status: str  # ok, low-ess, few-failures, disagree, bulk-not-sampled
    reason: str = ""  # in words, where the status is not ok

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        names = ("D", "probability", "spike", "bulk", "method", "spike_index", "replicates", "failures")
        result = to_dict(self, *names, "status", spike_index="no activation is enough alone")
        return result | ({"status_reason": self.reason} if self.reason else {})

    def row(self) -> dict[str, Any]:
        """A row of a table; intervals as three columns."""
        row: dict[str, Any] = {"D": self.D, "threshold": self.threshold}
        for name, interval in (("probability", self.probability), ("bulk", self.bulk)):
            row |= {name: interval.best, f"{name}_low": interval.low, f"{name}_high": interval.high}
        names = ("spike", "spike_index", "method", "replicates", "failures", "status")
        return row | {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalExponent(Record):
    """-d log P / d log D between two neighbouring D; None where a probability or its lower end is zero."""

    reasons: ClassVar[Mapping[str, str]] = {"exponent": "a probability may be zero: no failure was seen"}
    D_low: int
    D_high: int
    exponent: Interval | None


def local_exponents(points: Sequence[FailurePoint]) -> list[LocalExponent]:
    """The exponent between each two neighbours; independent errors add in squares, each end on its own."""
    found = []
    for a, b in itertools.pairwise(sorted(points, key=lambda point: point.D)):
        if a.D == b.D:
            continue
        low, high, exponent = a.probability, b.probability, None
        if min(low.low, high.low) > 0.0:
            step = math.log(b.D / a.D)
            best = math.log(low.best / high.best) / step
            down = math.hypot(math.log(low.best / low.low), math.log(high.high / high.best)) / step
            up = math.hypot(math.log(low.high / low.best), math.log(high.best / high.low)) / step
            exponent = Interval(best - down, best, best + up)
        found.append(LocalExponent(D_low=a.D, D_high=b.D, exponent=exponent))
    return found


def fitted_exponent(points: Sequence[FailurePoint]) -> Interval | None:
    """The exponent of one power law through all points, weighted by their intervals in log P.

    None with fewer than two usable points, or where a point is known exactly and needs no fit.
    """
    usable = [p for p in points if p.probability.low > 0.0 and p.probability.high > p.probability.low]
    if len({p.D for p in usable}) < 2:
        return None
    deviation = np.log([p.probability.high / p.probability.low for p in usable]) / (2.0 * Z95)
    slope, information = log_slope(
        [p.D for p in usable], [p.probability.best for p in usable], deviation**-2.0
    )
    half = Z95 / math.sqrt(information)
    return Interval(-slope - half, -slope, -slope + half)


@dataclass(frozen=True, slots=True, kw_only=True)
class IsometryPoint:
    """The same data with and without the embedding.

    ``ratio`` holds the 2.5 %, 50 % and 97.5 % points of lambda_max(full) / lambda_max(data); isometry: 1.
    """

    N: int
    D: int
    threshold: float
    replicates: int
    data: Interval  # P(lambda_max(X X^T / D) > threshold)
    full: Interval  # P(lambda_max(u X X^T u^T / D) > threshold)
    ratio: Interval
    seen: float  # mean of K

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return to_dict(self, "N", "D", "full", "data", "ratio", "seen", "replicates")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCurve(Sequence[FailurePoint]):
    """The points, one for each D, in the order asked for; a sequence of them."""

    inputs: Inputs
    threshold: float  # 2 / step size
    seed: int
    points: tuple[FailurePoint, ...] = ()
    full_model: tuple[IsometryPoint, ...] = ()

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: Any) -> Any:
        return self.points[index]

    @property
    def nu(self) -> float | None:
        """The spike's exponent, or None where amplitudes do not grow with j."""
        law = self.inputs.exponents
        return None if law is None else law.nu

    @property
    def local_exponents(self) -> list[LocalExponent]:
        return local_exponents(self.points)

    @property
    def fitted_exponent(self) -> Interval | None:
        return fitted_exponent(self.points)

    @property
    def warnings(self) -> list[str]:
        """A line for each point that is not ok."""
        return [f"D={p.D}: {p.status}: {p.reason}" for p in self.points if p.status != "ok"]

    def rows(self) -> list[list[str]]:
        """The points in words, under ``COLUMNS``."""
        return [[str(p.D), str(p.probability), f"{p.spike:.4g}", str(p.bulk), p.method] for p in self.points]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        result = self.inputs.parameters()
        put(result, "dimension", self.inputs.dimension, "infinitely many coordinates")
        result |= {"threshold": self.threshold, "seed": self.seed}
        put(result, "nu", self.nu, no_spike(self.inputs.exponents))
        few = "fewer than two D with an interval away from zero"
        names = ("points", "local_exponents", "fitted_exponent", *(["full_model"] if self.full_model else []))
        return result | to_dict(self, *names, fitted_exponent=few)

    def to_frame(self) -> pd.DataFrame:
        """One row a point; intervals as three columns."""
        import pandas as pd

        return pd.DataFrame([point.row() for point in self.points])

    def _repr_html_(self) -> str:
        nu = no_spike(self.inputs.exponents) if self.nu is None else f"nu = {self.nu:.4g}"
        return html_table(f"P(lambda_max > {self.threshold:g})", COLUMNS, self.rows(), [*self.warnings, nu])
