"""The failure probability along D as one result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from sparselaw.failure.failure_point import FailurePoint
from sparselaw.failure.isometry import IsometryPoint
from sparselaw.failure.local_exponents import LocalExponent, fitted_exponent, local_exponents
from sparselaw.inputs import Inputs
from sparselaw.interval import Interval
from sparselaw.plain import html_table, put

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("D", "probability", "spike", "bulk", "method")


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

    def __iter__(self) -> Iterator[FailurePoint]:
        return iter(self.points)

    @overload
    def __getitem__(self, index: int) -> FailurePoint: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FailurePoint, ...]: ...
    def __getitem__(self, index: int | slice) -> FailurePoint | tuple[FailurePoint, ...]:
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
        """What is to be said of single points."""
        return [f"D={p.D}: {p.status}: {p.reason}" for p in self.points if p.status != "ok"]

    def rows(self) -> list[list[str]]:
        """The points in words, under ``COLUMNS``."""
        return [[str(p.D), str(p.probability), f"{p.spike:.4g}", str(p.bulk), p.method] for p in self.points]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        result = self.inputs.parameters()
        put(result, "dimension", self.inputs.dimension, "infinitely many coordinates")
        result |= {"threshold": self.threshold, "seed": self.seed}
        put(result, "nu", self.nu, self.inputs.no_spike)
        result["points"] = [point.as_dict() for point in self.points]
        result["local_exponents"] = [exponent.as_dict() for exponent in self.local_exponents]
        few = "fewer than two D with an interval away from zero"
        put(result, "fitted_exponent", self.fitted_exponent, few)
        if self.full_model:
            result["full_model"] = [point.as_dict() for point in self.full_model]
        return result

    def to_frame(self) -> pd.DataFrame:
        """One row a point; intervals as three columns."""
        import pandas as pd

        rows = []
        for p in self.points:
            row: dict[str, Any] = {"D": p.D, "threshold": p.threshold}
            for name, interval in (("probability", p.probability), ("bulk", p.bulk)):
                row |= {name: interval.best, f"{name}_low": interval.low, f"{name}_high": interval.high}
            row |= {"spike": p.spike, "spike_index": p.spike_index, "method": p.method}
            row |= {"replicates": p.replicates, "failures": p.failures, "status": p.status}
            rows.append(row)
        return pd.DataFrame(rows)

    def _repr_html_(self) -> str:
        nu = self.inputs.no_spike if self.nu is None else f"nu = {self.nu:.4g}"
        return html_table(f"P(lambda_max > {self.threshold:g})", COLUMNS, self.rows(), [*self.warnings, nu])
