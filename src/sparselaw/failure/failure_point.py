"""What is known of the failure probability at one number of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sparselaw.interval import Interval
from sparselaw.plain import put

Method = Literal["exact", "exact-spike", "direct", "importance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePoint:
    """P(lambda_max(X X^T / D) > threshold), split by its cause.

    ``spike`` is the exact probability that some activation alone is enough (j > j*). ``bulk`` is the
    probability of failure given that there is none: that of the same data with coordinates up to j* only,
    since coordinates are independent. So probability = spike + (1 - spike) * bulk.
    """

    D: int
    threshold: float
    probability: Interval
    spike: float
    bulk: Interval
    method: Method
    spike_index: float  # j*; infinite where no activation is enough alone
    replicates: int  # data sets drawn for the answer
    failures: float  # failures among them; for importance sampling their effective number
    status: str  # ok, low-ess, few-failures, disagree, bulk-not-sampled
    reason: str = ""  # in words, where the status is not ok

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        result: dict[str, Any] = {
            "D": self.D,
            "probability": self.probability.as_dict(),
            "spike": self.spike,
            "bulk": self.bulk.as_dict(),
            "method": self.method,
        }
        put(result, "spike_index", self.spike_index, "no activation is enough alone")
        result |= {"replicates": self.replicates, "failures": self.failures, "status": self.status}
        return result | ({"status_reason": self.reason} if self.reason else {})
